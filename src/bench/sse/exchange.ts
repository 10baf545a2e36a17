/**
 * One request on its way, as the handler that undici calls: fills the record and says when it has ended. It ends exactly
 * once, by the end of the stream, a failure, a time limit, or because we give it up; what comes after that counts no more.
 */
import type {Dispatcher} from 'undici';
import {nowMs} from '../../core/util/clock.ts';
import type {Failure, PlannedRequest, RequestRecord} from '../request-record.ts';
import {AnswerReader, excerpt} from './answer-reader.ts';
import {RequestTimers, type TimeLimits} from './time-limits.ts';

/** Most bytes that are read of an answer that is no stream of events. */
const maxRefusalBytes = 16_384;

/** An answer that is no stream: what it says about itself, and its bytes. */
interface Refusal {
  contentType: string;
  pieces: Buffer[];
  numBytes: number;
}

export class Exchange implements Dispatcher.DispatchHandler {
  /** Resolves when the record is complete. */
  readonly ended: Promise<void>;
  readonly #record: RequestRecord;
  readonly #reader: AnswerReader;
  readonly #timers: RequestTimers;
  readonly #cancelAfterEvents: number;
  #resolve: () => void = () => {};
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  /** Null while the answer is a stream. */
  #refusal: Refusal | null = null;

  constructor(record: RequestRecord, {body: {n}, cancelAfterEvents}: PlannedRequest, limits: TimeLimits) {
    this.#record = record;
    this.#reader = new AnswerReader(record, {numChoices: typeof n === 'number' ? n : 1});
    this.#cancelAfterEvents = cancelAfterEvents ?? Number.POSITIVE_INFINITY;
    this.#timers = new RequestTimers(limits, (failure) => this.#abandon(failure));
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Ended by us: no success and no failure. */
  cancel(): void {
    if (!this.#isOver) this.#record.isCancelled = true;
    this.#abandon(null);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('given up before it was sent'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#isOver || statusCode < 200) return;
    this.#record.headersMs = nowMs();
    this.#record.status = statusCode;
    const contentType = String(headers['content-type'] ?? 'none');
    if (statusCode !== 200 || !contentType.includes('text/event-stream')) {
      this.#refusal = {contentType, pieces: [], numBytes: 0};
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#isOver) return;
    const timeMs = nowMs();
    if (this.#refusal !== null) return this.#takeRefusal(this.#refusal, bytes);
    this.#reader.push(bytes, timeMs);
    this.#timers.noteRead(this.#record.firstMs !== null);
    if (this.#record.outputTimesMs.length >= this.#cancelAfterEvents) this.cancel();
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    if (this.#refusal !== null) this.#record.failure = this.#failureBy(this.#refusal);
    else this.#reader.finish(nowMs());
    this.#end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    this.#record.failure ??= this.#refusal === null ? this.#failureOf(error) : this.#failureBy(this.#refusal);
    this.#end();
  }

  #takeRefusal(refusal: Refusal, bytes: Buffer): void {
    refusal.pieces.push(Buffer.from(bytes));
    refusal.numBytes += bytes.length;
    if (refusal.numBytes > maxRefusalBytes) this.#abandon(this.#failureBy(refusal));
  }

  #failureBy({contentType, pieces}: Refusal): Failure {
    const {status} = this.#record;
    const text = Buffer.concat(pieces).toString('utf8');
    if (status !== 200) return {type: `http_${status ?? 0}`, message: messageOf(text)};
    return {
      type: 'malformed',
      message: `The answer is no event stream (content-type ${contentType}): ${excerpt(text)}`,
    };
  }

  #failureOf(error: Error): Failure {
    const {message, code} = error as Error & {code?: string};
    const ours = code === 'EMFILE' ? 'this process may open no more sockets, see ulimit -n' : null;
    const text = [code, ours ?? message].filter((part) => part).join(': ') || 'the connection failed';
    return {type: this.#record.headersMs === null ? 'connect' : 'truncated', message: text};
  }

  #abandon(failure: Failure | null): void {
    if (this.#isOver) return;
    this.#record.failure ??= failure;
    this.#end();
    this.#controller?.abort(new Error(failure?.message ?? 'given up'));
  }

  #end(): void {
    this.#isOver = true;
    this.#timers.stop();
    this.#record.endedMs = nowMs();
    this.#resolve();
  }
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
