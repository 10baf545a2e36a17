import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {gaps, median, spread} from '../../../../bench/engine/statistics.ts';

describe('median', () => {
  it.each([
    {values: [7], expected: 7},
    {values: [9, 1, 5], expected: 5},
    {values: [10, 9, 1, 2], expected: 5.5},
  ])('of $values is $expected', ({values, expected}) => {
    expect(median(values)).toBe(expected);
  });

  it('leaves its input alone and has half of the values on each side', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), {minLength: 1}), (values) => {
        const before = [...values];
        const middle = median(values);
        expect(values).toEqual(before);
        expect(values.filter((value) => value < middle).length).toBeLessThanOrEqual(values.length / 2);
        expect(values.filter((value) => value > middle).length).toBeLessThanOrEqual(values.length / 2);
      }),
    );
  });
});

it('spread gives median, smallest and largest', () => {
  expect(spread([3, 1, 8])).toEqual({median: 3, min: 1, max: 8});
});

it('gaps are the distances between neighbours', () => {
  expect(gaps([10, 12, 20, 21])).toEqual([2, 8, 1]);
  expect(gaps([10])).toEqual([]);
});
