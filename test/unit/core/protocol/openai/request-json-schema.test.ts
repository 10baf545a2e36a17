import {describe, expect, it} from 'vitest';
import {CHAT_FIELDS, chatCompletionSchema} from '../../../../../src/core/protocol/openai/chat-completion.ts';
import {
  laxBool,
  laxInt,
  laxInt64,
  laxList,
  laxLiteral,
  laxMap,
  laxObject,
  laxString,
  laxUnion,
  nullable,
  orDefault,
  withDefault,
} from '../../../../../src/core/protocol/openai/lax-types.ts';
import {requestJsonSchema} from '../../../../../src/core/protocol/openai/request-json-schema.ts';

describe('requestJsonSchema', () => {
  it.each([
    ['an integer with a limit', laxInt({ge: 1}), {type: 'integer', minimum: 1}],
    ['a long integer', laxInt64(), {type: 'integer', format: 'int64'}],
    ['a literal', laxLiteral(['a', 'b']), {type: 'string', enum: ['a', 'b']}],
    ['a list', laxList(laxString(), {max: 4}), {type: 'array', items: {type: 'string'}, maxItems: 4}],
    ['a map', laxMap(laxInt()), {type: 'object', additionalProperties: {type: 'integer'}}],
    ['a union', laxUnion([laxString(), laxLiteral(['a'])]), {anyOf: [{type: 'string'}, {type: 'string', enum: ['a']}]}],
    ['null beside a type', nullable(laxBool()), {type: ['boolean', 'null']}],
    ['null for the default', orDefault(laxInt(), 4), {type: ['integer', 'null'], default: 4}],
    ['a default', withDefault(laxBool(), true), {type: 'boolean', default: true}],
  ])('describes %s', (_name, schema, expected) => {
    expect(requestJsonSchema(schema)).toEqual(expected);
  });

  it('requires the fields of an object that have no default', () => {
    const schema = laxObject({
      a: laxInt(),
      b: nullable(laxInt()),
      c: orDefault(laxInt(), 1),
      d: withDefault(laxInt(), 1),
    });
    expect(requestJsonSchema(schema)).toMatchObject({type: 'object', required: ['a']});
  });

  it('has every field of a chat request, all of them with a form', () => {
    const {properties, required} = requestJsonSchema(chatCompletionSchema({maxStopStrings: 4}));
    expect(Object.keys(properties ?? {})).toEqual([...CHAT_FIELDS]);
    expect(required).toEqual(['messages']);
    const formless = Object.entries(properties ?? {}).filter(
      ([, field]) => typeof field !== 'object' || !('type' in field || 'anyOf' in field),
    );
    expect(formless.map(([name]) => name)).toEqual([]);
  });
});
