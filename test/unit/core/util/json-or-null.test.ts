import {expect, it} from 'vitest';
import {jsonOrNull} from '../../../../src/core/util/json-or-null.ts';

it.each([
  ['{"a":[1]}', {a: [1]}],
  ['"text"', 'text'],
  ['null', null],
  ['{"a":', null],
  ['<html>', null],
  ['', null],
])('%j is %j', (text, value) => {
  expect(jsonOrNull(text)).toEqual(value);
});
