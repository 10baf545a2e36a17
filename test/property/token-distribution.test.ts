/** The histogram keeps exactly the tokens that the slow reference keeps, and draws each with its probability. */
import fc from 'fast-check';
import {expect, it} from 'vitest';
import {TokenDistribution} from '../../src/core/sampling/token-distribution.ts';
import {referenceDistribution} from '../support/reference-sampling.ts';
import {samplingParams} from '../support/sampling-params.ts';

// Steps of 1/64 and uneven shares: no case hangs on the last bit of a sum.
const logit = fc.oneof(
  {weight: 8, arbitrary: fc.integer({min: -1920, max: 1920}).map((n) => n / 64)},
  {weight: 4, arbitrary: fc.integer({min: -3, max: 3})},
  {weight: 1, arbitrary: fc.constant(Number.NEGATIVE_INFINITY)},
);
const row = fc
  .array(logit, {minLength: 1, maxLength: 120})
  .map((logits) => Float32Array.from(logits))
  .filter((logits) => logits.some(Number.isFinite));

const filters = fc.record({
  temperature: fc.constantFrom(0.01, 0.3, 1, 2),
  minP: fc.constantFrom(0, 0.0003, 0.1, 1),
  topK: fc.constantFrom(0, 1, 2, 5, 50, 1000),
  topP: fc.constantFrom(1, 0.9991, 0.7013, 0.3137, 0.0001),
});

function loadFiltered(logits: Float32Array, params: ReturnType<typeof samplingParams>): TokenDistribution {
  const distribution = new TokenDistribution(logits.length);
  const maxDistance = params.minP === 0 ? Number.POSITIVE_INFINITY : -Math.log(params.minP);
  distribution.load(logits, Math.max(...logits), params.temperature, maxDistance);
  if (params.topK > 0) distribution.keepMostLikely(params.topK);
  if (params.topP < 1) distribution.keepMass(params.topP);
  return distribution;
}

it('draws each token over a stretch of [0, 1) as long as its probability', () => {
  fc.assert(
    fc.property(row, filters, (logits, overrides) => {
      const params = samplingParams(overrides);
      const distribution = loadFiltered(logits, params);
      const expected = referenceDistribution(logits, params);
      const numDraws = 997;
      const counts = new Map<number, number>();
      for (let i = 0; i < numDraws; i++) {
        const id = distribution.draw((i + 0.5) / numDraws);
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      for (const id of counts.keys()) expect(expected.has(id)).toBe(true);
      for (const [id, probability] of expected) {
        expect(Math.abs((counts.get(id) ?? 0) - probability * numDraws)).toBeLessThan(1.01);
      }
    }),
    {numRuns: 300, seed: 1},
  );
});

it('keeps the whole vocabulary when all tokens are equally likely', () => {
  const logits = new Float32Array(49_152).fill(2.5);
  const distribution = loadFiltered(logits, samplingParams({temperature: 1}));
  const ids = Array.from({length: 1000}, (_, i) => distribution.draw((i + 0.5) / 1000));
  expect(ids).toEqual(ids.map((_, i) => Math.floor(((i + 0.5) / 1000) * 49_152)));
});
