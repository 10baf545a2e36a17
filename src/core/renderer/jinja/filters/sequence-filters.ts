/** Filters over sequences and dicts. What is lazy in Python is lazy here: an iterator that can be walked once. */

import {binary} from '../arithmetic.ts';
import {attributeGetter, type Getter, ignoreCase, multiAttributeGetter} from '../attribute-path.ts';
import {getOnlyAttribute} from '../attributes.ts';
import {type Builtin, type BuiltinContext, builtin} from '../builtin.ts';
import {characters} from '../code-points.ts';
import {compare, equals, isLess} from '../comparison.ts';
import {escapeMarkup, likeSource, softText} from '../markup.ts';
import {GroupTuple, Markup, PyIterator, textOf, Undefined} from '../objects.ts';
import {PythonError, typeError} from '../python-error.ts';
import {isIterable, isTrue, iterate, length, lengthOf, reversed, toIndex, toList} from '../sequences.ts';
import {assertListLength, assertTextLength} from '../size-limits.ts';
import {str} from '../text.ts';
import {type HashKey, hashKey, PyDict, PyTuple, typeName, type Value} from '../values.ts';

const identity: Getter = (value) => value;

function caseGetter(caseSensitive: Value): Getter {
  return isTrue(caseSensitive) ? identity : ignoreCase;
}

/** `sorted(items, key, reverse)`: stable, also when reversed. */
function sorted(items: readonly Value[], key: Getter, reverse: boolean): Value[] {
  const keyed = items.map((item) => ({item, key: key(item)}));
  const order = (left: Value, right: Value): number => (isLess(left, right) ? -1 : isLess(right, left) ? 1 : 0);
  keyed.sort((left, right) => (reverse ? order(right.key, left.key) : order(left.key, right.key)));
  return keyed.map(({item}) => item);
}

function entriesOf(value: Value): [Value, Value][] {
  if (value instanceof PyDict) return [...value.entries()];
  if (value instanceof Undefined) throw value.error();
  throw new PythonError('AttributeError', `'${typeName(value)}' object has no attribute 'items'`);
}

function dictSort(value: Value, caseSensitive: Value, by: Value, reverse: Value): Value {
  const position = ['key', 'value'].indexOf(textOf(by) ?? '');
  if (position < 0) throw new PythonError('FilterArgumentError', 'You can only sort by either "key" or "value"');
  const prepare = caseGetter(caseSensitive);
  const entries = entriesOf(value).map((entry) => new PyTuple(entry));
  return sorted(entries, (entry) => prepare((entry as PyTuple).items[position]!), isTrue(reverse));
}

function* unique(value: Value, getter: Getter): Generator<Value> {
  const seen = new Set<HashKey>();
  for (const item of iterate(value)) {
    const key = hashKey(getter(item));
    if (seen.has(key)) continue;
    seen.add(key);
    yield item;
  }
}

function extreme(value: Value, getter: Getter, isBetter: (candidate: Value, best: Value) => boolean): Value {
  let best: {item: Value; key: Value} | undefined;
  for (const item of iterate(value)) {
    const key = getter(item);
    if (!best || isBetter(key, best.key)) best = {item, key};
  }
  return best ? best.item : Undefined.ofHint('No aggregated item, sequence was empty.');
}

function extremeFilter(name: string, isBetter: (candidate: Value, best: Value) => boolean): Builtin {
  return builtin(
    name,
    ['value', ['case_sensitive', false], ['attribute', null]],
    (_context, value, caseSensitive, attribute) =>
      extreme(value!, attributeGetter(attribute!, {postprocess: caseGetter(caseSensitive!)}), isBetter),
    {hidden: 1},
  );
}

function sum(value: Value, attribute: Value, start: Value): Value {
  if (textOf(start) !== undefined) throw typeError("sum() can't sum strings [use ''.join(seq) instead]");
  const getter = attributeGetter(attribute);
  let total = start;
  for (const item of iterate(value)) total = binary('+', total, getter(item));
  return total;
}

function join(context: BuiltinContext, value: Value, separator: Value, attribute: Value): Value {
  const getter = attributeGetter(attribute);
  const items = Array.from(iterate(value), getter);
  if (context.autoescape) return joinEscaping(items, separator);
  return joinTexts(items.map(str), str(separator));
}

/** One escaped part makes the whole escaped. */
function joinEscaping(items: readonly Value[], separator: Value): Value {
  const parts = items.map(softText);
  const isMarkup = separator instanceof Markup || parts.some((part) => part instanceof Markup);
  if (!isMarkup) return joinTexts(parts.map(str), str(separator));
  return new Markup(
    joinTexts(
      parts.map((part) => escapeMarkup(part).text),
      escapeMarkup(separator).text,
    ),
  );
}

function joinTexts(texts: readonly string[], separator: string): string {
  assertTextLength(texts.reduce((total, text) => total + text.length + separator.length, 0));
  return texts.join(separator);
}

function first(value: Value): Value {
  for (const item of iterate(value)) return item;
  return Undefined.ofHint('No first item, sequence was empty.');
}

function last(value: Value): Value {
  const iterator = reversed(value);
  if (!iterator) return notReversible(value);
  for (const item of iterate(iterator)) return item;
  return Undefined.ofHint('No last item, sequence was empty.');
}

function notReversible(value: Value): never {
  throw typeError(`'${typeName(value)}' object is not reversible`);
}

function reverse(value: Value): Value {
  const text = textOf(value);
  if (text !== undefined) return likeSource(value as string | Markup, characters(text).reverse().join(''));
  if (!isIterable(value)) throw new PythonError('FilterArgumentError', 'argument must be iterable');
  return reversed(value) ?? toList(value).reverse();
}

function* batch(value: Value, size: Value, fill: Value): Generator<Value> {
  let row: Value[] = [];
  for (const item of iterate(value)) {
    if (equals(row.length, size)) {
      yield row;
      row = [];
    }
    row.push(item);
  }
  if (row.length === 0) return;
  if (fill !== null) {
    assertListLength(toIndex(size));
    while (row.length < toIndex(size)) row.push(fill);
  }
  yield row;
}

function* slices(value: Value, count: Value, fill: Value): Generator<Value> {
  const items = toList(value);
  const number = toIndex(count);
  assertListLength(number);
  if (number === 0) throw new PythonError('ZeroDivisionError', 'integer division or modulo by zero');
  const size = Math.floor(items.length / number);
  const withExtra = items.length - size * number;
  let start = 0;
  for (let index = 0; index < number; index++) {
    const end = start + size + (index < withExtra ? 1 : 0);
    yield fill !== null && index >= withExtra ? [...items.slice(start, end), fill] : items.slice(start, end);
    start = end;
  }
}

function groupBy(value: Value, attribute: Value, standard: Value, caseSensitive: Value): Value {
  const getter = attributeGetter(attribute, {standard, postprocess: caseGetter(caseSensitive)});
  const shown = attributeGetter(attribute, {standard});
  const groups: {key: Value; items: Value[]}[] = [];
  for (const item of sorted(toList(value), getter, false)) {
    const key = getter(item);
    const group = groups.at(-1);
    if (group && equals(group.key, key)) group.items.push(item);
    else groups.push({key, items: [item]});
  }
  return groups.map(({key, items}) => new GroupTuple(isTrue(caseSensitive) ? key : shown(items[0]!), items));
}

function* items(value: Value): Generator<Value> {
  if (value instanceof Undefined) return;
  if (!(value instanceof PyDict)) throw typeError('Can only get item pairs from a mapping.');
  for (const entry of value.entries()) yield new PyTuple(entry);
}

function random(value: Value): Value {
  if (!isIterable(value) || lengthOf(value) === undefined) length(value);
  const choices = toList(value);
  if (choices.length === 0) return Undefined.ofHint('No random item, sequence was empty.');
  return choices[Math.floor(Math.random() * choices.length)]!;
}

function lengthFilter(): Builtin {
  return builtin('len', ['obj'], (_context, value) => length(value!), {positionalOnly: 1});
}

export const sequenceFilters: Readonly<Record<string, Builtin>> = {
  length: lengthFilter(),
  count: lengthFilter(),
  list: builtin('do_list', ['value'], (_context, value) => toList(value!)),
  first: builtin('do_first', ['seq'], (_context, value) => first(value!), {hidden: 1}),
  last: builtin('do_last', ['seq'], (_context, value) => last(value!), {hidden: 1}),
  random: builtin('do_random', ['seq'], (_context, value) => random(value!), {hidden: 1}),
  reverse: builtin('do_reverse', ['value'], (_context, value) => reverse(value!)),
  items: builtin('do_items', ['value'], (_context, value) => new PyIterator(items(value!))),
  join: builtin(
    'do_join',
    ['value', ['d', ''], ['attribute', null]],
    (context, value, separator, attribute) => join(context, value!, separator!, attribute!),
    {hidden: 1},
  ),
  sort: builtin(
    'do_sort',
    ['value', ['reverse', false], ['case_sensitive', false], ['attribute', null]],
    (_context, value, reverses, caseSensitive, attribute) =>
      sorted(toList(value!), multiAttributeGetter(attribute!, caseGetter(caseSensitive!)), isTrue(reverses!)),
    {hidden: 1},
  ),
  dictsort: builtin(
    'do_dictsort',
    ['value', ['case_sensitive', false], ['by', 'key'], ['reverse', false]],
    (_context, value, caseSensitive, by, reverses) => dictSort(value!, caseSensitive!, by!, reverses!),
  ),
  unique: builtin(
    'do_unique',
    ['value', ['case_sensitive', false], ['attribute', null]],
    (_context, value, caseSensitive, attribute) =>
      new PyIterator(unique(value!, attributeGetter(attribute!, {postprocess: caseGetter(caseSensitive!)}))),
    {hidden: 1},
  ),
  min: extremeFilter('do_min', isLess),
  max: extremeFilter('do_max', (candidate, best) => compare('>', candidate, best)),
  sum: builtin(
    'do_sum',
    ['iterable', ['attribute', null], ['start', 0]],
    (_context, value, attribute, start) => sum(value!, attribute!, start!),
    {hidden: 1},
  ),
  batch: builtin(
    'do_batch',
    ['value', 'linecount', ['fill_with', null]],
    (_context, value, size, fill) => new PyIterator(batch(value!, size!, fill!)),
  ),
  slice: builtin(
    'do_slice',
    ['value', 'slices', ['fill_with', null]],
    (_context, value, count, fill) => new PyIterator(slices(value!, count!, fill!)),
  ),
  groupby: builtin(
    'do_groupby',
    ['value', 'attribute', ['default', null], ['case_sensitive', false]],
    (_context, value, attribute, standard, caseSensitive) => groupBy(value!, attribute!, standard!, caseSensitive!),
    {hidden: 1},
  ),
  attr: builtin('do_attr', ['obj', 'name'], (_context, value, name) => getOnlyAttribute(value!, attributeName(name!)), {
    hidden: 1,
  }),
};

function attributeName(name: Value): string {
  const text = textOf(name);
  if (text === undefined) throw typeError(`attribute name must be string, not '${typeName(name)}'`);
  return text;
}
