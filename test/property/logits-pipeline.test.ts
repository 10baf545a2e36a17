/** The way from logits to a token, against the slow, obvious form of it, over random rows, parameters and texts. */
import fc from 'fast-check';
import {expect, it} from 'vitest';
import {createSamplingState, type LogprobsMode, Sampler} from '../../src/core/sampling/sampler.ts';
import type {SamplingParams} from '../../src/core/sampling/sampling-params.ts';
import {referenceDistribution, referenceLogits} from '../support/reference-sampling.ts';
import {samplingParams} from '../support/sampling-params.ts';

const vocabSize = 24;
const tokenId = fc.nat(vocabSize - 1);
const tokenIds = fc.array(tokenId, {maxLength: 12});
const row = fc
  .array(
    fc.integer({min: -640, max: 640}).map((n) => n / 64),
    {minLength: vocabSize, maxLength: vocabSize},
  )
  .map((logits) => Float32Array.from(logits));

const seldom = <T>(value: fc.Arbitrary<T>, otherwise: T) =>
  fc.oneof({weight: 2, arbitrary: fc.constant(otherwise)}, {weight: 1, arbitrary: value});

const changes = fc.record({
  allowedTokenIds: seldom<number[] | null>(fc.uniqueArray(tokenId, {minLength: 6}), null),
  badWordsTokenIds: seldom<number[][]>(fc.array(fc.array(tokenId, {minLength: 1, maxLength: 2}), {maxLength: 5}), []),
  minTokens: fc.nat(8),
  eosTokenId: seldom<number | null>(tokenId, null),
  stopTokenIds: fc.uniqueArray(tokenId, {maxLength: 2}),
  logitBias: seldom<[number, number][]>(
    fc.uniqueArray(fc.tuple(tokenId, fc.constantFrom(-100, -1.5, 0.25, 3, 100)), {
      maxLength: 4,
      selector: ([id]) => id,
    }),
    [],
  ),
  repetitionPenalty: fc.constantFrom(1, 1.25, 0.5, 2),
  frequencyPenalty: fc.constantFrom(0, 0.375, -1),
  presencePenalty: fc.constantFrom(0, 0.25, -2),
});
const filters = fc.record({
  temperature: fc.constantFrom(0.3, 1, 1.7),
  topK: fc.constantFrom(0, 1, 3, 10),
  topP: fc.constantFrom(1, 0.9513, 0.4137),
  minP: fc.constantFrom(0, 0.0213, 0.2119),
});

/** The row behind all rules; null when nothing is left to sample. */
function expectedRow(logits: Float32Array, params: SamplingParams, prompt: number[], output: number[]) {
  const expected = referenceLogits(logits, params, prompt, output);
  return expected.some(Number.isFinite) ? expected : null;
}

/** Samples along the output, as the engine does, so that what is counted from step to step is counted. */
function sampleAfter(
  logits: Float32Array,
  params: SamplingParams,
  prompt: number[],
  output: number[],
  mode: LogprobsMode,
) {
  const sampler = new Sampler(vocabSize, mode);
  const state = createSamplingState({...params, logprobs: -1}, prompt, 0n);
  for (const length of output.keys()) {
    for (const processor of state.processors) processor.apply(new Float32Array(vocabSize), output.slice(0, length));
  }
  return sampler.sampleWithLogprobs(logits.slice(), state, output);
}

it('changes a row exactly as the rules say, and picks the largest logit', () => {
  fc.assert(
    fc.property(row, changes, tokenIds, tokenIds, (logits, overrides, prompt, output) => {
      const params = samplingParams(overrides);
      const expected = expectedRow(logits, params, prompt, output);
      fc.pre(expected !== null);
      const {tokenId, logprobs} = sampleAfter(logits, params, prompt, output, 'processed_logits');
      for (const entry of logprobs!) expect(entry.logprob).toBeCloseTo(expected[entry.tokenId]!, 4);
      const largest = Math.max(...expected);
      expect(expected[tokenId]).toBeCloseTo(largest, 4);
    }),
    {numRuns: 500, seed: 11},
  );
});

it('draws only what the filters leave of such a row', () => {
  fc.assert(
    fc.property(row, changes, filters, tokenIds, tokenIds, fc.bigInt(0n, 999n), (logits, rules, cuts, ...rest) => {
      const [prompt, output, seed] = rest;
      const params = samplingParams({...rules, ...cuts, seed});
      const expected = expectedRow(logits, params, prompt, output);
      fc.pre(expected !== null);
      const {tokenId} = sampleAfter(logits, params, prompt, output, 'raw_logprobs');
      // A border that hangs on the last bits may fall on either side.
      const allowed = referenceDistribution(Float32Array.from(expected), {
        ...params,
        topP: Math.min(1, params.topP + 1e-4),
        minP: params.minP * (1 - 1e-4),
      });
      expect([...allowed.keys()]).toContain(tokenId);
    }),
    {numRuns: 500, seed: 12},
  );
});

it('takes raw logprobs from the row as it came', () => {
  fc.assert(
    fc.property(row, changes, filters, tokenIds, tokenIds, (logits, rules, cuts, prompt, output) => {
      const params = samplingParams({...rules, ...cuts, seed: 1n});
      fc.pre(expectedRow(logits, params, prompt, output) !== null);
      const {tokenId, logprobs} = sampleAfter(logits, params, prompt, output, 'raw_logprobs');
      const sum = logits.reduce((total, logit) => total + Math.exp(logit), 0);
      expect(logprobs![0]!.tokenId).toBe(tokenId);
      expect(logprobs).toHaveLength(vocabSize);
      for (const entry of logprobs!) {
        expect(entry.logprob).toBeCloseTo(logits[entry.tokenId]! - Math.log(sum), 4);
        const rank = logits.filter((logit) => logit > logits[entry.tokenId]!).length + 1;
        expect(entry.rank).toBeGreaterThanOrEqual(rank);
      }
    }),
    {numRuns: 200, seed: 13},
  );
});
