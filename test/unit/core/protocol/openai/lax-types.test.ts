import {describe, expect, it} from 'vitest';
import type * as z from 'zod';
import {
  laxBool,
  laxDict,
  laxFloat,
  laxInt,
  laxInt64,
  laxIssueOf,
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
import {parseJson} from '../../../../../src/core/util/parse-json.ts';

/** The value, or the types of the errors with their paths. */
function read(schema: z.ZodType, json: string): unknown {
  const result = schema.safeParse(parseJson(json));
  if (result.success) return result.data;
  return result.error.issues.map((issue) => [laxIssueOf(issue).type, ...issue.path].join(' ')).join('; ');
}

describe('laxInt', () => {
  it.each([
    ['4', 4],
    ['4.0', 4],
    ['"4"', 4],
    ['" +4 "', 4],
    ['"4.0"', 4],
    ['"1_000"', 1000],
    ['true', 1],
    ['-1', -1],
    ['1.5', 'int_from_float'],
    ['"1.5"', 'int_parsing'],
    ['"two"', 'int_parsing'],
    ['""', 'int_parsing'],
    ['1e30', 'int_parsing_size'],
    ['NaN', 'finite_number'],
    ['null', 'int_type'],
    ['[1]', 'int_type'],
    ['{}', 'int_type'],
  ])('%s -> %s', (json, expected) => {
    expect(read(laxInt(), json)).toBe(expected);
  });

  it('keeps to its lower bound', () => {
    expect(read(laxInt({ge: -1}), '-1')).toBe(-1);
    expect(read(laxInt({ge: -1}), '-2')).toBe('greater_than_equal');
  });
});

describe('laxInt64', () => {
  it.each([
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['"7"', 7n],
    ['9223372036854775808', 'less_than_equal'],
    ['-9223372036854775809', 'greater_than_equal'],
  ])('%s -> %s', (json, expected) => {
    expect(read(laxInt64(), json)).toBe(expected);
  });
});

describe('laxFloat', () => {
  it.each([
    ['0.5', 0.5],
    ['1', 1],
    ['1.0', 1],
    ['true', 1],
    ['"0.5"', 0.5],
    ['" 1e-3 "', 0.001],
    ['"inf"', Number.POSITIVE_INFINITY],
    ['"-Infinity"', Number.NEGATIVE_INFINITY],
    ['"nan"', Number.NaN],
    ['NaN', Number.NaN],
    ['123456789012345678901', 123456789012345680000],
    ['"hot"', 'float_parsing'],
    ['""', 'float_parsing'],
    ['null', 'float_type'],
    ['[1]', 'float_type'],
    ['"1_0.5_"', 'float_parsing'],
    ['"1_0.e2"', 1000],
  ])('%s -> %s', (json, expected) => {
    expect(read(laxFloat(), json)).toBe(expected);
  });

  it.each(['1', '1_1', '.1', '1.1', '1e1'])('is quick with a long text of %s', (part) => {
    const start = performance.now();
    expect(read(laxFloat(), JSON.stringify(`${part.repeat(200_000)}!`))).toBe('float_parsing');
    expect(read(laxInt(), JSON.stringify(`${part.repeat(200_000)}!`))).toBe('int_parsing');
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe('laxBool', () => {
  it.each<[string, boolean | string]>([
    ...['true', '1', '1.0', '"true"', '"YES"', '"on"', '"t"', '"y"', '"1"'].map((json): [string, boolean] => [
      json,
      true,
    ]),
    ...['false', '0', '0.0', '"False"', '"no"', '"off"', '"f"', '"n"', '"0"'].map((json): [string, boolean] => [
      json,
      false,
    ]),
    ['"maybe"', 'bool_parsing'],
    ['5', 'bool_parsing'],
    ['2.0', 'bool_parsing'],
    ['0.5', 'bool_type'],
    ['null', 'bool_type'],
    ['[]', 'bool_type'],
  ])('%s -> %s', (json, expected) => {
    expect(read(laxBool(), json)).toBe(expected);
  });
});

describe('texts, lists and objects', () => {
  it.each<[string, z.ZodType, string, unknown]>([
    ['text', laxString(), '"a"', 'a'],
    ['number for text', laxString(), '5', 'string_type'],
    ['half a character', laxString(), '"\\ud800"', 'string_unicode'],
    ['literal', laxLiteral(['left', 'right']), '"left"', 'left'],
    ['other literal', laxLiteral(['left', 'right']), '"middle"', 'literal_error'],
    ['list', laxList(laxInt()), '[1, "2"]', [1, 2]],
    ['text for list', laxList(laxInt()), '"x"', 'list_type'],
    ['bad elements', laxList(laxInt()), '["x", 1, null]', 'int_parsing 0; int_type 2'],
    ['list too long', laxList(laxInt(), {max: 1}), '[1, 2]', 'too_long'],
    ['list too short', laxList(laxInt(), {min: 1}), '[]', 'too_short'],
    ['map', laxMap(laxFloat()), '{"5": 1}', {5: 1}],
    ['bad map value', laxMap(laxFloat()), '{"5": "x"}', 'float_parsing 5'],
    ['list for map', laxMap(laxFloat()), '[]', 'dict_type'],
    ['dictionary', laxDict(), '{"a": null}', {a: null}],
    ['text for dictionary', laxDict(), '"x"', 'dict_type'],
    ['object', laxObject({a: laxInt()}), '{"a": 1, "b": 2}', {a: 1}],
    ['missing key', laxObject({a: laxInt()}), '{}', 'missing a'],
    ['text for object', laxObject({a: laxInt()}), '"x"', 'model_attributes_type'],
    ['union', laxUnion([laxString(), laxList(laxString())]), '["a"]', ['a']],
    ['no branch', laxUnion([laxString(), laxList(laxString())]), '5', 'string_type; list_type'],
    ['no branch, deeper', laxUnion([laxString(), laxList(laxString())]), '[1]', 'string_type; string_type 0'],
  ])('%s', (_name, schema, json, expected) => {
    expect(read(schema, json)).toEqual(expected);
  });
});

describe('absent and null', () => {
  const schema = laxObject({
    nullable: nullable(laxInt()),
    orDefault: orDefault(laxInt(), 7),
    withDefault: withDefault(laxInt(), 7),
  });

  it('fills in what is absent', () => {
    expect(read(schema, '{}')).toEqual({nullable: null, orDefault: 7, withDefault: 7});
  });

  it('refuses null only where the field has a default and no null', () => {
    const body = '{"nullable": null, "orDefault": null, "withDefault": null}';
    expect(read(schema, body)).toBe('int_type withDefault');
  });
});
