import {expect, it} from 'vitest';
import {drawItem} from '../../../src/chat/screen/draw-items.ts';
import {CodeColours} from '../../../src/chat/screen/highlight.ts';
import {paintNone} from '../../../src/chat/screen/spans.ts';

const pen = {width: 79, paint: paintNone, colours: new CodeColours()};

it('shows the beginning of a question that is very long', () => {
  const lines = drawItem({type: 'question', text: 'word '.repeat(40_000)}, pen);
  expect(lines.length).toBeLessThan(20);
  expect(lines[1]).toMatch(/^> word word/);
  expect(lines.at(-2)).toBe('  … 199000 more characters');
});

it('shows all of a question of usual length', () => {
  const text = Array.from({length: 50}, (_, line) => `line ${line}`).join('\n');
  expect(drawItem({type: 'question', text}, pen).map((line) => line.slice(2))).toEqual(['', ...text.split('\n'), '']);
});

it('sets a listing off, and what follows a result', () => {
  expect(drawItem({type: 'listing', title: 'Title', text: 'a  b'}, pen)).toEqual(['', 'Title', '  a  b']);
  expect(drawItem({type: 'result', name: 'n', text: 'one\ntwo\n', isError: false}, pen)).toEqual([
    '⎿ one',
    '  two',
    '',
  ]);
  const long = drawItem({type: 'result', name: 'n', text: 'line\n'.repeat(20), isError: false}, pen);
  expect(long.slice(-2)).toEqual(['  … 12 more lines (ctrl-o shows)', '']);
});
