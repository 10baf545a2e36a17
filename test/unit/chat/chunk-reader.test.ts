import {describe, expect, it} from 'vitest';
import {ChunkReader} from '../../../src/chat/backend/chunk-reader.ts';
import {withVersion} from '../../../src/chat/backend/server-address.ts';

const chunk = (delta: object, finish_reason: string | null = null) =>
  JSON.stringify({choices: [{index: 0, delta, finish_reason}]});

function read(...chunks: string[]) {
  const reader = new ChunkReader();
  return [...chunks.flatMap((data) => [...reader.read(data)]), ...reader.end()];
}

describe('ChunkReader', () => {
  it('reads thoughts under both names, text and usage', () => {
    const usage = JSON.stringify({choices: [], usage: {prompt_tokens: 3, completion_tokens: 4}});
    expect(
      read(
        chunk({role: 'assistant', content: ''}),
        chunk({reasoning_content: 'a'}),
        chunk({reasoning: 'b'}),
        chunk({content: 'c'}, 'stop'),
        usage,
      ),
    ).toEqual([
      {type: 'reasoning-delta', text: 'a'},
      {type: 'reasoning-delta', text: 'b'},
      {type: 'text-delta', text: 'c'},
      {type: 'finish', finishReason: 'stop', usage: {promptTokens: 3, completionTokens: 4}},
    ]);
  });

  it('joins calls by index, and by order where there is none', () => {
    const start = {id: 'x', function: {name: 'f', arguments: '{'}};
    expect(
      read(chunk({tool_calls: [start]}), chunk({tool_calls: [{function: {arguments: '}'}}]}, 'tool_calls')).slice(
        0,
        -1,
      ),
    ).toEqual([
      {type: 'tool-call-start', index: 0, id: 'x', name: 'f'},
      {type: 'tool-call-delta', index: 0, argumentsText: '{'},
      {type: 'tool-call-delta', index: 0, argumentsText: '}'},
    ]);
  });

  it('throws the message of an error event, and when the answer has no end', () => {
    expect(() => read('{"error":{"message":"boom"}}')).toThrow('boom');
    expect(() => read(chunk({content: 'half'}))).toThrow(/middle of the answer/);
    expect(() => read('<html>')).toThrow(/no JSON/);
  });
});

it.each([
  ['http://h:1', 'http://h:1/v1'],
  ['http://h:1/v1/', 'http://h:1/v1'],
  ['h:8000', 'http://h:8000/v1'],
  ['https://h/api/v3', 'https://h/api/v3'],
])('address %s is %s', (given, expected) => expect(withVersion(given)).toBe(expected));
