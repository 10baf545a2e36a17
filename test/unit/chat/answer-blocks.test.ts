import {describe, expect, it} from 'vitest';
import {type AnswerBlock, noBlocks, takeBlocks} from '../../../src/chat/state/answer-blocks.ts';

const flat =
  'A paragraph\nof two lines\n\n- one\n  - inner\n- two\n\n```js\nlet x;\n\n// # no heading\n```\n\n| a |\n|---|\n| 1 |\n\nEnd';

function blocksOf(pieces: string[]): AnswerBlock[] {
  let state = noBlocks;
  const all: AnswerBlock[] = [];
  for (const [index, piece] of pieces.entries()) {
    const taken = takeBlocks(state, piece, {isEnd: index === pieces.length - 1, isRaw: false, maxLines: 8});
    state = taken.state;
    all.push(...taken.blocks);
  }
  return all;
}

/** Lines of code may come alone or together; what is drawn is the same. */
const drawn = (blocks: AnswerBlock[]) =>
  blocks
    .map(({type, text, hasGap, indent}) =>
      `${hasGap ? '\n' : ''}${type}:${indent && type !== 'code' ? `${indent} ` : ''}${text}`.replaceAll(
        '\ncode:',
        '\n',
      ),
    )
    .join('\n')
    .replaceAll('\ncode:', '\n');

describe('takeBlocks', () => {
  it('ends blocks where nothing that follows can change them', () => {
    expect(blocksOf([flat]).map(({type, text, indent}) => [type, text, indent])).toEqual([
      ['markdown', 'A paragraph\nof two lines', 0],
      ['markdown', '- one', 0],
      ['markdown', '- inner', 2],
      ['markdown', '- two', 0],
      ['code', 'let x;\n\n// # no heading', 0],
      ['markdown', '| a |\n|---|\n| 1 |', 0],
      ['markdown', 'End', 0],
    ]);
  });

  it('takes what is indented for text, and its fences for code', () => {
    const text =
      '1. **a**\n   goes on\n\n    text\n\n\t- item\n     wide\n\n    ```js\n    if (x)\n      y;\n    ```\n one blank';
    expect(blocksOf([text]).map(({type, text, indent}) => [type, text, indent])).toEqual([
      ['markdown', '1. **a**\n   goes on', 0],
      ['markdown', 'text', 4],
      ['markdown', '- item\n wide', 4],
      ['code', 'if (x)\n  y;', 4],
      ['markdown', ' one blank', 0],
    ]);
  });

  it('gives the same for every cut in two', () => {
    const document = `${flat}\n\n1. a\n\n    text\n    - inner\n        - more\n\n    ~~~\n    code\n      more\n    ~~~\n${'  - item\n'.repeat(12)}`;
    const whole = drawn(blocksOf([document]));
    for (let cut = 1; cut < document.length; cut++) {
      expect(drawn(blocksOf([document.slice(0, cut), document.slice(cut)]))).toBe(whole);
    }
  });

  it('cuts a paragraph that does not end', () => {
    const {blocks, state} = takeBlocks(noBlocks, 'line\n'.repeat(20), {isEnd: false, isRaw: false, maxLines: 8});
    expect(blocks.map(({text}) => text.split('\n').length)).toEqual([8, 8]);
    expect(state.rest).toBe('line\n'.repeat(4));
  });

  it('keeps every line as it stands when raw', () => {
    const {blocks} = takeBlocks(noBlocks, '# a\n\n- b', {isEnd: true, isRaw: true, maxLines: 8});
    expect(blocks).toEqual([{type: 'raw', text: '# a\n\n- b', code: null, hasGap: false, indent: 0}]);
  });

  it('tells the language of code, and the lines before in the same fence', () => {
    const first = takeBlocks(noBlocks, '```ts title\nlet a;\n', {isEnd: false, isRaw: false, maxLines: 8});
    const second = takeBlocks(first.state, 'let b;\n', {isEnd: false, isRaw: false, maxLines: 8});
    expect(first.blocks[0]?.code).toMatchObject({language: 'ts', before: ''});
    expect(second.blocks[0]?.code).toMatchObject({language: 'ts', before: 'let a;\n'});
  });

  it('takes long tables in parts that have the head again', () => {
    const rows = Array.from({length: 100}, (_, row) => `| ${row} |`);
    const all = blocksOf([...`| a |\n|---|\n${rows.join('\n')}\n\nEnd`].map(String));
    const tables = all.filter(({text}) => text.startsWith('| a |\n|---|\n| '));
    expect(tables.length).toBeGreaterThan(1);
    expect(tables.flatMap(({text}) => text.split('\n').slice(2))).toEqual(rows);
    expect(all).toHaveLength(tables.length + 1);
  });

  it('draws no head without rows below it', () => {
    const rows = Array.from({length: 38}, (_, row) => `| ${row} |`);
    expect(blocksOf(`| a |\n|---|\n${rows.join('\n')}\n\nEnd`.split(/(?<=\n)/)).map(({text}) => text)).toEqual([
      `| a |\n|---|\n${rows.join('\n')}`,
      'End',
    ]);
  });

  it.each([['word '.repeat(3000)], ['x'.repeat(15_000)]])('keeps what is open short in a line without end', (line) => {
    let state = noBlocks;
    let text = '';
    for (const piece of line.match(/.{1,7}/g)!) {
      const taken = takeBlocks(state, piece, {isEnd: false, isRaw: false, maxLines: 8});
      state = taken.state;
      text += taken.blocks.map((block) => block.text).join('');
      expect(state.rest.length).toBeLessThan(4100);
    }
    expect((text + state.rest).replaceAll(' ', '')).toBe(line.replaceAll(' ', ''));
  });
});
