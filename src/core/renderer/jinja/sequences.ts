/** Walking, counting, indexing and slicing what has elements, with Python's rules and error texts. */

import {codePointLength} from '../../util/python-text.ts';
import {characters, substring} from './code-points.ts';
import {Markup, PyIterator, PyRange, textOf, Undefined} from './objects.ts';
import {PythonError, typeError, valueError} from './python-error.ts';
import {isInteger, PyDict, PyFloat, PyObject, PyTuple, typeName, type Value} from './values.ts';

/** `iter(value)` @throws PythonError when it has no elements */
export function iterate(value: Value): Iterable<Value> {
  if (Array.isArray(value)) return value;
  if (typeof value === 'string') return characters(value);
  if (value instanceof PyTuple) return value.items;
  if (value instanceof PyDict) return value.keys();
  if (value instanceof Markup) return characters(value.text);
  if (value instanceof PyObject && value.iterate) return {[Symbol.iterator]: () => value.iterate!()};
  throw typeError(`'${typeName(value)}' object is not iterable`);
}

/** `iter(value)` works */
export function isIterable(value: Value): boolean {
  if (value instanceof PyObject) return value.iterate !== undefined || value instanceof Markup;
  return Array.isArray(value) || typeof value === 'string' || value instanceof PyTuple || value instanceof PyDict;
}

/** `list(value)` */
export function toList(value: Value): Value[] {
  return Array.isArray(value) ? value.slice() : [...iterate(value)];
}

/** `len(value)`; undefined for what has none. */
export function lengthOf(value: Value): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (value instanceof PyTuple) return value.items.length;
  if (value instanceof PyDict) return value.size;
  const text = textOf(value);
  if (text !== undefined) return codePointLength(text);
  return value instanceof PyObject ? value.length?.() : undefined;
}

/** `len(value)` @throws PythonError for what has none */
export function length(value: Value): number {
  const result = lengthOf(value);
  if (result === undefined) throw typeError(`object of type '${typeName(value)}' has no len()`);
  return result;
}

/** `bool(value)` */
export function isTrue(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  if (value instanceof PyObject) return value.isTrue();
  return value instanceof PyFloat ? value.value !== 0 : lengthOf(value)! > 0;
}

/**
 * `value[key]`
 * @returns undefined where Python raises a LookupError or a TypeError, which templates see as an undefined element
 */
export function itemAt(value: Value, key: Value): Value | undefined {
  if (value instanceof PyDict) return isHashable(key) ? value.get(key) : undefined;
  if (value instanceof Undefined) throw value.error();
  if (value instanceof PyObject && !(value instanceof Markup) && !(value instanceof PyRange)) return value.item?.(key);
  return isInteger(key) ? elementAt(value, Number(key)) : undefined;
}

function elementAt(value: Value, index: number): Value | undefined {
  const size = lengthOf(value);
  if (size === undefined || index < -size || index >= size) return undefined;
  const position = index < 0 ? index + size : index;
  if (Array.isArray(value)) return value[position];
  if (value instanceof PyTuple) return value.items[position];
  if (value instanceof PyRange) return value.start + position * value.step;
  return characterAt(value, position);
}

function characterAt(value: Value, position: number): Value | undefined {
  if (typeof value === 'string') return substring(value, position, position + 1);
  return value instanceof Markup ? new Markup(substring(value.text, position, position + 1)) : undefined;
}

/** True for what may be a key. */
function isHashable(key: Value): boolean {
  if (key instanceof PyTuple) return key.items.every(isHashable);
  return !Array.isArray(key) && !(key instanceof PyDict);
}

/** `value[start:stop:step]`; None = not given. @throws PythonError */
export function slice(value: Value, start: Value, stop: Value, step: Value): Value {
  if (value instanceof Undefined) throw value.error();
  if (value instanceof PyDict) throw typeError("unhashable type: 'slice'");
  const size =
    value instanceof PyRange || !(value instanceof PyObject) || value instanceof Markup ? lengthOf(value) : undefined;
  if (size === undefined) throw typeError(`'${typeName(value)}' object is not subscriptable`);
  const bounds = sliceBounds(size, start, stop, step);
  if (Array.isArray(value)) return pick(value, bounds);
  if (value instanceof PyTuple) return new PyTuple(pick(value.items, bounds));
  if (value instanceof PyRange) return sliceOfRange(value, bounds);
  const text = textSlice(textOf(value)!, bounds);
  return value instanceof Markup ? new Markup(text) : text;
}

interface SliceBounds {
  readonly start: number;
  readonly stop: number;
  readonly step: number;
}

/** Python's `slice.indices`: missing and negative bounds made absolute, all within the sequence. */
function sliceBounds(size: number, start: Value, stop: Value, step: Value): SliceBounds {
  const stride = sliceIndex(step) ?? 1;
  if (stride === 0) throw valueError('slice step cannot be zero');
  const [lowest, highest] = stride > 0 ? [0, size] : [-1, size - 1];
  const clamp = (index: number): number => Math.min(highest, Math.max(lowest, index < 0 ? index + size : index));
  const first = sliceIndex(start);
  const last = sliceIndex(stop);
  return {
    start: first === null ? (stride > 0 ? lowest : highest) : clamp(first),
    stop: last === null ? (stride > 0 ? highest : lowest) : clamp(last),
    step: stride,
  };
}

function sliceIndex(value: Value): number | null {
  if (value === null) return null;
  if (isInteger(value)) return Number(value);
  throw typeError('slice indices must be integers or None or have an __index__ method');
}

function pick<T>(items: readonly T[], {start, stop, step}: SliceBounds): T[] {
  if (step === 1) return items.slice(start, stop);
  const picked: T[] = [];
  for (let index = start; step > 0 ? index < stop : index > stop; index += step) picked.push(items[index]!);
  return picked;
}

function textSlice(text: string, bounds: SliceBounds): string {
  if (bounds.step === 1) return bounds.start < bounds.stop ? substring(text, bounds.start, bounds.stop) : '';
  return pick(characters(text), bounds).join('');
}

function sliceOfRange(range: PyRange, {start, stop, step}: SliceBounds): PyRange {
  return new PyRange(range.start + start * range.step, range.start + stop * range.step, range.step * step);
}

const reverseNames: Readonly<Record<string, string>> = {
  list: 'list_reverseiterator',
  range: 'range_iterator',
  dict: 'dict_reversekeyiterator',
};

/** `reversed(value)`; undefined for what cannot be walked backwards. */
export function reversed(value: Value): PyIterator | undefined {
  if (!isReversible(value)) return undefined;
  return new PyIterator(toList(value).reverse()[Symbol.iterator](), reverseNames[typeName(value)] ?? 'reversed');
}

function isReversible(value: Value): boolean {
  return !(value instanceof PyIterator) && isIterable(value) && lengthOf(value) !== undefined;
}

/** A whole number that an argument asks for. @throws PythonError for anything else */
export function toIndex(value: Value): number {
  if (!isInteger(value)) throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
  const index = Number(value);
  if (Number.isSafeInteger(index)) return index;
  throw new PythonError('OverflowError', 'Python int too large to convert to C ssize_t');
}
