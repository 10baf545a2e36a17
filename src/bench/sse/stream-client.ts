/**
 * Sends requests to a streaming endpoint and measures them, over undici: one pool of connections, no time limits but our
 * own, no compression. The clock is read once per socket read, before anything is parsed.
 */
import {Agent, type Dispatcher} from 'undici';
import {nowMs} from '../../core/util/clock.ts';
import {type Failure, openRecord, type PlannedRequest, type RequestRecord} from '../request-record.ts';
import {AnswerReader, excerpt} from './answer-reader.ts';

/** In seconds; 0 = no limit. */
export interface TimeLimits {
  /** Until the first output. */
  first: number;
  /** Between two reads. */
  idle: number;
  /** Of the whole request. */
  total: number;
}

export interface StreamClientOptions {
  /** Of the endpoint, e.g. `http://127.0.0.1:8000/v1/chat/completions`. */
  url: string;
  headers: Record<string, string>;
  /** Most connections at once; Infinity = as many as there are requests. */
  maxConnections: number;
  /** Accepts any certificate. */
  isInsecure: boolean;
  limits: TimeLimits;
}

/** Why a request was given up, as the reason of an abort signal. */
class TimeLimitReached extends Error {
  readonly failure: Failure;

  constructor(type: 'timeout_first' | 'timeout_idle' | 'timeout_total', seconds: number, what: string) {
    super(what);
    this.failure = {type, message: `${what} within ${seconds} s.`};
  }
}

export class StreamClient {
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  readonly #limits: TimeLimits;
  readonly #agent: Agent;

  constructor({url, headers, maxConnections, isInsecure, limits}: StreamClientOptions) {
    this.#url = new URL(url);
    this.#headers = {'content-type': 'application/json', accept: 'text/event-stream', ...headers};
    this.#limits = limits;
    this.#agent = new Agent({
      connections: Number.isFinite(maxConnections) ? maxConnections : null,
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {rejectUnauthorized: !isInsecure, timeout: 30_000},
    });
  }

  /** Never rejects: what goes wrong is in the record. An aborted signal makes it a cancelled one. */
  async send(request: PlannedRequest, plannedMs: number, signal: AbortSignal): Promise<RequestRecord> {
    const body = JSON.stringify(request.body);
    const record = openRecord(request, plannedMs, nowMs());
    const timers = new RequestTimers(this.#limits);
    const ownEnd = new AbortController();
    const ends = AbortSignal.any([signal, timers.signal, ownEnd.signal]);
    try {
      await this.#exchange(request, record, {body, timers, signal: ends, giveUp: () => ownEnd.abort()});
    } catch (error) {
      if (signal.aborted || ownEnd.signal.aborted) record.isCancelled = true;
      else record.failure ??= failureOf(error, timers.signal.reason, record);
    } finally {
      timers.stop();
    }
    record.endedMs = nowMs();
    return record;
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #exchange(
    {requestId, body: {n}, cancelAfterEvents}: PlannedRequest,
    record: RequestRecord,
    {body, timers, signal, giveUp}: {body: string; timers: RequestTimers; signal: AbortSignal; giveUp: () => void},
  ): Promise<void> {
    const response = await this.#agent.request({
      origin: this.#url.origin,
      path: this.#url.pathname + this.#url.search,
      method: 'POST',
      headers: {...this.#headers, 'x-request-id': requestId},
      body,
      signal,
    });
    record.headersMs = nowMs();
    record.status = response.statusCode;
    record.failure = await refusalOf(response);
    if (record.failure !== null) return;
    const reader = new AnswerReader(record, {numChoices: typeof n === 'number' ? n : 1});
    response.body.on('data', (bytes: Buffer) => {
      const timeMs = nowMs();
      reader.push(bytes, timeMs);
      timers.noteRead(record.firstMs !== null);
      if (cancelAfterEvents !== null && record.outputTimesMs.length >= cancelAfterEvents) giveUp();
    });
    await ended(response.body);
    reader.finish(nowMs());
  }
}

function ended(body: Dispatcher.ResponseData['body']): Promise<void> {
  return new Promise((resolve, reject) => {
    body.once('end', resolve);
    body.once('error', reject);
    body.once('close', () => reject(new Error('the connection was closed')));
  });
}

/** Null for a stream of events with status 200. */
async function refusalOf({statusCode, headers, body}: Dispatcher.ResponseData): Promise<Failure | null> {
  if (statusCode !== 200) return {type: `http_${statusCode}`, message: messageOf(await body.text())};
  const contentType = String(headers['content-type'] ?? 'none');
  if (contentType.includes('text/event-stream')) return null;
  return {
    type: 'malformed',
    message: `The answer is no event stream (content-type ${contentType}): ${excerpt(await body.text())}`,
  };
}

/** The message of an error body in the form of OpenAI, else its text. */
function messageOf(text: string): string {
  try {
    const {error, detail} = JSON.parse(text) as {error?: {message?: unknown} | string; detail?: unknown};
    const message = typeof error === 'object' ? error.message : (error ?? detail);
    return typeof message === 'string' ? message : excerpt(text);
  } catch {
    return excerpt(text);
  }
}

function failureOf(error: unknown, limit: unknown, record: RequestRecord): Failure {
  if (limit instanceof TimeLimitReached) return limit.failure;
  const {message, code} = error as Error & {code?: string};
  const text = [code, message].filter((part) => part).join(': ') || 'the connection failed';
  return {type: record.headersMs === null ? 'connect' : 'truncated', message: text};
}

/** The time limits of one request, as a signal that aborts when one is passed. */
class RequestTimers {
  readonly #limits: TimeLimits;
  readonly #controller = new AbortController();
  #first: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #total: NodeJS.Timeout | undefined;

  constructor(limits: TimeLimits) {
    this.#limits = limits;
    this.#first = this.#after(limits.first, 'timeout_first', 'No output came');
    this.#total = this.#after(limits.total, 'timeout_total', 'The answer did not end');
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  noteRead(hasOutput: boolean): void {
    if (hasOutput && this.#first !== undefined) {
      clearTimeout(this.#first);
      this.#first = undefined;
    }
    if (this.#idle === undefined) this.#idle = this.#after(this.#limits.idle, 'timeout_idle', 'Nothing more came');
    else this.#idle.refresh();
  }

  stop(): void {
    for (const timer of [this.#first, this.#idle, this.#total]) clearTimeout(timer);
  }

  #after(seconds: number, type: 'timeout_first' | 'timeout_idle' | 'timeout_total', what: string) {
    if (seconds === 0) return undefined;
    return setTimeout(() => this.#controller.abort(new TimeLimitReached(type, seconds, what)), seconds * 1000);
  }
}
