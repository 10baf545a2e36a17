import {describe, expect, it} from 'vitest';
import {comparePrompts, orderOfRound} from '../../../../bench/engine/rounds.ts';

it('each round begins with the other side', () => {
  expect([0, 1, 2].map(orderOfRound)).toEqual([
    ['ours', 'llama'],
    ['llama', 'ours'],
    ['ours', 'llama'],
  ]);
});

describe('comparePrompts', () => {
  it('accepts equal counts and answers of different length', () => {
    expect(comparePrompts([150, 1000], [150, 1010])).toEqual([]);
  });

  it('names prompts that one side counts differently', () => {
    expect(comparePrompts([150, 150, 1000], [120, 150, 700])).toEqual([expect.stringContaining('150/120, 1000/700')]);
  });

  it('has nothing to compare when no server was measured', () => {
    expect(comparePrompts([], [])).toEqual([]);
  });
});
