import {describe, expect, it} from 'vitest';
import {thinkingBudget} from '../../../../src/core/sampling/logits-processors/thinking-budget.ts';
import {samplingParams} from '../../../support/sampling-params.ts';

const [open, close, word] = [1, 2, 5];

/** What comes when the model always wants `wanted`, or its list in turn. */
function continuation(
  wanted: number | readonly number[],
  {
    maxTokens,
    prompt = [],
    openTokenIds = [open],
    closeTokenIds = [close],
    startsInside = false,
    numTokens = 6,
  }: {
    maxTokens: number;
    prompt?: number[];
    openTokenIds?: number[];
    closeTokenIds?: number[];
    startsInside?: boolean;
    numTokens?: number;
  },
): number[] {
  const budget = {maxTokens, openTokenIds, closeTokenIds, startsInside};
  const processor = thinkingBudget(samplingParams({thinkingBudget: budget}), prompt);
  const output: number[] = [];
  while (output.length < numTokens) {
    const logits = new Float32Array(8);
    logits[typeof wanted === 'number' ? wanted : wanted[output.length % wanted.length]!] = 9;
    processor?.apply(logits, output);
    output.push(logits.indexOf(Math.max(...logits)));
  }
  return output;
}

describe('thinkingBudget', () => {
  it('is nothing without a budget', () => {
    expect(thinkingBudget(samplingParams(), [])).toBeNull();
  });

  it.each<[string, number[], number, number[]]>([
    ['counts behind the marker in the prompt', [open], 2, [word, word, close, word, word, word]],
    ['counts tokens of the prompt, too', [open, word], 2, [word, close, word, word, word, word]],
    ['closes at once with nothing left', [open, word, word, word], 2, [close, word, word, word, word, word]],
    ['closes at once with a budget of zero', [open], 0, [close, word, word, word, word, word]],
    ['leaves text alone', [word, word], 0, [word, word, word, word, word, word]],
    ['leaves text behind a closed thought alone', [open, word, close, word], 1, [word, word, word, word, word, word]],
    ['counts anew in the second thought', [open, word, close, open], 1, [word, close, word, word, word, word]],
  ])('%s', (_name, prompt, maxTokens, expected) => {
    expect(continuation(word, {maxTokens, prompt})).toEqual(expected);
  });

  it('sees markers in the output', () => {
    expect(continuation([word, open, word, word, word, word], {maxTokens: 2})).toEqual([
      word,
      open,
      word,
      word,
      close,
      word,
    ]);
    expect(continuation([open, word, close, word, open, word], {maxTokens: 1, numTokens: 7})).toEqual([
      open,
      word,
      close,
      word,
      open,
      word,
      close,
    ]);
  });

  it('counts from the first token where the answer begins in a thought', () => {
    expect(continuation(word, {maxTokens: 2, prompt: [word, word], startsInside: true, numTokens: 4})).toEqual([
      word,
      word,
      close,
      word,
    ]);
    expect(continuation(word, {maxTokens: 2, prompt: [open, word], startsInside: true, numTokens: 3})).toEqual([
      word,
      close,
      word,
    ]);
  });

  it('does nothing about a thought that ends in time', () => {
    const wanted = [word, close, word, word, word, word];
    expect(continuation(wanted, {maxTokens: 3, prompt: [open]})).toEqual(wanted);
  });

  it('writes markers of several tokens whole', () => {
    const markers = {openTokenIds: [3, 1], closeTokenIds: [3, 4, 2]};
    expect(continuation(word, {maxTokens: 1, prompt: [3, 1], ...markers})).toEqual([word, 3, 4, 2, word, word]);
    expect(continuation(word, {maxTokens: 1, prompt: [1], ...markers})).toEqual(Array(6).fill(word));
  });
});
