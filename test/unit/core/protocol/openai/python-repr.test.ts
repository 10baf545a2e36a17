import {describe, expect, it} from 'vitest';
import {pythonFloat, pythonRepr, pythonStr} from '../../../../../src/core/protocol/openai/python-repr.ts';
import {parseJson} from '../../../../../src/core/util/parse-json.ts';

describe('pythonFloat', () => {
  it.each([
    [0, '0.0'],
    [-0, '-0.0'],
    [2, '2.0'],
    [-0.5, '-0.5'],
    [0.1, '0.1'],
    [1e15, '1000000000000000.0'],
    [1e16, '1e+16'],
    [1e21, '1e+21'],
    [1.5e300, '1.5e+300'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e-7, '1e-07'],
    [Number.NaN, 'nan'],
    [Number.POSITIVE_INFINITY, 'inf'],
    [Number.NEGATIVE_INFINITY, '-inf'],
  ])('%d is %s', (value, text) => {
    expect(pythonFloat(value)).toBe(text);
  });
});

describe('pythonRepr', () => {
  it.each([
    ['[1, 1.0, 1e30, 0.5, true, null]', '[1, 1.0, 1e+30, 0.5, True, None]'],
    ['{"a": {"b": []}}', "{'a': {'b': []}}"],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['"plain"', "'plain'"],
    [`"it's"`, `"it's"`],
    [`"it's \\"so\\""`, `'it\\'s "so"'`],
    ['"a\\n\\t\\\\b"', "'a\\n\\t\\\\b'"],
    ['"caf\\u00e9 \\ud83d\\ude00"', "'café 😀'"],
    ['"\\u0000\\u007f\\u00a0\\u200b"', "'\\x00\\x7f\\xa0\\u200b'"],
    ['"\\ud800"', "'\\ud800'"],
  ])('%s', (json, text) => {
    expect(pythonRepr(parseJson(json))).toBe(text);
  });

  it('shows a text without quotes as str', () => {
    expect(pythonStr('hot')).toBe('hot');
    expect(pythonStr(['x'])).toBe("['x']");
  });
});
