/** The methods of lists, tuples, dicts and numbers that templates may call; those that change their object are refused. */

import {isSameOrEqual} from './comparison.ts';
import {bitLength, integerOf} from './number-conversion.ts';
import {DictView} from './objects.ts';
import {valueError} from './python-error.ts';
import {toIndex} from './sequences.ts';
import type {Method} from './string-methods.ts';
import {repr} from './text.ts';
import {PyDict, PyFloat, PyTuple, toInteger, type Value} from './values.ts';

type Methods<Receiver> = Readonly<Record<string, Method<Receiver>>>;
type Sequence = Value[] | PyTuple;

function itemsOfSequence(sequence: Sequence): readonly Value[] {
  return Array.isArray(sequence) ? sequence : sequence.items;
}

function indexOf(sequence: Sequence, [searched, start, end]: readonly (Value | undefined)[]): number {
  const items = itemsOfSequence(sequence);
  const bound = (value: Value | undefined, standard: number): number => {
    const index = value === undefined ? standard : toIndex(value);
    return index < 0 ? Math.max(0, index + items.length) : index;
  };
  const last = Math.min(items.length, bound(end, items.length));
  for (let index = bound(start, 0); index < last; index++) {
    if (isSameOrEqual(items[index]!, searched!)) return index;
  }
  throw valueError(Array.isArray(sequence) ? `${repr(searched!)} is not in list` : 'tuple.index(x): x not in tuple');
}

const sequenceMethods: Methods<Sequence> = {
  count: {
    least: 1,
    most: 1,
    call: (sequence, [searched]) => itemsOfSequence(sequence).filter((item) => isSameOrEqual(item, searched!)).length,
  },
  index: {least: 1, most: 3, call: indexOf},
};

export const listMethods: Methods<Value[]> = {
  ...sequenceMethods,
  copy: {least: 0, most: 0, call: (list) => list.slice()},
};

export const tupleMethods: Methods<PyTuple> = sequenceMethods;

export const dictMethods: Methods<PyDict> = {
  get: {
    least: 1,
    most: 2,
    call(dict, [key, standard = null]) {
      const value = dict.get(key!);
      return value === undefined ? standard : value;
    },
  },
  keys: {least: 0, most: 0, call: (dict) => new DictView(dict, 'keys')},
  values: {least: 0, most: 0, call: (dict) => new DictView(dict, 'values')},
  items: {least: 0, most: 0, call: (dict) => new DictView(dict, 'items')},
  copy: {least: 0, most: 0, call: (dict) => PyDict.from(dict.entries())},
};

/** `d.fromkeys(keys, value)` makes a dict of its own; the receiver does not matter. */
export function dictFromKeys(keys: Iterable<Value>, value: Value): PyDict {
  const dict = new PyDict();
  for (const key of keys) dict.set(key, value);
  return dict;
}

export const integerMethods: Methods<number | bigint | boolean> = {
  bit_length: {least: 0, most: 0, call: (value) => bitLength(integerOf(value))},
  bit_count: {least: 0, most: 0, call: (value) => BigInt(value).toString(2).replaceAll(/[-0]/g, '').length},
  conjugate: {least: 0, most: 0, call: integerOf},
  is_integer: {least: 0, most: 0, call: () => true},
  as_integer_ratio: {least: 0, most: 0, call: (value) => new PyTuple([integerOf(value), 1])},
};

export const integerAttributes: Readonly<Record<string, (value: number | bigint | boolean) => Value>> = {
  real: integerOf,
  imag: () => 0,
  numerator: integerOf,
  denominator: () => 1,
};

export const floatMethods: Methods<PyFloat> = {
  is_integer: {least: 0, most: 0, call: ({value}) => Number.isInteger(value)},
  conjugate: {least: 0, most: 0, call: (value) => value},
  as_integer_ratio: {least: 0, most: 0, call: ({value}) => integerRatio(value)},
};

function integerRatio(value: number): PyTuple {
  let denominator = 1n;
  let numerator = value;
  while (!Number.isInteger(numerator)) {
    numerator *= 2;
    denominator *= 2n;
  }
  return new PyTuple([toInteger(BigInt(numerator)), toInteger(denominator)]);
}

export const floatAttributes: Readonly<Record<string, (value: PyFloat) => Value>> = {
  real: (value) => value,
  imag: () => new PyFloat(0),
};
