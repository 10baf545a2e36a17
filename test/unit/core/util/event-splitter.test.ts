import {describe, expect, it} from 'vitest';
import {EventSplitter} from '../../../../src/core/util/event-splitter.ts';

function split(...reads: string[]): string[] {
  const splitter = new EventSplitter();
  return [...reads.flatMap((read) => splitter.push(Buffer.from(read))), ...splitter.finish()];
}

describe('EventSplitter', () => {
  it.each([
    ['one whole event', ['data: {"a":1}\n\n'], ['{"a":1}']],
    ['ends of lines of both kinds', ['data: [DONE]\r\n\n'], ['[DONE]']],
    ['a whole event behind the beginning of another one', ['data: a\n', 'data: b\n\n'], ['a\nb']],
    ['a whole event behind a line that is cut', ['data: a', 'data: b\n\n'], ['adata: b']],
    ['nothing but an empty line', ['\n\n', '\n', ''], []],
    ['a comment', [': still here\n\n', 'data:x\n\n'], ['x']],
  ])('reads %s', (_, reads, events) => {
    expect(split(...reads)).toEqual(events);
  });

  it('gives the same events however the bytes are cut', () => {
    const bytes = Buffer.from('data: {"text":"é😀"}\r\n\r\n: c\n\ndata: {"a":\ndata: 1}\n\ndata: [DONE]\n\n');
    for (let size = 1; size <= bytes.length; size++) {
      const splitter = new EventSplitter();
      const events: string[] = [];
      for (let at = 0; at < bytes.length; at += size) events.push(...splitter.push(bytes.subarray(at, at + size)));
      expect(events).toEqual(['{"text":"é😀"}', '{"a":\n1}', '[DONE]']);
    }
  });
});
