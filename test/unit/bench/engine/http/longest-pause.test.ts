import {describe, expect, it} from 'vitest';
import {longestPause} from '../../../../../bench/engine/http/measure-server.ts';

describe('longestPause', () => {
  const chunks = [0, 50, 60, 100, 130, 140, 200];

  it.each([
    {name: 'takes the largest gap within the time', from: 55, to: 135, expected: 40},
    {name: 'counts a gap that begins before', from: 10, to: 55, expected: 50},
    {name: 'counts a gap that ends after', from: 135, to: 150, expected: 60},
    {name: 'leaves out what lies before and after', from: 105, to: 128, expected: 30},
    {name: 'takes what is left of a stream that ends', from: 135, to: 900, expected: 60},
  ])('$name', ({from, to, expected}) => {
    expect(longestPause(chunks, from, to)).toBe(expected);
  });
});
