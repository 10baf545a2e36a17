import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {JsonFloat, JsonSyntaxError, parseJson, toPlainJson} from '../../../../src/core/util/parse-json.ts';

function failure(text: string): JsonSyntaxError {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  throw new Error(`no error for ${text}`);
}

describe('parseJson', () => {
  it('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({noUnicodeString: false}), (value) => {
        const text = JSON.stringify(value);
        expect(toPlainJson(parseJson(text))).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keeps floats apart from integers and long integers exact', () => {
    expect(parseJson('[1, 1.0, 1e3, 0.5, -0, 123456789012345678901234567890]')).toEqual([
      1,
      new JsonFloat(1),
      new JsonFloat(1000),
      0.5,
      0,
      123456789012345678901234567890n,
    ]);
  });

  it.each([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
    [' true ', true],
    ['null', null],
    ['"\\u00e9\\ud83d\\ude00\\n\\/"', 'é😀\n/'],
  ])('reads %s', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  it('takes the last of two equal keys and keeps odd keys as plain ones', () => {
    expect(parseJson('{"a":1,"a":2}')).toEqual({a: 2});
    const object = parseJson('{"__proto__":{"x":1}}') as Record<string, unknown>;
    expect(Object.keys(object)).toEqual(['__proto__']);
    expect(object.x).toBeUndefined();
  });

  it.each([
    ['', 'Expecting value', 0],
    ['   ', 'Expecting value', 3],
    ['{"a": 1,}', 'Expecting property name enclosed in double quotes', 8],
    ["{'a': 1}", 'Expecting property name enclosed in double quotes', 1],
    ['{"a" 1}', "Expecting ':' delimiter", 5],
    ['{"a":1 /* no */}', "Expecting ',' delimiter", 7],
    ['[1 2]', "Expecting ',' delimiter", 3],
    ['{} {}', 'Extra data', 3],
    ['"abc', 'Unterminated string starting at', 0],
    ['"a\nb"', 'Invalid control character at', 2],
    ['"\\x"', 'Invalid \\escape', 1],
    ['"\\u12"', 'Invalid \\uXXXX escape', 2],
    ['01', 'Extra data', 1],
    ['nul', 'Expecting value', 0],
  ])('refuses %s', (text, message, position) => {
    const error = failure(text);
    expect([error.message, error.position]).toEqual([message, position]);
  });

  it('refuses nesting that would exhaust the stack', () => {
    expect(failure('['.repeat(100_000)).message).toContain('recursion');
  });

  it('reads a long text in one piece', () => {
    const text = 'x'.repeat(20_000_000);
    expect((parseJson(`["${text}"]`) as string[])[0]).toHaveLength(text.length);
  });
});
