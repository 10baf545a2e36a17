/**
 * An engine for tests that plays given token ids instead of running a model. It keeps the contract of `EngineClient`:
 * outputs in order, a finish reason at the end, an aborted signal or a left loop takes the sequence out.
 */

import type {EngineClient, EngineState, StatsListener} from '../../src/core/engine/client/engine-client.ts';
import type {EngineRequest, ModelInfo, SequenceOutput} from '../../src/core/engine/protocol.ts';
import {EngineDeadError} from '../../src/core/errors.ts';
import type {TokenVocabulary} from '../../src/core/sampling/token-vocabulary.ts';
import {nowMs} from '../../src/core/util/clock.ts';
import {type ItemStream, streamOf} from '../../src/core/util/item-stream.ts';

/** One engine output of a sequence; what is left out is as while the sequence goes on. */
export type ScriptedOutput = Pick<SequenceOutput, 'newTokenIds'> & Partial<SequenceOutput>;

/** `hang` waits until the sequence is aborted or the engine dies; a number waits so many milliseconds. */
export type ScriptedStep = ScriptedOutput | 'hang' | number | Error;

export interface ScriptedEngineOptions {
  /** What is played for a request. */
  script: (request: EngineRequest) => readonly ScriptedStep[];
  info?: Partial<ModelInfo>;
}

/** Outputs of one token each, the last with the finish reason. */
export function playTokens(
  tokenIds: readonly number[],
  end: Pick<SequenceOutput, 'finishReason'> & Partial<SequenceOutput> = {finishReason: 'stop'},
): ScriptedOutput[] {
  return tokenIds.map((tokenId, index) => ({
    newTokenIds: [tokenId],
    ...(index === 0 ? {numCachedTokens: 0} : {}),
    ...(index === tokenIds.length - 1 ? end : {}),
  }));
}

export const scriptedModelInfo: ModelInfo = {
  architecture: 'llama',
  vocabSize: 49152,
  maxModelLen: 2048,
  maxNumSeqs: 32,
  maxNumBatchedTokens: 256,
  kvCacheTokens: 65536,
  kvCacheBytesPerToken: 46080,
  weightBytes: 0,
  device: 'cpu',
  numThreads: 1,
  runtimeVersion: 'scripted',
  loadMs: {build: 0, load: 0, warmUp: 0},
  builtFromCache: false,
};

export class ScriptedEngineClient implements EngineClient {
  readonly info: ModelInfo;
  readonly death: Promise<Error>;
  /** Every request that was handed in, in order. */
  readonly requests: EngineRequest[] = [];
  /** Ids of sequences that were taken out before their end. */
  readonly abortedIds: string[] = [];
  readonly #script: ScriptedEngineOptions['script'];
  readonly #open = new Set<string>();
  readonly #dead = new AbortController();
  numCacheResets = 0;
  vocabulary: TokenVocabulary | null = null;
  #resolveDeath: (reason: Error) => void = () => {};

  constructor({script, info = {}}: ScriptedEngineOptions) {
    this.info = {...scriptedModelInfo, ...info};
    this.#script = script;
    this.death = new Promise((resolve) => {
      this.#resolveDeath = resolve;
    });
  }

  generate(request: EngineRequest, options: {signal?: AbortSignal} = {}): ItemStream<SequenceOutput> {
    const leave = new AbortController();
    const signal = AbortSignal.any([leave.signal, ...(options.signal ? [options.signal] : [])]);
    const stream = streamOf(this.#play(request, signal));
    const close = stream.close.bind(stream);
    stream.close = () => {
      leave.abort();
      close();
    };
    return stream;
  }

  async *#play(request: EngineRequest, signal: AbortSignal): AsyncGenerator<SequenceOutput, void, undefined> {
    this.requests.push(request);
    this.#open.add(request.requestId);
    let isFinished = false;
    try {
      for (const step of this.#script(request)) {
        await this.#pause(step, signal);
        if (signal.aborted) return;
        if (this.#dead.signal.aborted) throw new EngineDeadError('The engine process ended.');
        if (step instanceof Error) throw step;
        if (typeof step === 'object') {
          isFinished = (step.finishReason ?? null) !== null;
          if (isFinished) this.#open.delete(request.requestId);
          yield toSequenceOutput(request.requestId, step);
        }
      }
    } finally {
      this.#open.delete(request.requestId);
      if (!isFinished) this.abortedIds.push(request.requestId);
    }
  }

  isAlive(): boolean {
    return !this.#dead.signal.aborted;
  }

  engineStates(): EngineState[] {
    return [{isUp: this.isAlive(), numRestarts: 0}];
  }

  /** The engine process ends by itself: open sequences fail. */
  die(reason: Error): void {
    this.#dead.abort();
    this.#resolveDeath(reason);
  }

  numOpenRequests(): number {
    return this.#open.size;
  }

  numBacklogTokens(): number {
    return this.requests
      .filter(({requestId}) => this.#open.has(requestId))
      .reduce((sum, {promptTokenIds}) => sum + promptTokenIds.length, 0);
  }

  resetPrefixCache(): void {
    this.numCacheResets++;
  }

  provideVocabulary(make: () => TokenVocabulary): void {
    this.vocabulary ??= make();
  }

  onStats(_listener: StatsListener): () => void {
    return () => {};
  }

  async close(): Promise<void> {
    this.#dead.abort();
  }

  async #pause(step: ScriptedStep, signal: AbortSignal): Promise<void> {
    if (typeof step === 'number') await new Promise((resolve) => setTimeout(resolve, step));
    else if (step === 'hang') await aborted(AbortSignal.any([signal, this.#dead.signal]));
    else await Promise.resolve();
  }
}

function toSequenceOutput(requestId: string, output: ScriptedOutput): SequenceOutput {
  const madeAtMs = nowMs();
  return {
    requestId,
    finishReason: null,
    stopReason: null,
    numCachedTokens: null,
    logprobs: null,
    promptLogprobs: null,
    tokenTimesMs: output.newTokenIds.map(() => madeAtMs),
    start: null,
    numPreemptions: 0,
    error: null,
    ...output,
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), {once: true});
  });
}
