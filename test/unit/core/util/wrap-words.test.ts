import {expect, it} from 'vitest';
import {wrapWords} from '../../../../src/core/util/wrap-words.ts';

it.each([
  ['short', 10, ['short']],
  ['two words', 5, ['two', 'words']],
  ['averylongword x', 5, ['averylongword', 'x']],
  ['exactly five', 12, ['exactly five']],
  ['', 5, ['']],
])('%j at %i', (text, width, expected) => {
  expect(wrapWords(text, width)).toEqual(expected);
});
