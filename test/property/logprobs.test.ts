/**
 * Laws of logprobs: the fast form equals the slow one for every row and request; in the engine they are those of the
 * untouched logits, of exactly the tokens that were made, whatever else runs and however a prompt was cut.
 */
import fc from 'fast-check';
import {expect, it} from 'vitest';
import {logprobsOf, type TokenLogprobs} from '../../src/core/sampling/token-logprobs.ts';
import {buildEngine, engineRequest, fakePrompt, outputsOf, runToEnd} from '../support/build-engine.ts';
import {fakeLogits} from '../support/fake-model-runner.ts';
import {referenceLogprobs} from '../support/reference-logprobs.ts';

const vocabSize = 64;

function expectSame(actual: TokenLogprobs, expected: TokenLogprobs): void {
  expect(actual.map(({tokenId, rank}) => ({tokenId, rank}))).toEqual(
    expected.map(({tokenId, rank}) => ({tokenId, rank})),
  );
  actual.forEach(({logprob}, index) => {
    expect(logprob).toBeCloseTo(expected[index]!.logprob, 4);
  });
}

it('the fast form gives what the slow one gives', () => {
  const score = fc.oneof(fc.integer({min: -6, max: 6}), fc.double({min: -25, max: 25, noNaN: true}));
  const row = fc.array(score, {minLength: 1, maxLength: 600}).map((scores) => Float32Array.from(scores));
  const request = fc.record({
    count: fc.oneof(fc.integer({min: -1, max: 30}), fc.constantFrom(256, 257, 600)),
    tokenIds: fc.option(fc.array(fc.nat(599), {minLength: 1, maxLength: 8}), {freq: 3}),
  });
  fc.assert(
    fc.property(row, fc.nat(), request, (scores, pick, {count, tokenIds}) => {
      const wanted = {count, tokenIds: tokenIds?.map((id) => id % scores.length) ?? null};
      const tokenId = pick % scores.length;
      const actual = logprobsOf(scores, tokenId, wanted);
      expectSame(actual, referenceLogprobs(scores, tokenId, wanted));
      expect(actual.every(({logprob}) => logprob <= 0)).toBe(true);
      expect(new Set(actual.map((entry) => entry.tokenId)).size).toBe(actual.length);
    }),
    {numRuns: 500, seed: 11},
  );
});

it('of all tokens they sum up to one', () => {
  fc.assert(
    fc.property(fc.nat(1000), (seed) => {
      const all = logprobsOf(fakeLogits([seed], vocabSize), 0, {count: -1, tokenIds: null});
      expect(all).toHaveLength(vocabSize);
      expect(all.reduce((sum, {logprob}) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5);
    }),
    {seed: 5},
  );
});

const sequence = fc.record({
  length: fc.oneof(fc.integer({min: 1, max: 4}), fc.integer({min: 1, max: 90})),
  seed: fc.integer({min: 1, max: 3}),
  temperature: fc.constantFrom(0, 1.5),
  logprobs: fc.option(fc.integer({min: 0, max: 5})),
  promptLogprobs: fc.option(fc.integer({min: 0, max: 3})),
  repetitionPenalty: fc.constantFrom(1, 1.7),
});

it('in the engine they are those of the model, at every position, in any company', async () => {
  const shape = fc.record({
    maxNumBatchedTokens: fc.constantFrom(1, 3, 16, 64),
    kvCacheTokens: fc.constantFrom(112, 200, 600),
    enablePrefixCaching: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(sequence, {minLength: 1, maxLength: 5}),
      shape,
      fc.constantFrom(2, 16, 33),
      async (sequences, options, maxExtraLogits) => {
        const {core, runner} = buildEngine(
          {maxModelLen: 112, ...options},
          {numRows: 4, rowCapacity: 112, maxExtraLogits},
        );
        core.addRequests(
          sequences.map(({length, seed, ...sampling}, index) =>
            engineRequest(String(index), fakePrompt(length, seed), {...sampling, seed: 9n, maxTokens: 6}),
          ),
        );
        const steps = await runToEnd(core);
        expect(runner.batches.length).toBeGreaterThan(0);
        for (const [index, {length, seed, logprobs, promptLogprobs}] of sequences.entries()) {
          const prompt = fakePrompt(length, seed);
          const outputs = outputsOf(steps, String(index));
          const tokenIds = [...prompt, ...outputs.flatMap(({newTokenIds}) => newTokenIds)];
          expect(tokenIds).toHaveLength(length + 6);
          const at = (position: number, count: number) =>
            referenceLogprobs(fakeLogits(tokenIds.slice(0, position), vocabSize), tokenIds[position]!, {
              count,
              tokenIds: null,
            });

          const made = outputs.flatMap((output) => output.logprobs ?? []);
          expect(made).toHaveLength(logprobs === null ? 0 : 6);
          made.forEach((entries, offset) => {
            expectSame(entries, at(length + offset, logprobs ?? 0));
          });

          const [first, ...later] = outputs;
          expect(later.every((output) => output.promptLogprobs === null)).toBe(true);
          if (promptLogprobs === null) expect(first!.promptLogprobs).toBeNull();
          else {
            expect(first!.numCachedTokens).toBe(0);
            expect(first!.promptLogprobs).toHaveLength(length);
            first!.promptLogprobs!.forEach((entries, position) => {
              if (position === 0) expect(entries).toBeNull();
              else expectSame(entries!, at(position, promptLogprobs));
            });
          }
        }
      },
    ),
    {numRuns: 120, seed: 2},
  );
});
