import {describe, expect, it} from 'vitest';
import {chatMessageSchema} from '../../../../../src/core/protocol/openai/chat-message-schema.ts';

/** `type at path` of each fault. */
function faults(message: unknown): string[] {
  const {error} = chatMessageSchema.safeParse(message);
  return (error?.issues ?? []).map((issue) => `${issue.message} at ${issue.path.join('.')}`);
}

const text = {type: 'text', text: 'a'};

describe('parts of a message', () => {
  it.each([['plain'], [{type: 'thinking', thinking: 'x'}], [{type: 'tool_reference', name: 'f'}], [{type: 'banana'}]])(
    'let %j stand next to an ordinary part only',
    (part) => {
      expect(faults({role: 'user', content: [part, text]})).toEqual([]);
      expect(faults({role: 'user', content: [part]})).toHaveLength(1);
      expect(faults({role: 'critic', content: [part]})).toEqual([]);
    },
  );

  it('are never numbers', () => {
    expect(faults({role: 'critic', content: [5]})).toEqual(['dict_type at content.0']);
    expect(faults({role: 'user', content: [text, 5]})).toEqual(['dict_type at content.1']);
  });

  it('name found tools for the role tool only', () => {
    const content = [{type: 'tool_reference', name: 'f'}];
    expect(faults({role: 'tool', content})).toEqual([]);
    expect(faults({role: 'user', content})).toEqual(['literal_error at content.0.type']);
  });

  it('hold whole characters', () => {
    expect(faults({role: 'user', content: [text, '\ud800']})).toEqual(['string_unicode at content.1']);
    expect(faults({role: 'user', content: [text, {type: 'text', text: '\udc00'}]})).toHaveLength(1);
  });
});

describe('tool calls of a message', () => {
  const call = {id: '1', type: 'function', function: {name: 'f', arguments: '{}'}};
  const faultsOf = (fields: object) => faults({role: 'assistant', tool_calls: [{...call, ...fields}]});

  it('need a type, a name and arguments as text', () => {
    expect(faultsOf({})).toEqual([]);
    expect(faultsOf({type: undefined})).toEqual(['missing at tool_calls.0.type']);
    expect(faultsOf({function: null})).toEqual(['dict_type at tool_calls.0.function']);
    expect(faultsOf({function: {name: 'f', arguments: {}}})).toEqual([
      'string_type at tool_calls.0.function.arguments',
    ]);
    expect(faultsOf({function: {arguments: ''}})).toEqual(['missing at tool_calls.0.function.name']);
  });

  it('of another type are left to the renderer', () => {
    expect(faultsOf({type: 'custom', function: undefined})).toEqual([]);
  });

  it('count for the assistant only', () => {
    expect(faults({role: 'user', content: '', tool_calls: [{}]})).toEqual([]);
    expect(faults({role: 'user', content: '', tool_calls: [5]})).toEqual(['dict_type at tool_calls.0']);
  });
});
