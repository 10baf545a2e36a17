import {describe, expect, it} from 'vitest';
import {editByKey, editorOf, moveLine} from '../../../src/chat/input/editor.ts';
import {InputHistory} from '../../../src/chat/input/history.ts';
import {earlyKeys, type Key, KeyReader} from '../../../src/chat/input/key-reader.ts';

const keysOf = (...chunks: string[]): Key[] => {
  const reader = new KeyReader();
  return chunks.flatMap((chunk) => reader.push(chunk));
};
const key = (name: string): Key => ({type: 'key', name});

describe('KeyReader', () => {
  it.each([
    ['\r', key('enter')],
    ['\n', key('ctrl-j')],
    ['\u0003', key('ctrl-c')],
    ['\u001b[A', key('up')],
    ['\u001b', key('escape')],
    ['\u001b\r', key('alt-enter')],
    ['\u001b[13;2u', key('alt-enter')],
    ['\u001bb', key('alt-b')],
    ['漢字', {type: 'text', text: '漢字'}],
  ])('reads %j', (bytes, expected) => {
    expect(keysOf(bytes)).toEqual([expected]);
  });

  it('takes a paste as text, however it is cut', () => {
    const bytes = '\u001b[200~one\rtwo\u001b[31m\nthree\u001b[201~x';
    const expected = [
      {type: 'paste', text: 'one\ntwo\u001b[31m\nthree'},
      {type: 'text', text: 'x'},
    ];
    for (let cut = 2; cut < bytes.length; cut++)
      expect(keysOf(bytes.slice(0, cut), bytes.slice(cut))).toEqual(expected);
  });

  it('drops sequences that nobody knows', () => {
    expect(keysOf('\u001b[99;5~a')).toEqual([{type: 'text', text: 'a'}]);
  });
});

describe('editing', () => {
  it.each([
    ['backspace', 'ab👩‍👩‍👧', 'ab'],
    ['backspace', 'e\u0301', ''],
    ['ctrl-w', 'two words ', 'two '],
    ['ctrl-u', 'a\nbc', 'a\n'],
  ])('%s on %j', (name, text, expected) => {
    expect(editByKey(editorOf(text), name)?.text).toBe(expected);
  });

  it('moves by lines and says when there is none', () => {
    const up = moveLine(editorOf('long line\nabc'), -1);
    expect(up?.cursor).toBe(3);
    expect(moveLine(up!, -1)).toBeNull();
  });
});

describe('InputHistory', () => {
  it('walks back and returns to what was being typed', async () => {
    const history = new InputHistory(null, ['first', 'second']);
    expect(history.walk(-1, 'draft')).toBe('second');
    expect(history.walk(-1, 'second')).toBe('first');
    expect(history.walk(-1, 'first')).toBeNull();
    expect(history.walk(1, 'first')).toBe('second');
    expect(history.walk(1, 'second')).toBe('draft');
  });
});

it.each([
  ['hello\n', 'hello\r'],
  ['one\ntwo\n', 'one\ntwo\r'],
  ['half', 'half'],
])('keys before the screen: %j is %j', (lines, keys) => expect(earlyKeys(lines)).toBe(keys));
