/**
 * One request to the token route, over undici's dispatcher: bytes to outputs, without a stream object in between. The
 * caller may abort it, which closes the connection and so takes the sequence out of the server, and may hold it up while
 * its reader is slow.
 */
import type {Dispatcher} from 'undici';
import {EngineDeadError} from '../../../errors.ts';
import {EventSplitter} from '../../../util/event-splitter.ts';
import type {EngineRequest, SequenceOutput} from '../../protocol.ts';
import {
  cachedTokens,
  parseAnswer,
  runningOutput,
  toPromptLogprobs,
  toSequenceOutput,
  type WireAnswer,
} from './generate-answer.ts';
import {isStreamed} from './generate-body.ts';
import {RunningChunks} from './running-chunks.ts';
import {errorOfConnection, errorOfStatus, toError} from './vllm-errors.ts';

export interface CallTarget {
  dispatcher: Dispatcher;
  /** Of the server, without a slash at the end; for the log, too. */
  url: string;
  /** Of the route. */
  path: string;
  headers: Record<string, string>;
  timeoutMs: number;
}

export interface CallEvents {
  onOutput(output: SequenceOutput): void;
  /** Called at most once, and nothing after it. */
  onError(error: Error): void;
}

const END_OF_STREAM = '[DONE]';
/** Tokens that may wait for a slow reader before the server is held up. */
const mostUnreadTokens = 512;

export class GenerateCall implements Dispatcher.DispatchHandler {
  readonly #target: CallTarget;
  readonly #request: EngineRequest;
  readonly #body: string;
  readonly #events: CallEvents;
  readonly #splitter = new EventSplitter();
  readonly #running = new RunningChunks();
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  readonly #parts: Buffer[] = [];
  /** The last output waits for the counts that follow it. */
  #last: SequenceOutput | null = null;
  #isOver = false;
  #mayTryAgain = true;
  #numUnread = 0;

  /** @param request under its name in the engine @param body as text */
  constructor(target: CallTarget, request: EngineRequest, body: string, events: CallEvents) {
    this.#target = target;
    this.#request = request;
    this.#body = body;
    this.#events = events;
    this.#dispatch();
  }

  /** Ends it without a word. */
  abort(): void {
    this.#isOver = true;
    this.#controller?.abort(new Error('aborted'));
  }

  /** The reader has taken everything. */
  noteRead(): void {
    this.#numUnread = 0;
    if (this.#controller?.paused) this.#controller.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) this.abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#isOver) return;
    if (this.#status !== 200 || !isStreamed(this.#request)) this.#parts.push(bytes);
    else this.#takeEvents(this.#splitter.push(bytes));
    // What is over is read to its end, or its connection would never be free again.
    if (this.#numUnread > mostUnreadTokens && !this.#isOver) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    const text = Buffer.concat(this.#parts).toString('utf8');
    if (this.#status !== 200) this.#fail(errorOfStatus(this.#status, text, this.#target.url));
    else if (isStreamed(this.#request)) this.#takeEvents([...this.#splitter.finish(), END_OF_STREAM]);
    else this.#guard(() => this.#takeWhole(parseAnswer(text)));
  }

  /** A connection that was kept open may have been closed by the server just when it was used again. */
  onResponseError(_controller: Dispatcher.DispatchController, error: Error & {code?: string}): void {
    if (this.#isOver) return;
    const wasClosed = error.code === 'UND_ERR_SOCKET' || error.code === 'ECONNRESET' || error.code === 'EPIPE';
    if (this.#status === 0 && wasClosed && this.#mayTryAgain) {
      this.#mayTryAgain = false;
      this.#dispatch();
    } else this.#fail(errorOfConnection(error, this.#target.url));
  }

  #dispatch(): void {
    const {dispatcher, url, path, headers, timeoutMs} = this.#target;
    const {origin} = new URL(url);
    const options = {origin, path, headers, method: 'POST', body: this.#body} as const;
    dispatcher.dispatch({...options, headersTimeout: timeoutMs, bodyTimeout: timeoutMs}, this);
  }

  #takeEvents(events: readonly string[]): void {
    this.#guard(() => {
      for (const data of events) if (!this.#isOver) this.#takeEvent(data);
    });
  }

  #takeEvent(data: string): void {
    const tokenIds = this.#running.read(data);
    if (tokenIds !== null) return this.#emit(runningOutput(this.#request.requestId, tokenIds));
    if (data === END_OF_STREAM) return this.#end();
    const answer = parseAnswer(data);
    this.#running.learn(data, answer);
    if (answer.error) return this.#fail(toError(answer.error, this.#target.url));
    const output = toSequenceOutput(this.#request.requestId, answer);
    if (output === null) this.#noteUsage(answer);
    else if (output.finishReason === null) this.#emit(output);
    else this.#last = output;
  }

  #noteUsage({usage}: WireAnswer): void {
    if (this.#last) this.#last.numCachedTokens = cachedTokens(usage);
  }

  #takeWhole(answer: WireAnswer): void {
    const {requestId, promptTokenIds} = this.#request;
    const output = toSequenceOutput(requestId, answer);
    if (output === null) return this.#end();
    this.#last = {...output, promptLogprobs: toPromptLogprobs(answer, promptTokenIds)};
    if (output.newTokenIds.length < 2 || output.finishReason === 'abort') return this.#end();
    const [first, rest] = splitBehindFirst(this.#last);
    this.#last = rest;
    this.#emit(first);
    // In a turn of its own, or the two would be merged before anybody reads.
    setImmediate(() => {
      if (!this.#isOver) this.#end();
    });
  }

  /** We abort by closing the connection, so an answer that says `abort` was ended over there. */
  #end(): void {
    if (this.#last === null || this.#last.finishReason === 'abort') {
      const what = this.#last === null ? 'ended an answer without its end' : 'aborted a request';
      return this.#fail(new EngineDeadError(`${this.#target.url} ${what}.`));
    }
    this.#isOver = true;
    this.#events.onOutput(this.#last);
  }

  #emit(output: SequenceOutput): void {
    this.#numUnread += output.newTokenIds.length;
    this.#events.onOutput(output);
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.abort();
    this.#events.onError(error);
  }

  #guard(take: () => void): void {
    try {
      take();
    } catch (error) {
      this.#fail(error as Error);
    }
  }
}

/** A stream begins with the prompt and one token also where the answer came whole, and its end is an event of its own. */
function splitBehindFirst(output: SequenceOutput): [SequenceOutput, SequenceOutput] {
  const {newTokenIds, logprobs, tokenTimesMs} = output;
  const part = (from: number, to?: number) => ({
    newTokenIds: newTokenIds.slice(from, to),
    logprobs: logprobs?.slice(from, to) ?? null,
    tokenTimesMs: tokenTimesMs.slice(from, to),
  });
  return [
    {...output, ...part(0, 1), finishReason: null, stopReason: null},
    {...output, ...part(1), promptLogprobs: null, numCachedTokens: null},
  ];
}
