import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {chunkLength} from '../../../../../src/core/engine/scheduler/chunk-length.ts';

/** Cuts a prompt with the same budget in every step. */
function cut(numTokens: number, budget: number): number[] {
  const chunks: number[] = [];
  for (let missing = numTokens; missing > 0; ) {
    const length = chunkLength(missing, budget, true);
    chunks.push(length);
    missing -= length;
  }
  return chunks;
}

describe('a chunk', () => {
  test.each([
    [100, 256, 100, 'the whole prompt'],
    [1, 256, 1, 'a prompt of one token'],
    [300, 256, 256, 'the budget'],
    [257, 256, 255, 'not so much that a single token is left'],
    [129, 256, 127, 'no row alone in the last tile, and no token alone afterwards'],
    [400, 129, 128, 'no row alone in the last tile'],
    [17, 16, 15, 'neither of both'],
    [3, 2, 0, 'nothing when every cut would be bad'],
    [50, 1, 0, 'nothing when the budget is a single token'],
    [50, 0, 0, 'nothing without a budget'],
  ])('of %i missing tokens and a budget of %i has %i: %s', (numMissing, budget, expected) => {
    expect(chunkLength(numMissing, budget, false)).toBe(expected);
  });

  test('is a bad one rather than none when it is forced', () => {
    expect(chunkLength(3, 2, true)).toBe(2);
    expect(chunkLength(50, 1, true)).toBe(1);
  });
});

test('with a budget of three or more no cut leaves a row alone, and every prompt ends', () => {
  fc.assert(
    fc.property(fc.integer({min: 2, max: 3000}), fc.integer({min: 4, max: 600}), (numTokens, budget) => {
      const chunks = cut(numTokens, budget);
      expect(chunks.reduce((sum, length) => sum + length, 0)).toBe(numTokens);
      for (const length of chunks) {
        expect(length).toBeLessThanOrEqual(budget);
        expect(length % 16).not.toBe(1);
      }
    }),
  );
});
