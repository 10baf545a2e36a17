import {describe, expect, it} from 'vitest';
import {endsInRepetition} from '../../../../src/core/sampling/repetition-detection.ts';

const upTo = (maxPatternSize: number, minCount: number, minPatternSize = 1) => ({
  minPatternSize,
  maxPatternSize,
  minCount,
});

describe('endsInRepetition', () => {
  it.each([
    ['one token', [9, 5, 5, 5], upTo(1, 3)],
    ['a pattern of two', [5, 1, 2, 1, 2], upTo(4, 2)],
    ['the largest size', [1, 2, 3, 1, 2, 3, 1, 2, 3], upTo(3, 3)],
    ['a size between', [7, 1, 2, 1, 2, 1, 2], upTo(3, 3, 2)],
  ])('finds %s', (_name, tokenIds, detection) => {
    expect(endsInRepetition(tokenIds, detection)).toBe(true);
  });

  it.each([
    ['nothing', [], upTo(3, 2)],
    ['too few repeats', [5, 5], upTo(2, 3)],
    ['a pattern that is too long', [1, 2, 3, 1, 2, 3], upTo(2, 2)],
    ['a pattern that is too short', [5, 5, 5], upTo(3, 3, 2)],
    ['a repeat that has ended', [5, 5, 5, 1], upTo(2, 3)],
  ])('sees %s', (_name, tokenIds, detection) => {
    expect(endsInRepetition(tokenIds, detection)).toBe(false);
  });
});
