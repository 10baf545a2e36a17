import {describe, expect, it} from 'vitest';
import {compare, contains, equals} from '../../../../../src/core/renderer/jinja/comparison.ts';
import {formatValue} from '../../../../../src/core/renderer/jinja/format-spec.ts';
import {fromJson} from '../../../../../src/core/renderer/jinja/from-json.ts';
import {slice} from '../../../../../src/core/renderer/jinja/sequences.ts';
import {repr} from '../../../../../src/core/renderer/jinja/text.ts';
import {PyDict, PyFloat, PyTuple} from '../../../../../src/core/renderer/jinja/values.ts';
import {parseJson} from '../../../../../src/core/util/parse-json.ts';
import {float, operate, shown} from './python-support.ts';

describe('repr', () => {
  it.each([
    [
      '[1, 1.0, 12345678901234567890, 1e21, 1e-7, 0.0001, 1e15, -0.0]',
      '[1, 1.0, 12345678901234567890, 1e+21, 1e-07, 0.0001, 1000000000000000.0, -0.0]',
    ],
    ['{"b": null, "a": [true, "q\'q", "d\\"d", "both\'\\""]}', `{'b': None, 'a': [True, "q'q", 'd"d', 'both\\'"']}`],
    ['"\\u00a0\\u0007\\n\\\\é😀\\u200b"', "'\\xa0\\x07\\n\\\\é😀\\u200b'"],
    ['{"z": 1, "10": 2, "2": 3}', "{'z': 1, '10': 2, '2': 3}"],
  ])('%s', (json, expected) => expect(repr(fromJson(parseJson(json)))).toBe(expected));

  it('marks a tuple of one', () => expect(repr(new PyTuple([1]))).toBe('(1,)'));
});

describe('dict', () => {
  it('takes equal keys for one and keeps the first form', () => {
    const dict = PyDict.from([
      [1, 'a'],
      ['1', 'b'],
      [new PyFloat(1), 'c'],
      [true, 'd'],
      [new PyTuple([1, 'x']), 'e'],
    ]);
    expect(repr(dict)).toBe("{1: 'd', '1': 'b', (1, 'x'): 'e'}");
    expect(dict.get(new PyTuple([float(1), 'x']))).toBe('e');
  });

  it('refuses keys that can change', () =>
    expect(shown(() => PyDict.from([[[], 1]]))).toBe("TypeError: unhashable type: 'list'"));
});

describe('operators', () => {
  it.each([
    [-7, '//', 2, '-4'],
    [7, '%', -3, '-2'],
    [-7.5, '%', 2, '0.5'],
    [7, '/', 2, '3.5'],
    [0, '/', -5, '-0.0'],
    [2, '**', -1, '0.5'],
    [10, '**', 20, '100000000000000000000'],
    [3, '*', 9007199254740993n, '27021597764222979'],
    [true, '+', 1, '2'],
    ['ab', '*', 2, "'abab'"],
    [[1], '+', [2], '[1, 2]'],
    [1, '+', 'a', "TypeError: unsupported operand type(s) for +: 'int' and 'str'"],
    ['a', '+', null, 'TypeError: can only concatenate str (not "NoneType") to str'],
    [1, '//', 0, 'ZeroDivisionError: integer division or modulo by zero'],
    ['%5.2f|%-4s|%05d|%x|%r', '%', 1, 'TypeError: not enough arguments for format string'],
    ['%(a)s-%(b)03d', '%', {a: 'x', b: 7}, "'x-007'"],
  ] as const)('%o %s %o', (left, operator, right, expected) => expect(operate(left, operator, right)).toBe(expected));

  it('does not build what fills the memory', () => {
    expect(operate('a', '*', 10 ** 12)).toMatch(/^MemoryError/);
    expect(operate([0], '*', 10 ** 12)).toMatch(/^MemoryError/);
    expect(operate(10, '**', 10 ** 9)).toMatch(/^MemoryError/);
  });
});

describe('comparison', () => {
  it.each([
    [1, float(1), true],
    [true, 1, true],
    ['1', 1, false],
    ['', false, false],
    [{a: [1]}, {a: [float(1)]}, true],
    [[1, 2], new PyTuple([1, 2]), false],
  ])('%o == %o', (left, right, expected) => expect(equals(fromJson(left), fromJson(right))).toBe(expected));

  it('orders texts by code points', () => expect(compare('<', '\uffff', '😀')).toBe(true));
  it('orders lists by the first difference', () => expect(compare('<', [1, 'b'], [1, 'c'])).toBe(true));
  it('has no order across kinds', () => {
    expect(shown(() => compare('<', 1, 'a'))).toBe("TypeError: '<' not supported between instances of 'int' and 'str'");
  });
  it('finds equal elements', () => expect(contains([fromJson({n: 1})], fromJson({n: float(1)}))).toBe(true));
});

describe('slices', () => {
  it.each([
    ['a😀bc', null, null, -1, "'cb😀a'"],
    ['a😀bc', -3, null, null, "'😀bc'"],
    [[1, 2, 3, 4], 3, 0, -2, '[4, 2]'],
    [[1, 2], null, null, 0, 'ValueError: slice step cannot be zero'],
    [5, 1, null, null, "TypeError: 'int' object is not subscriptable"],
  ])('%o[%o:%o:%o]', (value, start, stop, step, expected) => {
    expect(shown(() => slice(value, start, stop, step))).toBe(expected);
  });
});

describe('format specs', () => {
  it.each([
    [1234567, ',', '1,234,567'],
    [255, '#06x', '0x00ff'],
    [float(2.5), '.0f', '2'],
    [1234.5, '012,.1f', '00,001,234.5'],
    [float(10), '.3', '10.0'],
    [float(123), '.3', '1.23e+02'],
    ['abc', '*^6.2', '**ab**'],
    [0.256, '.1%', '25.6%'],
  ])('%o as %s', (value, spec, expected) => expect(formatValue(fromJson(value), spec)).toBe(expected));
});
