import {describe, expect, it} from 'vitest';
import {GenerationError, ValidationError} from '../../../../src/core/errors.ts';
import {createSamplingState, type LogprobsMode, Sampler} from '../../../../src/core/sampling/sampler.ts';
import type {SamplingParams} from '../../../../src/core/sampling/sampling-params.ts';
import {referenceDistribution} from '../../../support/reference-sampling.ts';
import {samplingParams} from '../../../support/sampling-params.ts';

const impossible = Number.NEGATIVE_INFINITY;

function sampleOnce(
  logits: number[],
  overrides: Partial<SamplingParams> = {},
  prompt: number[] = [],
  output: number[] = [],
) {
  const state = createSamplingState(samplingParams(overrides), prompt, 0n);
  return new Sampler(logits.length).sample(Float32Array.from(logits), state, output);
}

/** Draws many tokens from one row with one generator. */
function drawCounts(logits: Float32Array, params: SamplingParams, numDraws: number): number[] {
  const sampler = new Sampler(logits.length);
  const state = createSamplingState(params, [], 0n);
  const counts = new Array<number>(logits.length).fill(0);
  for (let i = 0; i < numDraws; i++) counts[sampler.sample(logits.slice(), state, [])]++;
  return counts;
}

describe('greedy sampling', () => {
  it('takes the largest logit, the lowest id of equals', () => {
    expect(sampleOnce([1, 5, 3, 5])).toBe(1);
    expect(sampleOnce([impossible, -3, impossible])).toBe(1);
  });

  it.each([
    ['NaN in the row', [0, Number.NaN, 1], 'not a number'],
    ['nothing but NaN', [Number.NaN, Number.NaN], 'not a number'],
    ['no finite logit', [impossible, impossible], 'no finite logit'],
    ['an infinite logit', [0, Number.POSITIVE_INFINITY], 'an infinite logit'],
  ])('refuses a row with %s', (_name, logits, text) => {
    for (const temperature of [0, 1]) {
      expect(() => sampleOnce(logits, {temperature})).toThrow(GenerationError);
      expect(() => sampleOnce(logits, {temperature})).toThrow(text);
    }
  });
});

describe('parameters that leave no token', () => {
  it.each<[string, Partial<SamplingParams>, string]>([
    ['ids that min_tokens forbids', {allowedTokenIds: [1], minTokens: 1, eosTokenId: 1}, 'exclude every token'],
    ['a penalty beyond all numbers', {repetitionPenalty: 1e-300}, 'repetition_penalty makes a logit infinite'],
  ])('are the mistake of the request: %s', (_name, overrides, text) => {
    expect(() => sampleOnce([1, 2, 3], overrides, [2])).toThrow(ValidationError);
    expect(() => sampleOnce([1, 2, 3], overrides, [2])).toThrow(text);
  });
});

describe('logits processors', () => {
  it('samples allowed ids only', () => {
    expect(sampleOnce([9, 1, 2, 3], {allowedTokenIds: [1, 2]})).toBe(2);
  });

  it('does not complete a bad word, but may sample its parts', () => {
    const badWordsTokenIds = [[3], [1, 2]];
    expect(sampleOnce([0, 1, 2, 3], {badWordsTokenIds})).toBe(2);
    expect(sampleOnce([0, 1, 2, 3], {badWordsTokenIds}, [], [0, 1])).toBe(1);
    expect(sampleOnce([0, 1, 2, 3], {badWordsTokenIds}, [1], [])).toBe(2);
  });

  it('keeps end and stop tokens out before min_tokens', () => {
    const params = {minTokens: 2, eosTokenId: 3, stopTokenIds: [2]};
    expect(sampleOnce([0, 1, 2, 3], params, [], [0])).toBe(1);
    expect(sampleOnce([0, 1, 2, 3], params, [], [0, 0])).toBe(3);
  });

  it('adds the logit bias', () => {
    expect(
      sampleOnce([0, 1, 2], {
        logitBias: [
          [0, 100],
          [2, -100],
        ],
      }),
    ).toBe(0);
  });

  it('divides positive and multiplies negative logits of seen tokens by the repetition penalty', () => {
    expect(sampleOnce([3, 2, 0], {repetitionPenalty: 2}, [0], [])).toBe(1);
    expect(sampleOnce([-1, -1.5, -9], {repetitionPenalty: 2}, [], [0])).toBe(1);
    expect(sampleOnce([3, 2, 0], {repetitionPenalty: 0.5}, [1], [])).toBe(1);
  });

  it('counts output tokens for frequency and presence penalties, not prompt tokens', () => {
    expect(sampleOnce([3, 2, 1.5], {presencePenalty: 1.2}, [0], [])).toBe(0);
    expect(sampleOnce([3, 2, 1.5], {presencePenalty: 1.2}, [], [0])).toBe(1);
    expect(sampleOnce([3, 2, 1.5], {frequencyPenalty: 1.2}, [], [0, 0, 1])).toBe(2);
    expect(sampleOnce([3, 2, 1.5], {presencePenalty: 1.2}, [], [0, 0, 0])).toBe(1);
  });

  it('keeps its counts while the output grows', () => {
    const state = createSamplingState(samplingParams({frequencyPenalty: 2}), [], 0n);
    const sampler = new Sampler(3);
    const output: number[] = [];
    for (let step = 0; step < 6; step++) output.push(sampler.sample(Float32Array.of(3, 2, 0.5), state, output));
    expect(output).toEqual([0, 1, 0, 2, 1, 0]);
  });

  it('runs in the order of vLLM: a bias cannot bring back an excluded token, penalties come after the bias', () => {
    expect(sampleOnce([0, 1, 2], {allowedTokenIds: [0, 1], logitBias: [[2, 100]]})).toBe(1);
    expect(sampleOnce([1, 3, 0], {repetitionPenalty: 4, logitBias: [[1, 3]]}, [1], [])).toBe(1);
    expect(sampleOnce([2, 3, 0], {repetitionPenalty: 4, logitBias: [[1, 3]]}, [1], [])).toBe(0);
  });
});

describe('seeded draws', () => {
  const logits = Float32Array.from({length: 50}, (_, id) => Math.sin(id * 7.3) * 3);

  it.each<[string, Partial<SamplingParams>]>([
    ['nothing else', {}],
    ['a low temperature', {temperature: 0.4}],
    ['a high temperature', {temperature: 2}],
    ['top-k', {topK: 7}],
    ['top-p', {topP: 0.6}],
    ['min-p', {minP: 0.2}],
    ['everything', {temperature: 0.8, topK: 20, topP: 0.9, minP: 0.02}],
  ])('follow the distribution with %s', (_name, overrides) => {
    const params = samplingParams({temperature: 1, seed: 11n, ...overrides});
    const numDraws = 20_000;
    const counts = drawCounts(logits, params, numDraws);
    const expected = referenceDistribution(logits, params);
    expect(counts.every((count, id) => count === 0 || expected.has(id))).toBe(true);
    expect(chiSquare(counts, expected, numDraws)).toBeLessThan(expected.size + 4 * Math.sqrt(2 * expected.size));
  });

  it('give the same tokens for the same seed, whatever else is sampled in between', () => {
    const sampler = new Sampler(logits.length);
    const params = samplingParams({temperature: 1, seed: 5n});
    const draw =
      (state = createSamplingState(params, [], 0n)) =>
      () =>
        sampler.sample(logits.slice(), state, []);
    const alone = Array.from({length: 20}, draw());
    const [first, other] = [draw(), draw(createSamplingState(samplingParams({temperature: 2, seed: 6n}), [], 0n))];
    const mixed = Array.from({length: 20}, () => [first(), other()][0]);
    expect(mixed).toEqual(alone);
  });

  it('take the fresh seed only when the request gives none', () => {
    const drawMany = (params: SamplingParams, freshSeed: bigint) => {
      const state = createSamplingState(params, [], freshSeed);
      const sampler = new Sampler(logits.length);
      return Array.from({length: 12}, () => sampler.sample(logits.slice(), state, []));
    };
    const unseeded = samplingParams({temperature: 1});
    expect(drawMany(unseeded, 1n)).toEqual(drawMany({...unseeded, seed: 1n}, 9n));
    expect(drawMany(unseeded, 1n)).not.toEqual(drawMany(unseeded, 2n));
  });
});

/** Sum over the tokens expected at least five times; the rest is pooled. */
function chiSquare(counts: number[], expected: Map<number, number>, numDraws: number): number {
  let [pooledCount, pooledExpected, sum] = [0, 0, 0];
  for (const [id, probability] of expected) {
    const expectedCount = probability * numDraws;
    if (expectedCount >= 5) sum += (counts[id] - expectedCount) ** 2 / expectedCount;
    else [pooledCount, pooledExpected] = [pooledCount + counts[id], pooledExpected + expectedCount];
  }
  return pooledExpected < 1 ? sum : sum + (pooledCount - pooledExpected) ** 2 / pooledExpected;
}

describe('logprobs', () => {
  const logits = [1, 2, 3, 0, 2];
  const softmax = (scores: number[]) => {
    const sum = scores.reduce((total, score) => total + Math.exp(score), 0);
    return scores.map((score) => score - Math.log(sum));
  };

  function logprobsIn(mode: LogprobsMode, overrides: Partial<SamplingParams>) {
    const state = createSamplingState(samplingParams({logprobs: -1, seed: 1n, ...overrides}), [], 0n);
    const {tokenId, logprobs} = new Sampler(logits.length, mode).sampleWithLogprobs(
      Float32Array.from(logits),
      state,
      [],
    );
    expect(logprobs?.[0]?.tokenId).toBe(tokenId);
    return logits.map((_, id) => logprobs?.find((entry) => entry.tokenId === id)?.logprob);
  }

  function expectClose(actual: (number | undefined)[], expected: number[]) {
    expected.forEach((value, id) => {
      if (value === impossible) expect(actual[id]).toBe(impossible);
      else expect(actual[id]).toBeCloseTo(value, 5);
    });
  }

  const changes = {temperature: 0.5, logitBias: [[3, 4]] as [number, number][], topK: 3};

  it('are those of the model, whatever the request does to the logits', () => {
    expectClose(logprobsIn('raw_logprobs', changes), softmax(logits));
    expectClose(logprobsIn('raw_logits', changes), logits);
  });

  it('are those that the token is picked by in the processed modes', () => {
    // Biased to 1 2 3 4 2, divided by 0.5; the three best are kept, and what is equal to the third.
    const kept = [impossible, 4, 6, 8, 4];
    expectClose(logprobsIn('processed_logits', changes), kept);
    expectClose(logprobsIn('processed_logprobs', changes), softmax(kept));
  });

  it('keep tokens that are too unlikely to be drawn unless a filter takes them out', () => {
    const bias = {logitBias: [[0, -90]] as [number, number][]};
    expectClose(logprobsIn('processed_logits', {temperature: 1, ...bias}), [-89, 2, 3, 0, 2]);
    expectClose(logprobsIn('processed_logits', {temperature: 1, minP: 0.3, ...bias}), [
      impossible,
      2,
      3,
      impossible,
      2,
    ]);
  });

  it('know no temperature when the most likely token is taken', () => {
    expectClose(logprobsIn('processed_logits', {temperature: 0, allowedTokenIds: [0, 3]}), [
      1,
      impossible,
      impossible,
      0,
      impossible,
    ]);
  });

  it('list exactly the wanted ids behind the token itself', () => {
    const state = createSamplingState(samplingParams({logprobs: 2, logprobTokenIds: [3, 2, 0]}), [], 0n);
    const {logprobs} = new Sampler(5).sampleWithLogprobs(Float32Array.from(logits), state, []);
    expect(logprobs?.map(({tokenId, rank}) => [tokenId, rank])).toEqual([
      [2, 2],
      [3, 1],
      [0, 3],
    ]);
  });
});
