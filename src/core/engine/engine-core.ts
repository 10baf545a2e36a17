/**
 * The engine without its process: requests in, one `step()` after the other, token ids out. A step schedules, runs the
 * forward pass, samples and updates; it knows no text. Requests and aborts are collected at any time and take effect,
 * in their order, when the next step begins, so nothing changes while a forward pass runs.
 */
import type {EngineConfig} from '../config/engine-config.ts';
import {type Speculation, toSpeculation} from '../config/speculative-config.ts';
import {GenerationError, OverloadedError, serializeError, UnsupportedError, ValidationError} from '../errors.ts';
import type {OutputHolder} from '../sampling/logits-processors/logits-processor.ts';
import {SeedMixer} from '../sampling/random.ts';
import {endsInRepetition} from '../sampling/repetition-detection.ts';
import {type SampledToken, Sampler} from '../sampling/sampler.ts';
import type {SamplingParams} from '../sampling/sampling-params.ts';
import {logprobsOf, type TokenLogprobs} from '../sampling/token-logprobs.ts';
import type {TokenVocabulary} from '../sampling/token-vocabulary.ts';
import {ConstraintCompiler} from '../structured-output/compile-constraint.ts';
import {assertInvariant} from '../util/assert.ts';
import {nowMs} from '../util/clock.ts';
import {KvCacheManager} from './kv-cache/kv-cache-manager.ts';
import type {ModelRunner} from './model-runner/model-runner.ts';
import type {DraftStats, EngineFinishReason, EngineRequest, ModelInfo, SequenceOutput, StepStats} from './protocol.ts';
import type {SchedulingPolicy} from './scheduler/request-queue.ts';
import {Scheduler} from './scheduler/scheduler.ts';
import {isEmpty, type ScheduledChunk, type SchedulerOutput, toModelBatch} from './scheduler/scheduler-output.ts';
import {Sequence} from './sequence.ts';
import {NgramDrafts} from './speculation/ngram-drafts.ts';

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
  logprobsMode: EngineConfig['logprobsMode'];
  /** How long a request may wait for its first step; null = for ever. */
  queueTimeoutSeconds: number | null;
  /** How drafts are found; null = there are none. */
  speculation: Speculation | null;
}

export interface StepResult {
  outputs: SequenceOutput[];
  stats: StepStats;
}

/** The part of the configuration that the core looks at. */
export type CoreConfig = Pick<
  EngineConfig,
  'schedulingPolicy' | 'enablePrefixCaching' | 'seed' | 'logprobsMode' | 'queueTimeoutSeconds' | 'speculativeConfig'
>;

/** What the core needs of the loaded model and of the configuration. */
export function engineCoreOptions(info: ModelInfo, config: CoreConfig): EngineCoreOptions {
  const {maxModelLen, maxNumSeqs, maxNumBatchedTokens, kvCacheTokens} = info;
  const {schedulingPolicy, enablePrefixCaching, seed, logprobsMode, queueTimeoutSeconds} = config;
  return {
    maxModelLen,
    maxNumSeqs,
    maxNumBatchedTokens,
    kvCacheTokens,
    schedulingPolicy,
    enablePrefixCaching,
    seed,
    logprobsMode,
    queueTimeoutSeconds,
    speculation: toSpeculation(config.speculativeConfig),
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
  readonly #queueTimeoutMs: number;
  readonly #constraints = new ConstraintCompiler();
  readonly #sequences = new Map<string, Sequence>();
  /** Requests and aborts that take effect when the next step begins. */
  #inbox: (() => void)[] = [];
  #outputs: SequenceOutput[] = [];
  /** Of the step under way; null = there are no drafts at all. */
  #draftStats: DraftStats | null = null;
  readonly #maxDraftTokens: number;
  #numArrivals = 0;

  /** @param runner stays the caller's, who closes it */
  constructor(runner: ModelRunner, options: EngineCoreOptions) {
    this.#runner = runner;
    this.#kvCache = new KvCacheManager(runner, {
      maxTokens: options.kvCacheTokens,
      enablePrefixCaching: options.enablePrefixCaching,
    });
    // The last token of a sequence is never fed, so it needs no place in the cache.
    this.#maxLength = Math.min(options.maxModelLen, this.#kvCache.maxSequenceTokens + 1);
    const speculation = checkedSpeculation(options.speculation, runner);
    this.#maxDraftTokens = speculation?.maxDraftTokens ?? 0;
    this.#scheduler = new Scheduler(this.#kvCache, {
      maxNumSeqs: options.maxNumSeqs,
      maxNumBatchedTokens: options.maxNumBatchedTokens,
      policy: options.schedulingPolicy,
      maxExtraLogits: runner.maxExtraLogits,
      drafts: speculation && new NgramDrafts(speculation),
      maxLength: this.#maxLength,
    });
    this.#sampler = new Sampler(runner.vocabSize, options.logprobsMode);
    this.#queueTimeoutMs =
      options.queueTimeoutSeconds === null ? Number.POSITIVE_INFINITY : options.queueTimeoutSeconds * 1000;
    this.#seeds = new SeedMixer(BigInt(options.seed));
  }

  addRequests(requests: readonly EngineRequest[]): void {
    for (const request of requests) this.#inbox.push(() => this.#add(request));
  }

  /** Unknown and finished requests are ignored. */
  abortRequests(requestIds: readonly string[]): void {
    for (const requestId of requestIds) this.#inbox.push(() => this.#abort(requestId));
  }

  /** How tokens are spelled; requests with a constraint come after it. */
  setVocabulary(vocabulary: TokenVocabulary): void {
    this.#inbox.push(() => this.#constraints.setVocabulary(vocabulary));
  }

  /** Requests that come later find nothing of what was computed before. */
  resetPrefixCache(): void {
    this.#inbox.push(() => this.#kvCache.forgetContent());
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
    this.#draftStats = this.#maxDraftTokens === 0 ? null : newDraftStats(this.#maxDraftTokens);
    for (const enter of this.#inbox.splice(0)) enter();
    this.#refuseOverdue();
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
    const constraint = this.#constraintOf(request.sampling);
    const holder = constraint instanceof Error ? null : constraint;
    const sequence = new Sequence(request, this.#numArrivals++, this.#seeds.next(), holder);
    this.#sequences.set(sequence.requestId, sequence);
    this.#scheduler.add(sequence);
    if (constraint instanceof Error) this.#finish(sequence, [], {reason: 'error', error: constraint});
    else if (sequence.numPromptTokens >= this.#maxLength) {
      this.#finish(sequence, [], refusalOf(sequence, this.#maxLength));
    }
  }

  /** What holds a sequence to its constraint; the error when the constraint cannot be used. */
  #constraintOf(params: SamplingParams): OutputHolder | Error | null {
    if (params.constraint === null) return null;
    try {
      return this.#constraints.holderFor({...params, constraint: params.constraint});
    } catch (error) {
      if (error instanceof GenerationError || error instanceof ValidationError) return error;
      throw error;
    }
  }

  #abort(requestId: string): void {
    const sequence = this.#sequences.get(requestId);
    if (sequence) this.#finish(sequence, [], {reason: 'abort'});
  }

  /** Ends what has waited too long without a single step. Preempted sequences have begun, so they wait on. */
  #refuseOverdue(): void {
    if (this.#queueTimeoutMs === Number.POSITIVE_INFINITY) return;
    const latestMs = nowMs() - this.#queueTimeoutMs;
    for (const sequence of this.#scheduler.notBegunSince(latestMs)) {
      const error = new OverloadedError(
        `The request waited more than ${this.#queueTimeoutMs / 1000} s for its turn (--queue-timeout). Please try again later or on a different instance.`,
      );
      this.#finish(sequence, [], {reason: 'error', error});
    }
  }

  /** @param logits the rows that each chunk wants, in the order of the plan */
  #update({decodes, prefills}: SchedulerOutput, logits: Float32Array): void {
    let offset = 0;
    for (const chunk of [...decodes, ...prefills]) {
      this.#scheduler.commit(chunk);
      if (chunk.numLogits === 0) continue;
      const end = offset + chunk.numLogits * this.#runner.vocabSize;
      this.#takeLogits(chunk, logits.subarray(offset, end));
      offset = end;
    }
  }

  #takeLogits(chunk: ScheduledChunk, logits: Float32Array): void {
    const {sequence} = chunk;
    const newTokens: SampledToken[] = [];
    try {
      if (sequence.missesPromptLogprobs) this.#rankPrompt(chunk, logits);
      if (chunk.isLast) this.#sampleNext(chunk, logits, newTokens);
    } catch (error) {
      if (!(error instanceof GenerationError || error instanceof ValidationError)) throw error;
      this.#finish(sequence, newTokens, {reason: 'error', error});
    }
  }

  /** The logits after a token say how likely the next one was. */
  #rankPrompt({sequence, start, numLogits}: ScheduledChunk, logits: Float32Array): void {
    const {vocabSize} = this.#runner;
    const {tokenIds, numPromptTokens, promptLogprobs, sampling} = sequence;
    const wanted = {count: sampling.params.promptLogprobs ?? 0, tokenIds: null};
    const numRanked = Math.min(numLogits, numPromptTokens - 1 - start);
    for (let index = 0; index < numRanked; index++) {
      const position = start + index + 1;
      const row = logits.subarray(index * vocabSize, (index + 1) * vocabSize);
      promptLogprobs![position] = logprobsOf(row, tokenIds[position], wanted);
    }
  }

  /**
   * Samples the next token, and as long as that is what the draft said, the one after it: each exactly as if there were no
   * draft, so that drafts change no answer.
   * @param newTokens what was sampled is added here
   */
  #sampleNext({sequence, draftTokenIds}: ScheduledChunk, logits: Float32Array, newTokens: SampledToken[]): void {
    const {vocabSize} = this.#runner;
    const rows = logits.subarray(-(draftTokenIds.length + 1) * vocabSize);
    let finish: Finish | null = null;
    for (let row = 0; ; row++) {
      const sampled = this.#sample(sequence, rows.subarray(row * vocabSize, (row + 1) * vocabSize));
      newTokens.push(sampled);
      sequence.append(sampled.tokenId);
      finish = this.#finishAfter(sequence, sampled.tokenId);
      if (finish !== null || sampled.tokenId !== draftTokenIds[row]) break;
      this.#scheduler.commitDraft(sequence);
    }
    this.#countDraft(sequence, draftTokenIds, newTokens);
    if (finish !== null) return this.#finish(sequence, newTokens, finish);
    this.#scheduler.startDecoding(sequence);
    this.#emit(sequence, newTokens, null);
  }

  #sample({sampling, outputTokenIds}: Sequence, logits: Float32Array): SampledToken {
    return sampling.params.logprobs === null
      ? {tokenId: this.#sampler.sample(logits, sampling, outputTokenIds), logprobs: null}
      : this.#sampler.sampleWithLogprobs(logits, sampling, outputTokenIds);
  }

  #countDraft(sequence: Sequence, draftTokenIds: readonly number[], newTokens: readonly SampledToken[]): void {
    const stats = this.#draftStats;
    if (stats === null || draftTokenIds.length === 0) return;
    const numAccepted = newTokens.filter(({tokenId}, position) => tokenId === draftTokenIds[position]).length;
    sequence.draftPause.note(numAccepted, sequence.outputTokenIds.length);
    stats.numDrafts++;
    stats.numDraftTokens += draftTokenIds.length;
    for (let position = 0; position < numAccepted; position++) stats.acceptedByPosition[position]!++;
  }

  /** Why a sequence ends with this token, in the order of vllm/v1/core/sched/utils.py: check_stop; null = it goes on. */
  #finishAfter({sampling: {params}, tokenIds, outputTokenIds}: Sequence, tokenId: number): Finish | null {
    if (outputTokenIds.length >= params.minTokens) {
      if (tokenId === params.eosTokenId && !params.ignoreEos) return {reason: 'stop'};
      if (params.stopTokenIds.includes(tokenId)) return {reason: 'stop', stopReason: tokenId};
    }
    const isFull = outputTokenIds.length >= params.maxTokens || tokenIds.length >= this.#maxLength;
    if (isFull) return {reason: 'length'};
    return isStuck(params, outputTokenIds) ? {reason: 'repetition'} : null;
  }

  /** Keys and values of a failed sequence may be broken as its logits are; they are not kept. */
  #finish(sequence: Sequence, newTokens: SampledToken[], finish: Finish): void {
    this.#scheduler.finish(sequence, {keepsCache: finish.reason !== 'error'});
    this.#sequences.delete(sequence.requestId);
    this.#emit(sequence, newTokens, finish);
  }

  #emit(sequence: Sequence, newTokens: SampledToken[], finish: Finish | null): void {
    const isFirst = sequence.outputTokenIds.length === newTokens.length;
    const madeAtMs = nowMs();
    this.#outputs.push({
      requestId: sequence.requestId,
      newTokenIds: newTokens.map(({tokenId}) => tokenId),
      logprobs: logprobsOfTokens(sequence, newTokens),
      promptLogprobs: isFirst && !sequence.missesPromptLogprobs ? sequence.promptLogprobs : null,
      finishReason: finish?.reason ?? null,
      stopReason: finish?.stopReason ?? null,
      numCachedTokens: isFirst ? sequence.numCachedTokens : null,
      tokenTimesMs: newTokens.map(() => madeAtMs),
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
      ...(this.#draftStats && {drafts: this.#draftStats}),
      stepMs,
    };
  }
}

/** @throws UnsupportedError when the model cannot check drafts */
function checkedSpeculation(speculation: Speculation | null, {maxDraftTokens}: ModelRunner): Speculation | null {
  if (speculation === null || speculation.maxDraftTokens <= maxDraftTokens) return speculation;
  throw new UnsupportedError('--speculative-config is not supported for this model on this device.');
}

function newDraftStats(maxDraftTokens: number): DraftStats {
  return {numDrafts: 0, numDraftTokens: 0, acceptedByPosition: Array.from({length: maxDraftTokens}, () => 0)};
}

function logprobsOfTokens({sampling}: Sequence, tokens: readonly SampledToken[]): TokenLogprobs[] | null {
  if (sampling.params.logprobs === null) return null;
  return tokens.flatMap(({logprobs}) => (logprobs === null ? [] : [logprobs]));
}

function isStuck({repetitionDetection, minTokens}: SamplingParams, outputTokenIds: readonly number[]): boolean {
  if (repetitionDetection === null || outputTokenIds.length < minTokens) return false;
  return endsInRepetition(outputTokenIds, repetitionDetection);
}

function refusalOf({numPromptTokens}: Sequence, maxLength: number): Finish {
  const error = new ValidationError(
    `The prompt has ${numPromptTokens} tokens, but the KV cache holds at most ${maxLength - 1} of one sequence.`,
  );
  return {reason: 'error', error};
}
