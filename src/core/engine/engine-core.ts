/**
 * The engine without its process: requests in, one `step()` after the other, token ids out. A step schedules, runs the
 * forward pass, samples and updates; it knows no text. Requests and aborts are collected at any time and take effect,
 * in their order, when the next step begins, so nothing changes while a forward pass runs.
 */
import type {EngineConfig} from '../config/engine-config.ts';
import {GenerationError, serializeError, ValidationError} from '../errors.ts';
import {SeedMixer} from '../sampling/random.ts';
import {Sampler} from '../sampling/sampler.ts';
import {assertInvariant} from '../util/assert.ts';
import {nowMs} from '../util/clock.ts';
import {KvCacheManager} from './kv-cache/kv-cache-manager.ts';
import type {ModelRunner} from './model-runner/model-runner.ts';
import type {EngineFinishReason, EngineRequest, ModelInfo, SequenceOutput, StepStats} from './protocol.ts';
import type {SchedulingPolicy} from './scheduler/request-queue.ts';
import {Scheduler} from './scheduler/scheduler.ts';
import {isEmpty, type SchedulerOutput, toModelBatch} from './scheduler/scheduler-output.ts';
import {Sequence} from './sequence.ts';

export interface EngineCoreOptions {
  /** Longest sequence, prompt and output together. */
  maxModelLen: number;
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  kvCacheTokens: number;
  schedulingPolicy: SchedulingPolicy;
  enablePrefixCaching: boolean;
  /** Base of the seeds of requests that give none. */
  seed: number;
}

export interface StepResult {
  outputs: SequenceOutput[];
  stats: StepStats;
}

/** What the core needs of the loaded model and of the configuration. */
export function engineCoreOptions(
  info: ModelInfo,
  config: Pick<EngineConfig, 'schedulingPolicy' | 'enablePrefixCaching' | 'seed'>,
): EngineCoreOptions {
  const {maxModelLen, maxNumSeqs, maxNumBatchedTokens, kvCacheTokens} = info;
  const {schedulingPolicy, enablePrefixCaching, seed} = config;
  return {
    maxModelLen,
    maxNumSeqs,
    maxNumBatchedTokens,
    kvCacheTokens,
    schedulingPolicy,
    enablePrefixCaching,
    seed,
  };
}

interface Finish {
  reason: EngineFinishReason;
  stopReason?: number | null;
  error?: Error;
}

export class EngineCore {
  readonly #runner: ModelRunner;
  readonly #kvCache: KvCacheManager;
  readonly #scheduler: Scheduler;
  readonly #sampler: Sampler;
  readonly #seeds: SeedMixer;
  readonly #maxLength: number;
  readonly #sequences = new Map<string, Sequence>();
  /** Requests and aborts that take effect when the next step begins. */
  #inbox: (() => void)[] = [];
  #outputs: SequenceOutput[] = [];
  #numArrivals = 0;

  /** @param runner stays the caller's, who closes it */
  constructor(runner: ModelRunner, options: EngineCoreOptions) {
    this.#runner = runner;
    this.#kvCache = new KvCacheManager(runner, {
      maxTokens: options.kvCacheTokens,
      enablePrefixCaching: options.enablePrefixCaching,
    });
    this.#scheduler = new Scheduler(this.#kvCache, {
      maxNumSeqs: options.maxNumSeqs,
      maxNumBatchedTokens: options.maxNumBatchedTokens,
      policy: options.schedulingPolicy,
    });
    this.#sampler = new Sampler(runner.vocabSize);
    this.#seeds = new SeedMixer(BigInt(options.seed));
    // The last token of a sequence is never fed, so it needs no place in the cache.
    this.#maxLength = Math.min(options.maxModelLen, this.#kvCache.maxSequenceTokens + 1);
  }

  addRequests(requests: readonly EngineRequest[]): void {
    for (const request of requests) this.#inbox.push(() => this.#add(request));
  }

  /** Unknown and finished requests are ignored. */
  abortRequests(requestIds: readonly string[]): void {
    for (const requestId of requestIds) this.#inbox.push(() => this.#abort(requestId));
  }

  hasWork(): boolean {
    return this.#inbox.length > 0 || this.#sequences.size > 0;
  }

  /**
   * One forward pass for whatever can run.
   * @throws whatever the forward pass throws; the engine cannot go on after that
   */
  async step(): Promise<StepResult> {
    const startedAt = performance.now();
    for (const enter of this.#inbox.splice(0)) enter();
    const plan = this.#scheduler.schedule();
    assertInvariant(!isEmpty(plan) || this.#sequences.size === 0, 'a step computes something while sequences are open');
    if (!isEmpty(plan)) this.#update(plan, await this.#runner.execute(toModelBatch(plan)));
    if (this.#sequences.size === 0) this.checkInvariants();
    const outputs = this.#outputs.splice(0);
    return {outputs, stats: this.#statsOf(plan, outputs, performance.now() - startedAt)};
  }

  /** @throws Error that names the invariant which does not hold */
  checkInvariants(): void {
    const numOpen = this.#scheduler.numRunning + this.#scheduler.numWaiting;
    assertInvariant(numOpen === this.#sequences.size, 'running + waiting sequences = open sequences');
    this.#scheduler.checkInvariants();
  }

  #add(request: EngineRequest): void {
    assertInvariant(!this.#sequences.has(request.requestId), 'ids of open requests are unique');
    const sequence = new Sequence(request, this.#numArrivals++, this.#seeds.next());
    this.#sequences.set(sequence.requestId, sequence);
    this.#scheduler.add(sequence);
    if (sequence.numPromptTokens >= this.#maxLength) this.#finish(sequence, [], refusalOf(sequence, this.#maxLength));
  }

  #abort(requestId: string): void {
    const sequence = this.#sequences.get(requestId);
    if (sequence) this.#finish(sequence, [], {reason: 'abort'});
  }

  /** @param logits a row for each chunk that is the last of its sequence, in the order of the plan */
  #update({decodes, prefills}: SchedulerOutput, logits: Float32Array): void {
    let offset = 0;
    for (const chunk of [...decodes, ...prefills]) {
      this.#scheduler.commit(chunk);
      if (!chunk.isLast) continue;
      this.#sampleNext(chunk.sequence, logits.subarray(offset, offset + this.#runner.vocabSize));
      offset += this.#runner.vocabSize;
    }
  }

  #sampleNext(sequence: Sequence, logits: Float32Array): void {
    try {
      this.#append(sequence, this.#sampler.sample(logits, sequence.sampling, sequence.outputTokenIds));
    } catch (error) {
      if (!(error instanceof GenerationError)) throw error;
      this.#finish(sequence, [], {reason: 'error', error});
    }
  }

  #append(sequence: Sequence, tokenId: number): void {
    sequence.append(tokenId);
    const finish = this.#finishAfter(sequence, tokenId);
    if (finish) this.#finish(sequence, [tokenId], finish);
    else {
      this.#scheduler.startDecoding(sequence);
      this.#emit(sequence, [tokenId], null);
    }
  }

  /** Why a sequence ends with this token, in the order of vllm/v1/core/sched/utils.py: check_stop; null = it goes on. */
  #finishAfter({sampling: {params}, tokenIds, outputTokenIds}: Sequence, tokenId: number): Finish | null {
    if (outputTokenIds.length >= params.minTokens) {
      if (tokenId === params.eosTokenId && !params.ignoreEos) return {reason: 'stop'};
      if (params.stopTokenIds.includes(tokenId)) return {reason: 'stop', stopReason: tokenId};
    }
    const isFull = outputTokenIds.length >= params.maxTokens || tokenIds.length >= this.#maxLength;
    return isFull ? {reason: 'length'} : null;
  }

  /** Keys and values of a failed sequence may be broken as its logits are; they are not kept. */
  #finish(sequence: Sequence, newTokenIds: number[], finish: Finish): void {
    this.#scheduler.finish(sequence, {keepsCache: finish.reason !== 'error'});
    this.#sequences.delete(sequence.requestId);
    this.#emit(sequence, newTokenIds, finish);
  }

  #emit(sequence: Sequence, newTokenIds: number[], finish: Finish | null): void {
    const isFirst = sequence.outputTokenIds.length === newTokenIds.length;
    const madeAtMs = nowMs();
    this.#outputs.push({
      requestId: sequence.requestId,
      newTokenIds,
      finishReason: finish?.reason ?? null,
      stopReason: finish?.stopReason ?? null,
      numCachedTokens: isFirst ? sequence.numCachedTokens : null,
      tokenTimesMs: newTokenIds.map(() => madeAtMs),
      start: isFirst ? {queuedMs: sequence.queuedMs, scheduledMs: sequence.scheduledMs} : null,
      numPreemptions: sequence.numPreemptions,
      error: finish?.error ? serializeError(finish.error) : null,
    });
  }

  #statsOf(plan: SchedulerOutput, outputs: readonly SequenceOutput[], stepMs: number): StepStats {
    return {
      numRunning: this.#scheduler.numRunning,
      numWaiting: this.#scheduler.numWaiting,
      numUsedCacheTokens: this.#kvCache.numUsedTokens,
      numCachedTokens: this.#kvCache.numCachedTokens,
      numPrefillTokens: plan.prefills.reduce((sum, {numTokens}) => sum + numTokens, 0),
      numDecodeTokens: outputs.reduce((sum, {newTokenIds}) => sum + newTokenIds.length, 0),
      numPreemptions: plan.numPreemptions,
      prefixQueryTokens: plan.prefixQueryTokens,
      prefixHitTokens: plan.prefixHitTokens,
      stepMs,
    };
  }
}

function refusalOf({numPromptTokens}: Sequence, maxLength: number): Finish {
  const error = new ValidationError(
    `The prompt has ${numPromptTokens} tokens, but the KV cache holds at most ${maxLength - 1} of one sequence.`,
  );
  return {reason: 'error', error};
}
