import stringWidth from 'string-width';
import {expect, it} from 'vitest';
import {graphemes, span, textWidth} from '../../../src/chat/screen/spans.ts';

const basicPlane = Array.from({length: 0xfff0 - 0x20}, (_, index) => String.fromCharCode(0x20 + index)).filter(
  (sign) => !/\p{Surrogate}/u.test(sign),
);

it('knows the width of common signs without tables, and is right about all others', () => {
  const wrong = basicPlane.filter((sign) => textWidth(sign) !== stringWidth(sign));
  expect(wrong).toEqual([]);
});

it('draws half a sign, as a broken text has it, as one that is unknown', () => {
  expect(span('a\ud83d b\ude00 😀').text).toBe('a\ufffd b\ufffd 😀');
});

it('takes long texts apart in no time, whether they have blanks or not', () => {
  for (const sign of ['wörter 漢字 😀 ', '😀', 'ก็']) {
    const text = sign.repeat(100_000 / sign.length);
    const signs = graphemes(text);
    expect(signs.join('')).toBe(text);
    expect(signs.length).toBeGreaterThan(40_000);
  }
}, 2000);

it.each([
  {text: '漢字a', signs: ['漢', '字', 'a']},
  {text: 'か\u3099漢', signs: ['か\u3099', '漢']},
  {text: 'e\u0301 한 \u0301', signs: ['e\u0301', ' ', '한', ' \u0301']},
  {text: 'e\u0301한', signs: ['e\u0301', '한']},
  {text: 'a\n漢', signs: ['a', '\n', '漢']},
])('takes $text apart where a person would', ({text, signs}) => {
  expect(graphemes(text)).toEqual(signs);
});
