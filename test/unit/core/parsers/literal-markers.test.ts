/** Markers count when their token was generated; the same characters out of other tokens are text, in any cut. */
import {describe, expect, it} from 'vitest';
import {LiteralMarkers, withoutSplits} from '../../../../src/core/parsers/literal-markers.ts';

const OPEN = '<tool_call>';
const TOKENS = new Map([
  [1, OPEN],
  [2, '</tool_call>'],
]);

/** @param held characters that wait after every token, as in front of a possible stop string */
function read(tokens: readonly (readonly [id: number, text: string])[], held = 0) {
  const markers = new LiteralMarkers(TOKENS);
  let waiting = '';
  let text = '';
  for (const [id, written] of tokens) {
    markers.announce(id, written);
    waiting += written;
    const length = Math.max(0, waiting.length - held);
    text += markers.split(waiting.slice(0, length));
    waiting = waiting.slice(length);
  }
  return text + markers.split(waiting);
}

const spelled = (text: string) => [...text].map((character) => [9, character] as const);

describe.each([0, 1, 5, 40])('with %i characters held back', (held) => {
  it('keeps a marker whose token was generated', () => {
    expect(
      read(
        [
          [9, 'Hi '],
          [1, OPEN],
          [9, '{}'],
          [2, '</tool_call>'],
        ],
        held,
      ),
    ).toBe(`Hi ${OPEN}{}</tool_call>`);
  });

  it.each([
    ['one character each', spelled(`see ${OPEN} here`)],
    ['one token of its own', [[9, `see ${OPEN} here`] as const]],
    ['two tokens', [[9, 'see <tool'] as const, [9, '_call> here'] as const]],
  ])('splits a look-alike out of %s', (_case, tokens) => {
    const text = read(tokens, held);
    expect(text).not.toContain(OPEN);
    expect(withoutSplits(text)).toBe(`see ${OPEN} here`);
  });

  it('tells both apart where they follow each other', () => {
    const text = read([...spelled(OPEN), [1, OPEN], ...spelled(OPEN)], held);
    expect(text.indexOf(OPEN)).toBe(OPEN.length + 1);
    expect(text.lastIndexOf(OPEN)).toBe(OPEN.length + 1);
    expect(withoutSplits(text)).toBe(OPEN.repeat(3));
  });
});

it('leaves everything alone when no marker is a token', () => {
  expect(new LiteralMarkers(new Map()).split(`a ${OPEN}`)).toBe(`a ${OPEN}`);
});
