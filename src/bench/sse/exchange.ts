/**
 * One request on its way, as the handler that undici calls: fills the record and says when it has ended. It ends exactly
 * once, by the end of the stream, a failure, a time limit, or because we give it up; what comes after that counts no more.
 */
import type {Dispatcher} from 'undici';
import {nowMs} from '../../core/util/clock.ts';
import type {Failure, PlannedRequest, RequestRecord} from '../request-record.ts';
import {AnswerReader} from './answer-reader.ts';
import type {ReadCost} from './read-cost.ts';
import {type AnswerHeaders, isPlainStream, notStreamMessage, refusalMessage} from './refusal.ts';
import {RequestTimers, type TimeLimits} from './time-limits.ts';

/** Most bytes that are read of an answer that is no stream of events. */
const maxRefusalBytes = 16_384;
/** How long a server may take to end an answer after its `[DONE]`; then the connection is given up. */
const lingerMs = 500;

/** An answer that is no stream: what it says about itself, and its bytes. */
interface Refusal {
  headers: AnswerHeaders;
  pieces: Buffer[];
  numBytes: number;
}

export class Exchange implements Dispatcher.DispatchHandler {
  /** Resolves when the record is complete. */
  readonly ended: Promise<void>;
  readonly #record: RequestRecord;
  readonly #reader: AnswerReader;
  readonly #timers: RequestTimers;
  readonly #readCost: ReadCost;
  readonly #cancelAfterEvents: number;
  #resolve: () => void = () => {};
  #controller: Dispatcher.DispatchController | null = null;
  #isOver = false;
  /** Null while the answer is a stream. */
  #refusal: Refusal | null = null;
  /** Runs from `[DONE]` to the end of the answer. */
  #linger: NodeJS.Timeout | undefined;

  constructor(
    record: RequestRecord,
    {body: {n}, cancelAfterEvents}: PlannedRequest,
    {limits, readCost}: {limits: TimeLimits; readCost: ReadCost},
  ) {
    this.#record = record;
    this.#readCost = readCost;
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

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number, headers: AnswerHeaders): void {
    if (this.#isOver || statusCode < 200) return;
    this.#record.headersMs = nowMs();
    this.#record.status = statusCode;
    if (statusCode !== 200 || !isPlainStream(headers)) this.#refusal = {headers, pieces: [], numBytes: 0};
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#isOver) return;
    const timeMs = nowMs();
    this.#readCost.note(this, timeMs);
    if (this.#refusal !== null) return this.#takeRefusal(this.#refusal, bytes);
    this.#reader.push(bytes, timeMs);
    if (this.#record.doneMs !== null) return this.#awaitEnd(this.#record.doneMs);
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
    // What breaks behind the whole answer is no fault of it.
    if (this.#record.doneMs !== null) return this.onResponseEnd();
    this.#record.failure ??= this.#refusal === null ? this.#failureOf(error) : this.#failureBy(this.#refusal);
    this.#end();
  }

  #takeRefusal(refusal: Refusal, bytes: Buffer): void {
    refusal.pieces.push(Buffer.from(bytes));
    refusal.numBytes += bytes.length;
    if (refusal.numBytes > maxRefusalBytes) this.#abandon(this.#failureBy(refusal));
  }

  /** Some servers send all and then keep the answer open. */
  #awaitEnd(doneMs: number): void {
    this.#timers.stop();
    this.#linger ??= setTimeout(() => {
      this.#reader.finish(doneMs);
      this.#end(doneMs);
      this.#controller?.abort(new Error('the answer did not end after [DONE]'));
    }, lingerMs);
  }

  #failureBy({headers, pieces}: Refusal): Failure {
    const {status} = this.#record;
    const bytes = Buffer.concat(pieces);
    if (status !== 200) return {type: `http_${status ?? 0}`, message: refusalMessage(bytes.toString('utf8'), headers)};
    return {type: 'malformed', message: notStreamMessage(bytes, headers)};
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

  #end(atMs = nowMs()): void {
    this.#isOver = true;
    this.#timers.stop();
    clearTimeout(this.#linger);
    this.#record.endedMs = atMs;
    this.#resolve();
  }
}
