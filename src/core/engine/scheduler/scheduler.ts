/**
 * Decides who computes what in each step: continuous batching with chunked prefill, as vllm/v1/core/sched/scheduler.py.
 *
 * Every decoding sequence gets one token. What is left of the token budget goes to prompts in order of seniority, in
 * chunks, so a long prompt slows the others by one chunk per step and never stops them. When cache memory runs out the
 * least senior sequence is preempted: it goes back to waiting and is computed again later, its output included. That is
 * done as it was the first time, the prompt in chunks and the output token by token: the kernels for one row and for
 * many differ in the last bits, and the answer must not depend on who else was there.
 *
 * Drafts take what prompts leave of the budget and of the memory: they never make anybody wait.
 */
import {assertInvariant} from '../../util/assert.ts';
import {nowMs} from '../../util/clock.ts';
import type {KvCacheManager} from '../kv-cache/kv-cache-manager.ts';
import type {Sequence} from '../sequence.ts';
import type {DraftSource} from '../speculation/ngram-drafts.ts';
import {chunkLength, minChunkTokens} from './chunk-length.ts';
import {RequestQueue, type SchedulingPolicy, seniority} from './request-queue.ts';
import type {ScheduledChunk, SchedulerOutput} from './scheduler-output.ts';

export interface SchedulerOptions {
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  policy: SchedulingPolicy;
  /** Rows of logits that prompts and drafts may want in one step besides one for each sequence. */
  maxExtraLogits: number;
  /** Where drafts come from; null = there are none. */
  drafts: DraftSource | null;
  /** Longest sequence, prompt and output together. */
  maxLength: number;
}

/** Waiting sequences looked at in one step; bounds the search for common beginnings. */
const maxLookahead = 32;

export class Scheduler {
  readonly #kvCache: KvCacheManager;
  readonly #tokenBudget: number;
  readonly #maxRunning: number;
  readonly #maxExtraLogits: number;
  readonly #waiting: RequestQueue;
  /** Prefilling and decoding sequences. */
  readonly #running: RequestQueue;
  readonly #compare: (a: Sequence, b: Sequence) => number;
  readonly #drafts: DraftSource | null;
  readonly #maxLength: number;

  constructor(kvCache: KvCacheManager, options: SchedulerOptions) {
    const {maxNumSeqs, maxNumBatchedTokens, policy, maxExtraLogits} = options;
    this.#kvCache = kvCache;
    this.#drafts = options.drafts;
    this.#maxLength = options.maxLength;
    this.#tokenBudget = maxNumBatchedTokens;
    // All can decode in one step, and what is left of the budget suffices for a chunk that never ends badly.
    this.#maxRunning = Math.min(maxNumSeqs, kvCache.numRows, Math.max(1, maxNumBatchedTokens - minChunkTokens));
    this.#maxExtraLogits = maxExtraLogits;
    this.#compare = seniority[policy];
    this.#waiting = new RequestQueue(this.#compare);
    this.#running = new RequestQueue(this.#compare);
  }

  get numRunning(): number {
    return this.#running.length;
  }

  get numWaiting(): number {
    return this.#waiting.length;
  }

  add(sequence: Sequence): void {
    this.#waiting.add(sequence);
  }

  /** Sequences that have waited since before `latestMs` (milliseconds since 1970) and never got a row. */
  notBegunSince(latestMs: number): Sequence[] {
    return this.#waiting.first().filter(({scheduledMs, queuedMs}) => scheduledMs === null && queuedMs < latestMs);
  }

  /** Plans the next step and gives every planned sequence its cache space. Empty only when there is no sequence. */
  schedule(): SchedulerOutput {
    const plan: SchedulerOutput = {
      decodes: [],
      prefills: [],
      numPreemptions: 0,
      prefixQueryTokens: 0,
      prefixHitTokens: 0,
    };
    this.#reserveForDecodes(plan);
    this.#planPrefills(plan);
    // A prompt's need for memory may have preempted sequences that were planned before.
    plan.prefills = plan.prefills.filter(({sequence}) => sequence.status === 'prefilling');
    plan.decodes = this.#gatherDecodes();
    if (this.#drafts) this.#addDrafts(plan, this.#drafts);
    return plan;
  }

  /** Says that a planned chunk has been computed. Drafts do not count yet. */
  commit({sequence, start, numTokens, isLast, draftTokenIds}: ScheduledChunk): void {
    this.#kvCache.commit(sequence, numTokens - draftTokenIds.length);
    if (!isLast && start + numTokens >= sequence.numPromptTokens) this.startDecoding(sequence);
  }

  /** Says that the token which was just appended had been computed as a draft. */
  commitDraft(sequence: Sequence): void {
    this.#kvCache.commit(sequence, 1);
  }

  /** From now on the sequence is computed token by token: one was sampled for it, or it made some before. */
  startDecoding(sequence: Sequence): void {
    sequence.status = 'decoding';
  }

  /** Takes a sequence out, wherever it is. @param keepsCache whether its keys and values may be reused */
  finish(sequence: Sequence, {keepsCache}: {keepsCache: boolean}): void {
    if (sequence.status === 'waiting') this.#waiting.remove(sequence);
    else {
      this.#running.remove(sequence);
      this.#kvCache.release(sequence, {keepsContent: keepsCache});
    }
    sequence.status = 'finished';
  }

  /** @throws Error that names the invariant which does not hold */
  checkInvariants(): void {
    const [running, waiting] = [this.#running.first(), this.#waiting.first()];
    assertInvariant(new Set([...running, ...waiting]).size === running.length + waiting.length, 'no sequence is twice');
    assertInvariant(
      waiting.every(({status, row}) => status === 'waiting' && row === -1),
      'waiting sequences have no row',
    );
    assertInvariant(
      running.every(({status, row}) => (status === 'prefilling' || status === 'decoding') && row >= 0),
      'running sequences have a row',
    );
    assertInvariant(running.length <= this.#maxRunning, 'no more sequences run than allowed');
    this.#kvCache.checkInvariants();
  }

  #decoding(): Sequence[] {
    return this.#running.first().filter(({status}) => status === 'decoding');
  }

  #reserveForDecodes(plan: SchedulerOutput): void {
    for (const sequence of this.#decoding()) {
      if (sequence.status === 'decoding') this.#reserve(sequence, this.#kvCache.numTokens(sequence) + 1, plan);
    }
  }

  /** Hands the rest of the budget to prompts, running and waiting ones together in order of seniority. */
  #planPrefills(plan: SchedulerOutput): void {
    let budget = this.#tokenBudget - this.#decoding().length;
    let admits = true;
    for (const sequence of this.#prefillCandidates()) {
      if (budget === 0) return;
      if (sequence.status === 'waiting') {
        admits &&= plan.numPreemptions === 0 && this.#canAdmit(sequence);
        if (!admits || this.#isPrefixUnderway(sequence, plan)) continue;
        this.#admit(sequence, plan);
      }
      budget -= this.#planChunk(sequence, budget, plan);
    }
  }

  #prefillCandidates(): Sequence[] {
    const prefilling = this.#running.first().filter(({status}) => status === 'prefilling');
    return [...prefilling, ...this.#waiting.first(maxLookahead)].sort(this.#compare);
  }

  #isPrefixUnderway(sequence: Sequence, {prefills}: SchedulerOutput): boolean {
    const planned = prefills.map((chunk) => chunk.sequence).filter(({status}) => status === 'prefilling');
    return this.#kvCache.isPrefixUnderway(sequence, planned);
  }

  #canAdmit(sequence: Sequence): boolean {
    return this.#running.length < this.#maxRunning && this.#kvCache.canAdmit(sequence);
  }

  #admit(sequence: Sequence, plan: SchedulerOutput): void {
    this.#waiting.remove(sequence);
    const numCachedTokens = this.#kvCache.admit(sequence);
    sequence.status = 'prefilling';
    this.#running.add(sequence);
    sequence.scheduledMs ??= nowMs();
    if (sequence.numCachedTokens !== null) return;
    sequence.numCachedTokens = numCachedTokens;
    plan.prefixQueryTokens += sequence.numPromptTokens;
    plan.prefixHitTokens += numCachedTokens;
  }

  /** @returns the tokens taken from the budget */
  #planChunk(sequence: Sequence, budget: number, plan: SchedulerOutput): number {
    if (sequence.status !== 'prefilling') return 0;
    const start = this.#kvCache.numTokens(sequence);
    if (start >= sequence.numPromptTokens) return this.#resumeDecoding(sequence, start, plan);
    const isOnlyWork = plan.prefills.length === 0 && this.#decoding().length === 0;
    const wantsAllLogits = sequence.missesPromptLogprobs;
    const room = wantsAllLogits ? Math.min(budget, this.#maxExtraLogits - numExtraLogits(plan)) : budget;
    const numTokens = chunkLength(sequence.numPromptTokens - start, room, isOnlyWork);
    if (numTokens === 0) return 0;
    const end = start + numTokens;
    if (!this.#reserve(sequence, end, plan)) return 0;
    const isLast = end === sequence.tokenIds.length;
    const numLogits = wantsAllLogits ? numTokens : Number(isLast);
    plan.prefills.push({sequence, start, numTokens, isLast, numLogits, draftTokenIds: []});
    return numTokens;
  }

  /** A preempted sequence whose whole prompt was still in the cache. @returns the tokens taken from the budget */
  #resumeDecoding(sequence: Sequence, start: number, plan: SchedulerOutput): number {
    if (!this.#reserve(sequence, start + 1, plan)) return 0;
    this.startDecoding(sequence);
    return 1;
  }

  /** Makes room for a sequence, at the cost of less senior ones. @returns false when it was preempted itself */
  #reserve(sequence: Sequence, numTokens: number, plan: SchedulerOutput): boolean {
    while (!this.#kvCache.reserve(sequence, numTokens)) {
      const victim = this.#running.last() as Sequence;
      assertInvariant(this.#running.length > 1, 'a sequence that runs alone has room');
      this.#preempt(victim);
      plan.numPreemptions++;
      if (victim === sequence) return false;
    }
    return true;
  }

  #preempt(sequence: Sequence): void {
    this.#running.remove(sequence);
    this.#kvCache.release(sequence, {keepsContent: true});
    sequence.status = 'waiting';
    sequence.numPreemptions++;
    this.#waiting.add(sequence);
  }

  #gatherDecodes(): ScheduledChunk[] {
    const decoding = this.#decoding();
    this.#kvCache.gather(decoding);
    return decoding.sort((a, b) => a.row - b.row).map((sequence) => this.#decodeChunk(sequence));
  }

  #decodeChunk(sequence: Sequence): ScheduledChunk {
    const start = this.#kvCache.numTokens(sequence);
    const isLast = start + 1 === sequence.tokenIds.length;
    return {sequence, start, numTokens: 1, isLast, numLogits: Number(isLast), draftTokenIds: []};
  }

  #addDrafts(plan: SchedulerOutput, source: DraftSource): void {
    const numPlanned = plan.prefills.reduce((sum, {numTokens}) => sum + numTokens, plan.decodes.length);
    let room = Math.min(this.#tokenBudget - numPlanned, this.#maxExtraLogits - numExtraLogits(plan));
    for (const chunk of plan.decodes) {
      const draftTokenIds = this.#draftFor(chunk, room, source);
      room -= draftTokenIds.length;
      Object.assign(chunk, withDraft(chunk, draftTokenIds));
    }
  }

  /** As long as it can be of use: the token behind an accepted draft must still belong to the sequence. */
  #draftFor({sequence, start, isLast}: ScheduledChunk, room: number, source: DraftSource): readonly number[] {
    const {tokenIds, outputTokenIds, sampling} = sequence;
    const numMissing = Math.min(this.#maxLength - tokenIds.length, sampling.params.maxTokens - outputTokenIds.length);
    const most = Math.min(room, numMissing - 1);
    if (!isLast || most <= 0 || !sequence.draftPause.isOver(outputTokenIds.length)) return [];
    const draft = source.draftAfter(tokenIds, most);
    return this.#kvCache.reserve(sequence, start + 1 + draft.length) ? draft : [];
  }
}

function withDraft(chunk: ScheduledChunk, draftTokenIds: readonly number[]): ScheduledChunk {
  if (draftTokenIds.length === 0) return chunk;
  const numTokens = chunk.numTokens + draftTokenIds.length;
  return {...chunk, numTokens, numLogits: numTokens, draftTokenIds};
}

/** Every row that a prompt wants counts, so that the last chunk of a prompt needs no rule of its own. */
function numExtraLogits({prefills}: SchedulerOutput): number {
  return prefills.reduce((sum, {numLogits}) => (numLogits > 1 ? sum + numLogits : sum), 0);
}
