import {describe, expect, it} from 'vitest';
import {parseJson} from '../../../../src/core/util/parse-json.ts';
import {writeJson} from '../../../../src/core/util/write-json.ts';

describe('writeJson', () => {
  it.each([
    ['{"a":1,"b":1.0,"c":[0.1,1e+21,1e-7,-0.0]}'],
    ['[12345678901234567890,9007199254740993,-5]'],
    ['[NaN,Infinity,-Infinity]'],
    ['{"__proto__":{"x":null},"é":"\\n\\"😀"}'],
    ['[true,false,null,"",{},[]]'],
  ])('gives back %s', (text) => {
    expect(writeJson(parseJson(text))).toBe(text);
  });

  it('leaves absent members out', () => {
    expect(writeJson({a: undefined, b: 1})).toBe('{"b":1}');
  });

  it('writes null where a list has a gap, as JSON does', () => {
    expect(writeJson([1, undefined, {a: [undefined]}])).toBe('[1,null,{"a":[null]}]');
  });

  it('keeps the order of a map', () => {
    const map = new Map([
      [20, 'a'],
      [3, 'b'],
    ]);
    expect(writeJson(map)).toBe('{"20":"a","3":"b"}');
  });
});
