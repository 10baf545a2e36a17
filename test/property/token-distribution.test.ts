/** The histogram keeps exactly the tokens that the slow reference keeps, and draws each with its probability. */
import fc from 'fast-check';
import {expect, it} from 'vitest';
import {Random} from '../../src/core/sampling/random.ts';
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

/** The token at one random number, or null when another number is asked for. */
function drawAt(distribution: TokenDistribution, uniform: number): number | null {
  const numbers = [uniform];
  class Rejected extends Error {}
  try {
    return distribution.draw(() => {
      const number = numbers.pop();
      if (number === undefined) throw new Rejected();
      return number;
    });
  } catch (error) {
    if (error instanceof Rejected) return null;
    throw error;
  }
}

it('draws each token over a stretch of [0, 1) as long as its probability', () => {
  fc.assert(
    fc.property(row, filters, (logits, overrides) => {
      const params = samplingParams(overrides);
      const expected = referenceDistribution(logits, params);
      const numbers = Array.from({length: 199}, (_, i) => (i + 0.5) / 199);
      const drawn = numbers.map((uniform) => drawAt(loadFiltered(logits, params), uniform)).filter((id) => id !== null);
      const counts = new Map<number, number>();
      for (const id of drawn) counts.set(id, (counts.get(id) ?? 0) + 1);
      expect(drawn.length).toBeGreaterThan(0.95 * numbers.length);
      for (const id of counts.keys()) expect(expected.has(id)).toBe(true);
      for (const [id, probability] of expected) {
        expect(Math.abs((counts.get(id) ?? 0) - probability * drawn.length)).toBeLessThan(1.5);
      }
    }),
    {numRuns: 200, seed: 1},
  );
});

it('gives the tail of the vocabulary its share', () => {
  // One likely token, and 4,000 that are each 14.05 nats less likely: together 0.3 % of the mass.
  const logits = new Float32Array(4001).fill(0);
  logits[7] = 14.05;
  const random = Random.fromSeed(4n);
  const distribution = new TokenDistribution(logits.length);
  const numDraws = 30_000;
  let numTail = 0;
  for (let i = 0; i < numDraws; i++) {
    distribution.load(logits, logits[7], 1);
    if (distribution.draw(() => random.nextUniform()) !== 7) numTail++;
  }
  const tailMass = 4000 * Math.exp(-logits[7]);
  const probability = tailMass / (1 + tailMass);
  const deviation = Math.sqrt(numDraws * probability * (1 - probability));
  expect(Math.abs(numTail - numDraws * probability)).toBeLessThan(4 * deviation);
});

it('keeps the whole vocabulary when all tokens are equally likely', () => {
  const logits = new Float32Array(49_152).fill(2.5);
  const distribution = loadFiltered(logits, samplingParams({temperature: 1}));
  const ids = Array.from({length: 1000}, (_, i) => drawAt(distribution, (i + 0.5) / 1000));
  expect(ids).toEqual(ids.map((_, i) => Math.floor(((i + 0.5) / 1000) * 49_152)));
});
