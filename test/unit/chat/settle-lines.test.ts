import {describe, expect, it} from 'vitest';
import {drawItem} from '../../../src/chat/screen/draw-items.ts';
import {drawOpenBlock} from '../../../src/chat/screen/draw-live.ts';
import {CodeColours} from '../../../src/chat/screen/highlight.ts';
import {drawMarkdown} from '../../../src/chat/screen/markdown.ts';
import {settleLines} from '../../../src/chat/screen/settle-lines.ts';
import {paintNone} from '../../../src/chat/screen/spans.ts';
import {initialView, updateView, type ViewState} from '../../../src/chat/state/view-state.ts';

const width = 30;
const pen = {width, paint: paintNone, colours: new CodeColours()};
const words = (numWords: number, mark = '') =>
  Array.from({length: numWords}, (_, index) => `${mark}word${index}${mark}`).join(' ');

/** A text that comes in pieces, as frames show it. */
function stream(text: string, {pieces = 5, raw = false} = {}) {
  let state: ViewState = initialView('1', {reasoning: 'fold', raw});
  let most = 0;
  for (let start = 0; start < text.length; start += pieces) {
    state = updateView(state, {type: 'text-delta', text: text.slice(start, start + pieces)}, start);
    state = settleLines(state, width);
    most = Math.max(most, drawOpenBlock(state.answer, raw, pen).length);
  }
  return {state, most};
}

function shown({items, answer, isRaw}: ViewState): string[] {
  const lines = items.slice(1).flatMap((item) => drawItem(item, pen));
  return [...lines, ...(answer.rest === '' ? [] : drawOpenBlock(answer, isRaw, pen))].map((line) => line.trimEnd());
}

const wholeParagraph = (text: string) => drawMarkdown(text, pen).map((line) => line.trimEnd());

describe('settleLines', () => {
  it.each([1, 3, 7, 50, 10_000])('shows a long paragraph as one would without it, pieces of %i', (pieces) => {
    const text = words(200);
    const {state, most} = stream(text, {pieces});
    expect(shown(state)).toEqual(wholeParagraph(text));
    expect(most).toBeLessThan(4);
  });

  it('goes on below the text of a list item', () => {
    const text = `- ${words(60)}`;
    const {state, most} = stream(text);
    expect(shown(state)).toEqual(wholeParagraph(text));
    expect(most).toBeLessThan(4);
  });

  it('keeps marks that are open until they are closed', () => {
    const text = `${words(20)} **${words(20)}** ${words(20)} \`${words(12)}\` [${words(12)}](http://a) ${words(40, '*')}`;
    const {state} = stream(text);
    expect(shown(state)).toEqual(wholeParagraph(text));
    expect(state.items.length).toBeGreaterThan(3);
  });

  it.each([
    {name: 'a sum', text: `${words(5)} 1 + 1 - 2 * 3 = 4 # no. > 5 ${words(20)} 1. one 2) two - three`},
    {name: 'wide signs', text: '漢字 かな 😀 '.repeat(40)},
    {name: 'no blanks', text: 'x'.repeat(200)},
    {name: 'a quote', text: `> ${words(40)}`},
    {name: 'a heading', text: `# ${words(40)}`},
    {name: 'a table', text: `| a | b |\n|---|---|\n${`| ${words(4)} | ${words(6)} |\n`.repeat(5)}`.trim()},
  ])('says $name once', ({text}) => {
    expect(shown(stream(text, {pieces: 3}).state)).toEqual(wholeParagraph(text));
  });

  it('takes lines of raw text as they stand', () => {
    const text = `**${words(50)}`;
    const {state, most} = stream(text, {raw: true});
    expect(shown(state).join(' ')).toBe(text);
    expect(most).toBeLessThan(4);
  });
});
