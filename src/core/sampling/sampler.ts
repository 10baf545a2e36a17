/**
 * From the logits of one row to the next token: logits processors, then the most likely token (temperature 0) or a
 * seeded draw. Order as vLLM (vllm/v1/sample/sampler.py): constraint, allowed ids, bad words, min tokens, logit bias,
 * penalties, temperature, min-p, top-k, top-p, draw.
 */
import {GenerationError, ValidationError} from '../errors.ts';
import {allowedTokenIds} from './logits-processors/allowed-token-ids.ts';
import {badWords} from './logits-processors/bad-words.ts';
import {logitBias} from './logits-processors/logit-bias.ts';
import {
  impossible,
  type LogitsProcessor,
  type LogitsProcessorFactory,
  type OutputHolder,
} from './logits-processors/logits-processor.ts';
import {minTokens} from './logits-processors/min-tokens.ts';
import {penalties} from './logits-processors/penalties.ts';
import {thinkingBudget} from './logits-processors/thinking-budget.ts';
import {Random} from './random.ts';
import type {SamplingParams} from './sampling-params.ts';
import {TokenDistribution} from './token-distribution.ts';
import {logprobsOf, type ScoreKind, type TokenLogprobs} from './token-logprobs.ts';

/** In the order in which they run. */
const processorFactories: readonly LogitsProcessorFactory[] = [
  allowedTokenIds,
  badWords,
  minTokens,
  logitBias,
  penalties,
  thinkingBudget,
];

/** What sampling keeps of one sequence from step to step. */
export interface SamplingState {
  readonly params: SamplingParams;
  readonly constraint: OutputHolder | null;
  readonly processors: readonly LogitsProcessor[];
  readonly random: Random;
}

/**
 * @param freshSeed used when the request gives no seed
 * @param constraint what holds the output to `params.constraint`
 */
export function createSamplingState(
  params: SamplingParams,
  promptTokenIds: readonly number[],
  freshSeed: bigint,
  constraint: OutputHolder | null = null,
): SamplingState {
  return {
    params,
    constraint,
    processors: processorFactories
      .map((create) => create(params, promptTokenIds))
      .filter((processor) => processor !== null),
    random: Random.fromSeed(params.seed ?? freshSeed),
  };
}

/** What logprobs are made of: the model's own numbers, or those that the token was picked by. */
export type LogprobsMode = `${'raw' | 'processed'}_${ScoreKind}`;

export interface SampledToken {
  tokenId: number;
  /** Null when the request asked for none. */
  logprobs: TokenLogprobs | null;
}

export class Sampler {
  readonly #distribution: TokenDistribution;
  readonly #isRaw: boolean;
  readonly #scoreKind: ScoreKind;
  /** A row of what logprobs are made of. */
  readonly #scores: Float32Array;

  constructor(vocabSize: number, logprobsMode: LogprobsMode = 'raw_logprobs') {
    this.#distribution = new TokenDistribution(vocabSize);
    this.#isRaw = logprobsMode.startsWith('raw_');
    this.#scoreKind = logprobsMode.endsWith('_logits') ? 'logits' : 'logprobs';
    this.#scores = new Float32Array(vocabSize);
  }

  /**
   * Like `sample`, with the logprobs that the parameters ask for.
   * @param state its `params.logprobs` is not null
   * @throws GenerationError when the model's row holds NaN, an infinite or no finite logit; ValidationError when it is the
   *   request's parameters that leave no token
   */
  sampleWithLogprobs(logits: Float32Array, state: SamplingState, outputTokenIds: readonly number[]): SampledToken {
    const {logprobs: count, logprobTokenIds: tokenIds} = state.params;
    const settled = state.constraint?.hold(logits, outputTokenIds) ?? null;
    if (this.#isRaw) this.#scores.set(logits);
    const tokenId = settled ?? this.#sampleHeld(logits, state, outputTokenIds);
    if (!this.#isRaw && settled === null) this.#storeProcessed(logits, state);
    if (!this.#isRaw && settled !== null) this.#scores.set(logits);
    const logprobs = logprobsOf(this.#scores, tokenId, {count: count ?? 0, tokenIds}, this.#scoreKind);
    return {tokenId, logprobs};
  }

  /** What a token was just picked by: scaled by the temperature, without the tokens that the filters took out. */
  #storeProcessed(logits: Float32Array, {params: {temperature}}: SamplingState): void {
    const scores = this.#scores;
    if (temperature === 0) scores.set(logits);
    else {
      for (let id = 0; id < logits.length; id++) {
        scores[id] = this.#distribution.keeps(id) ? logits[id] / temperature : impossible;
      }
    }
  }

  /**
   * Picks the next token of one sequence. Takes random numbers unless the temperature is 0.
   * @param logits one row `[vocabSize]`, changed in place
   * @throws GenerationError when the model's row holds NaN, an infinite or no finite logit; ValidationError when it is the
   *   request's parameters that leave no token
   */
  sample(logits: Float32Array, state: SamplingState, outputTokenIds: readonly number[]): number {
    return state.constraint?.hold(logits, outputTokenIds) ?? this.#sampleHeld(logits, state, outputTokenIds);
  }

  #sampleHeld(logits: Float32Array, state: SamplingState, outputTokenIds: readonly number[]): number {
    for (const processor of state.processors) processor.apply(logits, outputTokenIds);
    const mostLikely = argmax(logits);
    if (!Number.isFinite(logits[mostLikely])) throw faultOf(mostLikely, state);
    if (state.params.temperature === 0) return mostLikely;
    return this.#draw(logits, logits[mostLikely], state);
  }

  #draw(logits: Float32Array, largest: number, {params, random}: SamplingState): number {
    // Least probability minP * (largest probability) means a distance of at most -ln(minP) to the largest logit.
    const maxDistance = params.minP === 0 ? Number.POSITIVE_INFINITY : -Math.log(params.minP);
    this.#distribution.load(logits, largest, params.temperature, maxDistance);
    if (params.topK > 0) this.#distribution.keepMostLikely(params.topK);
    if (params.topP < 1) this.#distribution.keepMass(params.topP);
    return this.#distribution.draw(() => random.nextUniform());
  }
}

/**
 * The id with the largest logit, the lowest one of equals. Hot loop: almost every group of eight logits holds none that
 * is larger than what was seen, and NaN fails the comparison, so the tokens are looked at one by one only rarely.
 * @returns -1 when no logit is above negative infinity
 * @throws GenerationError when the row holds NaN
 */
function argmax(logits: Float32Array): number {
  let best = -1;
  let bestLogit = Number.NEGATIVE_INFINITY;
  for (let start = 0; start < logits.length; start += 8) {
    if (start + 8 <= logits.length && isGroupAtMost(logits, start, bestLogit)) continue;
    const end = Math.min(start + 8, logits.length);
    for (let id = start; id < end; id++) {
      const logit = logits[id];
      if (logit <= bestLogit) continue;
      if (Number.isNaN(logit)) throw new GenerationError('The model produced logits that are not a number (NaN).');
      bestLogit = logit;
      best = id;
    }
  }
  return best;
}

/**
 * What is wrong with a row whose largest logit is no finite number. With parameters that change logits it is the request
 * that asks for the impossible, without them the model is broken.
 * @param mostLikely -1 when no logit is above negative infinity
 */
function faultOf(mostLikely: number, {processors, params}: SamplingState): Error {
  const isEmpty = mostLikely === -1;
  if (processors.length === 0 && params.constraint === null) {
    return new GenerationError(`The model produced ${isEmpty ? 'no finite' : 'an infinite'} logit.`);
  }
  return new ValidationError(
    isEmpty
      ? params.constraint === null
        ? 'No token can be sampled: allowed_token_ids, bad_words, logit_bias and min_tokens together exclude every token.'
        : 'No token can be sampled: none that the constraint allows here is left by the other parameters.'
      : 'No token can be sampled: repetition_penalty makes a logit infinite. Give a value nearer to 1.',
  );
}

/** Whether the eight logits from `start` on are all numbers up to `limit`. */
function isGroupAtMost(logits: Float32Array, start: number, limit: number): boolean {
  return (
    logits[start] <= limit &&
    logits[start + 1] <= limit &&
    logits[start + 2] <= limit &&
    logits[start + 3] <= limit &&
    logits[start + 4] <= limit &&
    logits[start + 5] <= limit &&
    logits[start + 6] <= limit &&
    logits[start + 7] <= limit
  );
}
