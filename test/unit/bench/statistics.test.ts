import {expect, it} from 'vitest';
import {summarize} from '../../../src/bench/statistics.ts';

it('interpolates percentiles between ranks and takes the population deviation, as numpy', () => {
  const {mean, median, std, max, percentiles} = summarize([4, 1, 3, 2], [25, 90, 99.9]);
  expect({mean, median, max}).toEqual({mean: 2.5, median: 2.5, max: 4});
  expect(std).toBeCloseTo(Math.sqrt(1.25), 12);
  expect(percentiles.get(25)).toBeCloseTo(1.75, 12);
  expect(percentiles.get(90)).toBeCloseTo(3.7, 12);
  expect(percentiles.get(99.9)).toBeCloseTo(3.997, 12);
});

it('is all zeros without samples', () => {
  expect(summarize([], [99])).toMatchObject({mean: 0, median: 0, std: 0, max: 0, percentiles: new Map([[99, 0]])});
});
