/** Texts about constraints that no backend can take, and constraints that are none of this check's business. */
import {describe, expect, it} from 'vitest';
import {parseChatCompletionRequest} from '../../../../../src/core/protocol/openai/chat-completion.ts';
import {checkConstraint} from '../../../../../src/core/protocol/openai/constraint-check.ts';

const check = (fields: object) => () => checkConstraint(parseChatCompletionRequest({messages: [], ...fields}));

function nested(levels: number): object {
  return levels === 1 ? {} : {items: nested(levels - 1)};
}

const schemaFormat = (schema: object) => ({response_format: {type: 'json_schema', json_schema: {name: 's', schema}}});

describe('a constraint', () => {
  it.each([
    ['an empty choice', {choice: []}, "Choice '[]' cannot be an empty list"],
    ['a blank grammar', {grammar: ' \n'}, 'structured_outputs.grammar cannot be an empty string'],
    ['an empty JSON text', {json: ''}, 'structured_outputs.json cannot be an empty string'],
    ['a JSON text that is none', {json: '{"a":'}, 'Invalid JSON grammar specification.'],
    ['a NUL in a regex', {regex: 'a\0b'}, "structured_outputs.regex must not contain a NUL character ('\\x00')"],
    [
      'json_object false',
      {json_object: false},
      'structured_outputs.json_object must be True if set; omit structured_outputs to disable structured outputs',
    ],
    [
      'a JSON text that nests too deeply',
      {json: JSON.stringify(nested(65))},
      'The JSON schema is nested too deeply: objects and arrays may nest at most 64 levels',
    ],
  ])('is refused for %s', (_, structured_outputs, message) => {
    expect(check({structured_outputs})).toThrow(expect.objectContaining({name: 'ValidationError', message}));
  });

  it('may nest 64 levels, and no more, in a response format too', () => {
    expect(check(schemaFormat(nested(64)))).not.toThrow();
    expect(check(schemaFormat(nested(65)))).toThrow('at most 64 levels');
    expect(check({structured_outputs: {json: JSON.stringify(nested(64))}})).not.toThrow();
  });

  it.each([
    {},
    {response_format: {type: 'text'}},
    {response_format: {type: 'json_object'}},
    {structured_outputs: {choice: ['']}},
    {structured_outputs: {json: 'true'}},
    {structured_outputs: {regex: ''}},
    schemaFormat({}),
  ])('passes: %j', (fields) => {
    expect(check(fields)).not.toThrow();
  });
});
