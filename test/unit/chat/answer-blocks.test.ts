import {describe, expect, it} from 'vitest';
import {type AnswerBlock, noBlocks, takeBlocks} from '../../../src/chat/state/answer-blocks.ts';

const document =
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
    .map(({type, text, hasGap}) => `${hasGap ? '\n' : ''}${type}:${text}`.replaceAll('\ncode:', '\n'))
    .join('\n')
    .replaceAll('\ncode:', '\n');

describe('takeBlocks', () => {
  it('ends blocks where nothing that follows can change them', () => {
    expect(blocksOf([document]).map(({type, text}) => [type, text])).toEqual([
      ['markdown', 'A paragraph\nof two lines'],
      ['markdown', '- one\n  - inner'],
      ['markdown', '- two'],
      ['code', 'let x;\n\n// # no heading'],
      ['markdown', '| a |\n|---|\n| 1 |'],
      ['markdown', 'End'],
    ]);
  });

  it('gives the same for every cut in two', () => {
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
    expect(blocks).toEqual([{type: 'raw', text: '# a\n\n- b', code: null, hasGap: false}]);
  });

  it('tells the language of code, and the lines before in the same fence', () => {
    const first = takeBlocks(noBlocks, '```ts title\nlet a;\n', {isEnd: false, isRaw: false, maxLines: 8});
    const second = takeBlocks(first.state, 'let b;\n', {isEnd: false, isRaw: false, maxLines: 8});
    expect(first.blocks[0]?.code).toMatchObject({language: 'ts', before: ''});
    expect(second.blocks[0]?.code).toMatchObject({language: 'ts', before: 'let a;\n'});
  });
});
