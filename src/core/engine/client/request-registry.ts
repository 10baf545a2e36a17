/**
 * The open requests of an engine client. Each has its own queue, which merges outputs while its reader is slow, so the
 * engine never waits for a client. Inside the engine a request goes by a name of our own: the same request id may come
 * again while the engine still works on the abort of the first one.
 */
import {deserializeError, type SerializedError} from '../../errors.ts';
import {AsyncQueue} from '../../util/async-queue.ts';
import {ItemStream} from '../../util/item-stream.ts';
import type {Logger} from '../../util/logger.ts';
import type {EngineInput, EngineRequest, SequenceOutput} from '../protocol.ts';

interface OpenRequest {
  /** Inside the engine. */
  name: string;
  requestId: string;
  queue: AsyncQueue<SequenceOutput>;
  numPromptTokens: number;
  numTokens: number;
}

export interface RequestRegistryOptions {
  /** Hands a message to the engine. */
  send: (input: EngineInput) => void;
  logger: Logger;
  /** Told when the reader of a request has taken everything that was there. */
  onRead?: (name: string) => void;
}

export class RequestRegistry {
  readonly #send: (input: EngineInput) => void;
  readonly #logger: Logger;
  /** By the name inside the engine. */
  readonly #open = new Map<string, OpenRequest>();
  readonly #onRead: (name: string) => void;
  #numRequests = 0;
  #makeFailure: (() => Error) | null = null;

  constructor({send, logger, onRead = () => {}}: RequestRegistryOptions) {
    this.#onRead = onRead;
    this.#send = send;
    this.#logger = logger;
  }

  get numOpen(): number {
    return this.#open.size;
  }

  /** Open requests that have made a token. */
  get numBegun(): number {
    return [...this.#open.values()].filter(({numTokens}) => numTokens > 0).length;
  }

  /** See `EngineClient.numBacklogTokens`. */
  get numBacklogTokens(): number {
    const notBegun = [...this.#open.values()].filter(({numTokens}) => numTokens === 0);
    return notBegun.reduce((sum, {numPromptTokens}) => sum + numPromptTokens, 0);
  }

  /** See `EngineClient.generate`. */
  generate(request: EngineRequest, {signal}: {signal?: AbortSignal | undefined} = {}): ItemStream<SequenceOutput> {
    return new RequestOutputs(request, signal, {
      add: (request) => this.#add(request),
      onRead: this.#onRead,
      leave: (name) => this.#abortIfOpen(name),
    });
  }

  /** Takes the outputs of one step; those of requests that are no longer open are dropped. */
  deliver(outputs: readonly SequenceOutput[]): void {
    for (const output of outputs) {
      const open = this.#open.get(output.requestId);
      if (!open) continue;
      open.numTokens += output.newTokenIds.length;
      open.queue.push(output);
      if (output.finishReason !== null) this.#close(output.requestId, open, output);
    }
  }

  /** Ends all open requests with an error and refuses new ones from now on. */
  fail(makeError: () => Error): void {
    this.#makeFailure ??= makeError;
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const {queue} of open) queue.fail(makeError());
  }

  /** @throws what ended the engine */
  #add(request: EngineRequest): OpenRequest {
    if (this.#makeFailure) throw this.#makeFailure();
    const {requestId, promptTokenIds} = request;
    const name = `${requestId}/${this.#numRequests++}`;
    const numPromptTokens = promptTokenIds.length;
    const open = {name, requestId, queue: new AsyncQueue(mergeOutputs), numPromptTokens, numTokens: 0};
    this.#open.set(name, open);
    this.#send({type: 'add-requests', requests: [{...request, requestId: name}]});
    this.#logger.debug({requestId, numPromptTokens}, 'Request added');
    return open;
  }

  #close(name: string, {requestId, queue, numTokens}: OpenRequest, {finishReason}: SequenceOutput): void {
    this.#open.delete(name);
    queue.end();
    this.#logger.debug({requestId, finishReason, numTokens}, 'Request finished');
  }

  #abortIfOpen(name: string): void {
    const open = this.#open.get(name);
    if (!open) return;
    this.#open.delete(name);
    this.#send({type: 'abort-requests', requestIds: [name]});
    this.#logger.info({requestId: open.requestId, numTokens: open.numTokens}, 'Request aborted');
  }
}

/** What the outputs of a request need of the registry. */
interface RegistryHooks {
  add(request: EngineRequest): OpenRequest;
  onRead(name: string): void;
  /** Takes a request that is still open out of the engine. */
  leave(name: string): void;
}

/** The outputs of one request. The request goes to the engine with the first read. */
class RequestOutputs extends ItemStream<SequenceOutput> {
  readonly #request: EngineRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #hooks: RegistryHooks;
  #open: OpenRequest | null = null;
  #failure: Error | null = null;
  #isOver = false;
  /** Kept here, because asking a signal is slow. */
  #hasAborted = false;

  constructor(request: EngineRequest, signal: AbortSignal | undefined, hooks: RegistryHooks) {
    super();
    this.#request = request;
    this.#signal = signal;
    this.#hooks = hooks;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  poll(): SequenceOutput | null {
    if (this.#isOver) return null;
    try {
      if (this.#failure) throw this.#failure;
      if (this.#hasAborted) return this.#end();
      const open = this.#open ?? this.#begin();
      return open === null ? this.#end() : this.#take(open);
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  ready(): Promise<void> {
    const isKnown = this.#isOver || this.#failure !== null;
    return isKnown || this.#open === null ? Promise.resolve() : this.#open.queue.ready();
  }

  close(): void {
    this.#end();
  }

  /** At once, not when the reader comes back: it may be waiting for a client that has gone. */
  readonly #abort = () => {
    this.#hasAborted = true;
    this.#hooks.leave(this.#open!.name);
    this.#open!.queue.end();
  };

  /** @returns null when the signal came first */
  #begin(): OpenRequest | null {
    if (this.#signal?.aborted) return null;
    this.#open = this.#hooks.add(this.#request);
    this.#signal?.addEventListener('abort', this.#abort);
    return this.#open;
  }

  #take({name, queue}: OpenRequest): SequenceOutput | null {
    const output = queue.poll();
    if (output === null) return queue.isOver ? this.#end() : null;
    this.#hooks.onRead(name);
    output.requestId = this.#request.requestId;
    return output.error === null ? output : this.#takeFailed(output, output.error);
  }

  /** The tokens of a failed sequence come before its error. */
  #takeFailed(output: SequenceOutput, error: SerializedError): SequenceOutput {
    this.#failure = deserializeError(error);
    if (output.newTokenIds.length === 0) throw this.#failure;
    return {...output, finishReason: null, error: null};
  }

  #end(): null {
    if (this.#isOver) return null;
    this.#isOver = true;
    this.#signal?.removeEventListener('abort', this.#abort);
    if (this.#open === null) return null;
    this.#hooks.leave(this.#open.name);
    this.#open.queue.close();
    return null;
  }
}

/** Both belong to the queue alone, so the older one takes up the newer one's tokens. */
function mergeOutputs(older: SequenceOutput, newer: SequenceOutput): SequenceOutput {
  older.newTokenIds.push(...newer.newTokenIds);
  older.logprobs?.push(...(newer.logprobs ?? []));
  older.tokenTimesMs.push(...newer.tokenTimesMs);
  return {
    ...newer,
    newTokenIds: older.newTokenIds,
    logprobs: older.logprobs ?? newer.logprobs,
    promptLogprobs: older.promptLogprobs ?? newer.promptLogprobs,
    tokenTimesMs: older.tokenTimesMs,
    start: older.start ?? newer.start,
    numCachedTokens: older.numCachedTokens ?? newer.numCachedTokens,
  };
}
