/**
 * The open requests of an engine client. Each has its own queue, which merges outputs while its reader is slow, so the
 * engine never waits for a client. Inside the engine a request goes by a name of our own: the same request id may come
 * again while the engine still works on the abort of the first one.
 */
import {deserializeError, type SerializedError} from '../../errors.ts';
import {AsyncQueue} from '../../util/async-queue.ts';
import type {Logger} from '../../util/logger.ts';
import type {EngineInput, EngineRequest, SequenceOutput} from '../protocol.ts';

interface OpenRequest {
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
  async *generate(
    request: EngineRequest,
    {signal}: {signal?: AbortSignal | undefined} = {},
  ): AsyncGenerator<SequenceOutput, void, undefined> {
    if (this.#makeFailure) throw this.#makeFailure();
    if (signal?.aborted) return;
    const name = `${request.requestId}/${this.#numRequests++}`;
    const open = this.#add(name, request);
    // At once, not when the reader comes back: it may be waiting for a client that has gone.
    const abort = () => {
      this.#abortIfOpen(name);
      open.queue.end();
    };
    signal?.addEventListener('abort', abort);
    try {
      for (let output = await open.queue.take(); output !== null; output = await open.queue.take()) {
        if (signal?.aborted) return;
        this.#onRead(name);
        output.requestId = request.requestId;
        if (output.error === null) yield output;
        else yield* tokensThenError(output, output.error);
      }
    } finally {
      signal?.removeEventListener('abort', abort);
      this.#abortIfOpen(name);
    }
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

  #add(name: string, request: EngineRequest): OpenRequest {
    const {requestId, promptTokenIds} = request;
    const numPromptTokens = promptTokenIds.length;
    const open = {requestId, queue: new AsyncQueue(mergeOutputs), numPromptTokens, numTokens: 0};
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

/** The tokens of a failed sequence come before its error. */
function* tokensThenError(output: SequenceOutput, error: SerializedError): Generator<SequenceOutput, void, undefined> {
  if (output.newTokenIds.length > 0) yield {...output, finishReason: null, error: null};
  throw deserializeError(error);
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
