/** Bare text becomes JSON by the schema of its parameter. */
import {describe, expect, it} from 'vitest';
import {coerceValue, isPlainString} from '../../../../../src/core/parsers/argument-readers/coerce-value.ts';
import type {JsonSchema} from '../../../../../src/core/parsers/output-parser.ts';

const rows: readonly [text: string, schema: JsonSchema | undefined, json: string][] = [
  ['01234', {type: 'string'}, '"01234"'],
  ['true', {type: 'string'}, '"true"'],
  ['null', {type: ['string', 'null']}, 'null'],
  ['nothing', {type: ['string', 'null']}, '"nothing"'],
  ['12345678901234567890', {type: 'number'}, '12345678901234567890'],
  ['5.0', {type: 'number'}, '5'],
  ['1e999', {type: 'number'}, '"1e999"'],
  ['2026-01-15', {type: 'integer'}, '"2026-01-15"'],
  ['FALSE', {type: 'bool'}, 'false'],
  ['1', {type: 'boolean'}, 'true'],
  ['[3, "1"]', {type: 'array', items: {type: 'integer'}}, '[3,1]'],
  ['{"n": "4"}', {type: 'dict', properties: {n: {type: 'int'}}}, '{"n":4}'],
  ['7', {anyOf: [{type: 'null'}, {oneOf: [{type: 'integer'}]}]}, '7'],
  ['2', {enum: [1, 2]}, '2'],
  ['two', {enum: [1, 'two']}, '"two"'],
  ['{"a": [1]}', {type: 'integer'}, '{"a": [1]}'],
  ['12', undefined, '"12"'],
];

describe('coerceValue', () => {
  it.each(rows)('%s by %j is %s', (text, schema, json) => {
    expect(coerceValue(text, schema)).toBe(json);
  });

  it('streams only what cannot become another type', () => {
    expect(isPlainString({type: 'string'})).toBe(true);
    expect(isPlainString(undefined)).toBe(true);
    expect(isPlainString({type: ['string', 'null']})).toBe(false);
    expect(isPlainString({anyOf: [{type: 'string'}, {type: 'integer'}]})).toBe(false);
  });
});
