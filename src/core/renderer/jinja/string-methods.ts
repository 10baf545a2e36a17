/**
 * The methods of Python's `str` (all but `format` and `translate`), as data: how many arguments each takes and what it
 * does. Positions are counted in code points.
 */
import {codePointLength, strip, stripEnd} from '../../util/python-text.ts';
import {isSpace, spaceRun, textPredicates} from './character-classes.ts';
import {characters, hasSurrogates, toCodePointIndex, toUnitIndex} from './code-points.ts';
import {capitalize, caseFold, isLower, isTitle, isUpper, swapCase, titleCase} from './letter-case.ts';
import {textOf} from './objects.ts';
import {typeError, valueError} from './python-error.ts';
import {isIterable, isTrue, iterate, toIndex} from './sequences.ts';
import {assertTextLength} from './size-limits.ts';
import {PyTuple, typeName, type Value} from './values.ts';

export interface Method<Receiver> {
  readonly least: number;
  readonly most: number;
  /** Names of the parameters when they may be given by keyword. */
  readonly keywords?: readonly string[];
  readonly call: (receiver: Receiver, values: readonly (Value | undefined)[]) => Value;
}

type StringMethod = Method<string>;

function noArguments(call: (text: string) => Value): StringMethod {
  return {least: 0, most: 0, call};
}

function method(least: number, most: number, call: StringMethod['call'], keywords?: readonly string[]): StringMethod {
  return keywords ? {least, most, call, keywords} : {least, most, call};
}

/** A str among the arguments. */
function needText(
  value: Value | undefined,
  message: (name: string) => string = (name) => `must be str, not ${name}`,
): string {
  const text = textOf(value ?? null);
  if (text === undefined) throw typeError(message(typeName(value ?? null)));
  return text;
}

function optionalText(value: Value | undefined, message: (name: string) => string): string | null {
  return value === undefined || value === null ? null : needText(value, message);
}

const separatorText = (name: string): string => `must be str or None, not ${name}`;

/** How many splits; less than zero = all. */
function limitOf(value: Value | undefined): number {
  const limit = value === undefined ? -1 : toIndex(value);
  return limit < 0 ? Number.POSITIVE_INFINITY : limit;
}

function split(text: string, separator: Value | undefined, maxSplit: Value | undefined): string[] {
  const by = optionalText(separator, separatorText);
  const limit = limitOf(maxSplit);
  return by === null ? splitAtSpace(text, limit) : splitAt(text, nonEmpty(by), limit);
}

function nonEmpty(separator: string): string {
  if (separator === '') throw valueError('empty separator');
  return separator;
}

function splitAt(text: string, separator: string, limit: number): string[] {
  const parts = text.split(separator);
  return parts.length - 1 <= limit ? parts : [...parts.slice(0, limit), parts.slice(limit).join(separator)];
}

function splitAtSpace(text: string, limit: number): string[] {
  const parts: string[] = [];
  let rest = stripStart(text);
  while (rest !== '') {
    const match = parts.length < limit ? spaceRun.exec(rest) : null;
    if (!match) return [...parts, rest];
    parts.push(rest.slice(0, match.index));
    rest = rest.slice(match.index + match[0].length);
  }
  return parts;
}

function splitFromEnd(text: string, separator: Value | undefined, maxSplit: Value | undefined): string[] {
  const by = optionalText(separator, separatorText);
  const limit = limitOf(maxSplit);
  if (limit === Number.POSITIVE_INFINITY) return split(text, separator, maxSplit);
  if (by === null) return splitAtSpace(reverseText(text), limit).map(reverseText).reverse();
  const parts = text.split(nonEmpty(by));
  const first = Math.max(0, parts.length - limit);
  return limit >= parts.length - 1 ? parts : [parts.slice(0, first).join(by), ...parts.slice(first)];
}

function reverseText(text: string): string {
  return characters(text).reverse().join('');
}

const lineBreak = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g;

/** `str.splitlines(keepends)` */
export function splitLines(text: string, keepsEnds = false): string[] {
  const lines: string[] = [];
  let start = 0;
  for (const match of text.matchAll(lineBreak)) {
    const end = match.index + match[0].length;
    lines.push(text.slice(start, keepsEnds ? end : match.index));
    start = end;
  }
  return start < text.length ? [...lines, text.slice(start)] : lines;
}

function stripStart(text: string): string {
  let start = 0;
  while (start < text.length && isSpace(text[start]!)) start++;
  return text.slice(start);
}

type Side = 'strip' | 'lstrip' | 'rstrip';
const spaceStrippers: Readonly<Record<Side, (text: string) => string>> = {strip, lstrip: stripStart, rstrip: stripEnd};

function stripper(side: Side): StringMethod {
  return method(0, 1, (text, [set]) => {
    const removed = optionalText(set, () => `${side} arg must be None or str`);
    return removed === null ? spaceStrippers[side](text) : stripSet(text, removed, side);
  });
}

function stripSet(text: string, removed: string, side: Side): string {
  const set = new Set(characters(removed));
  const units = hasSurrogates(text) ? characters(text) : text;
  let [start, end] = [0, units.length];
  if (side !== 'rstrip') while (start < end && set.has(units[start]!)) start++;
  if (side !== 'lstrip') while (end > start && set.has(units[end - 1]!)) end--;
  return typeof units === 'string' ? units.slice(start, end) : units.slice(start, end).join('');
}

/** The part that optional bounds select, and where it begins. */
function window(
  text: string,
  start: Value | undefined,
  end: Value | undefined,
): {part: string; offset: number; beyond: boolean} {
  if ((start ?? null) === null && (end ?? null) === null) return {part: text, offset: 0, beyond: false};
  const size = codePointLength(text);
  const bound = (value: Value | undefined, standard: number): number => {
    const index = value === undefined || value === null ? standard : toIndex(value);
    return index < 0 ? Math.max(0, index + size) : index;
  };
  const first = bound(start, 0);
  const last = Math.min(size, bound(end, size));
  const part = first < last ? text.slice(toUnitIndex(text, first), toUnitIndex(text, last)) : '';
  return {part, offset: first, beyond: first > last};
}

function finder(search: (part: string, searched: string) => number, name: string): StringMethod {
  return method(1, 3, (text, [searched, start, end]) => {
    const wanted = needText(searched);
    const {part, offset, beyond} = window(text, start, end);
    const index = beyond ? -1 : search(part, wanted);
    if (index < 0 && name.endsWith('index')) throw valueError('substring not found');
    return index < 0 ? -1 : offset + toCodePointIndex(part, index);
  });
}

function edgeTest(name: 'startswith' | 'endswith'): StringMethod {
  const holds = (part: string, affix: string): boolean =>
    name === 'startswith' ? part.startsWith(affix) : part.endsWith(affix);
  return method(1, 3, (text, [affix, start, end]) => {
    const texts =
      affix instanceof PyTuple
        ? affix.items.map((item) => needText(item, (kind) => `tuple for ${name} must only contain str, not ${kind}`))
        : [needText(affix, (kind) => `${name} first arg must be str or a tuple of str, not ${kind}`)];
    const {part, beyond} = window(text, start, end);
    return !beyond && texts.some((wanted) => holds(part, wanted));
  });
}

function count(text: string, [searched, start, end]: readonly (Value | undefined)[]): number {
  const wanted = needText(searched);
  const {part, beyond} = window(text, start, end);
  if (beyond) return 0;
  return wanted === '' ? codePointLength(part) + 1 : part.split(wanted).length - 1;
}

/** `str.replace(old, new, count)`; less than zero = all. */
export function replaceText(text: string, old: string, replacement: string, limit = -1): string {
  const times = limit < 0 ? Number.POSITIVE_INFINITY : limit;
  const parts = old === '' ? ['', ...characters(text), ''] : text.split(old);
  assertTextLength(text.length + Math.min(times, parts.length - 1) * replacement.length);
  if (parts.length - 1 <= times) return parts.join(replacement);
  return [...parts.slice(0, times), parts.slice(times).join(old)].join(replacement);
}

function replace(text: string, [old, replacement, limit]: readonly (Value | undefined)[]): string {
  const [from, to] = [old, replacement].map((value, index) =>
    needText(value, (name) => `replace() argument ${index + 1} must be str, not ${name}`),
  );
  return replaceText(text, from!, to!, limit === undefined ? -1 : toIndex(limit));
}

/** `separator.join(items)` */
function join(separator: string, [items]: readonly (Value | undefined)[]): string {
  if (!isIterable(items!)) throw typeError('can only join an iterable');
  const texts = [...iterate(items!)].map((item, index) =>
    needText(item, (name) => `sequence item ${index}: expected str instance, ${name} found`),
  );
  assertTextLength(texts.reduce((length, text) => length + text.length + separator.length, 0));
  return texts.join(separator);
}

type Alignment = 'ljust' | 'rjust' | 'center';

/** `str.center` puts the odd space left when width and space are odd, as Python does. */
export function align(text: string, width: number, fill: string, alignment: Alignment): string {
  const missing = Math.max(0, width - codePointLength(text));
  assertTextLength(missing);
  const half = Math.floor(missing / 2) + (missing & width & 1);
  const before = {ljust: 0, rjust: missing, center: half}[alignment];
  return fill.repeat(before) + text + fill.repeat(missing - before);
}

function aligner(alignment: Alignment): StringMethod {
  return method(1, 2, (text, [width, fill = ' ']) => {
    const character = needText(fill, (name) => `The fill character must be a unicode character, not ${name}`);
    if (codePointLength(character) !== 1) throw typeError('The fill character must be exactly one character long');
    return align(text, toIndex(width!), character, alignment);
  });
}

function zeroFill(text: string, [width]: readonly (Value | undefined)[]): string {
  const size = toIndex(width!);
  const sign = /^[-+]/.exec(text)?.[0] ?? '';
  return sign + align(text.slice(sign.length), size - sign.length, '0', 'rjust');
}

function expandTabs(text: string, [size]: readonly (Value | undefined)[]): string {
  const tabSize = size === undefined ? 8 : toIndex(size);
  let column = 0;
  return characters(text)
    .map((character) => {
      const width = character === '\t' && tabSize > 0 ? tabSize - (column % tabSize) : 1;
      column = character === '\n' || character === '\r' ? 0 : column + width;
      return character === '\t' ? ' '.repeat(tabSize > 0 ? width : 0) : character;
    })
    .join('');
}

function partition(text: string, [separator]: readonly (Value | undefined)[]): PyTuple {
  const by = nonEmpty(needText(separator));
  const index = text.indexOf(by);
  return new PyTuple(index < 0 ? [text, '', ''] : [text.slice(0, index), by, text.slice(index + by.length)]);
}

function partitionFromEnd(text: string, [separator]: readonly (Value | undefined)[]): PyTuple {
  const by = nonEmpty(needText(separator));
  const index = text.lastIndexOf(by);
  return new PyTuple(index < 0 ? ['', '', text] : [text.slice(0, index), by, text.slice(index + by.length)]);
}

/** These two methods say None for its type. */
function shownKind(name: string): string {
  return name === 'NoneType' ? 'None' : name;
}

function removePrefix(text: string, [prefix]: readonly (Value | undefined)[]): string {
  const removed = needText(prefix, (name) => `removeprefix() argument must be str, not ${shownKind(name)}`);
  return text.startsWith(removed) ? text.slice(removed.length) : text;
}

function removeSuffix(text: string, [suffix]: readonly (Value | undefined)[]): string {
  const removed = needText(suffix, (name) => `removesuffix() argument must be str, not ${shownKind(name)}`);
  return removed !== '' && text.endsWith(removed) ? text.slice(0, -removed.length) : text;
}

const predicates = {...textPredicates, islower: isLower, isupper: isUpper, istitle: isTitle};

export const stringMethods: Readonly<Record<string, StringMethod>> = {
  ...Object.fromEntries(Object.entries(predicates).map(([name, test]) => [name, noArguments(test)])),
  upper: noArguments((text) => text.toUpperCase()),
  lower: noArguments((text) => text.toLowerCase()),
  title: noArguments(titleCase),
  capitalize: noArguments(capitalize),
  swapcase: noArguments(swapCase),
  casefold: noArguments(caseFold),
  strip: stripper('strip'),
  lstrip: stripper('lstrip'),
  rstrip: stripper('rstrip'),
  split: method(0, 2, (text, [separator, limit]) => split(text, separator, limit), ['sep', 'maxsplit']),
  rsplit: method(0, 2, (text, [separator, limit]) => splitFromEnd(text, separator, limit), ['sep', 'maxsplit']),
  splitlines: method(0, 1, (text, [keepsEnds = false]) => splitLines(text, isTrue(keepsEnds)), ['keepends']),
  find: finder((part, searched) => part.indexOf(searched), 'find'),
  rfind: finder((part, searched) => part.lastIndexOf(searched), 'rfind'),
  index: finder((part, searched) => part.indexOf(searched), 'index'),
  rindex: finder((part, searched) => part.lastIndexOf(searched), 'rindex'),
  count: method(1, 3, count),
  startswith: edgeTest('startswith'),
  endswith: edgeTest('endswith'),
  replace: method(2, 3, replace),
  join: method(1, 1, join),
  ljust: aligner('ljust'),
  rjust: aligner('rjust'),
  center: aligner('center'),
  zfill: method(1, 1, zeroFill),
  expandtabs: method(0, 1, expandTabs, ['tabsize']),
  partition: method(1, 1, partition),
  rpartition: method(1, 1, partitionFromEnd),
  removeprefix: method(1, 1, removePrefix),
  removesuffix: method(1, 1, removeSuffix),
};
