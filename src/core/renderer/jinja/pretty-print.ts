/** `pprint.pformat` with its standard width: dict keys sorted, one element per line when a value does not fit. */

import {codePointLength} from '../../util/python-text.ts';
import {notSpace, spaceRun} from './character-classes.ts';
import {isLess} from './comparison.ts';
import {splitLines} from './string-methods.ts';
import {repr, stringRepr} from './text.ts';
import {PyDict, PyTuple, typeName, type Value} from './values.ts';

const lineWidth = 80;

/** `pprint.pformat(value)` */
export function prettyPrint(value: Value): string {
  return layout(value, 0, 0, 0);
}

/**
 * @param indent columns before the value
 * @param allowance columns that must stay free after it
 */
function layout(value: Value, indent: number, allowance: number, level: number): string {
  const text = sortedRepr(value);
  if (codePointLength(text) <= lineWidth - indent - allowance) return text;
  if (value instanceof PyDict && value.size > 0) return dictLayout(value, indent, allowance, level);
  if (Array.isArray(value) && value.length > 0) return `[${itemsLayout(value, indent + 1, allowance + 1, level)}]`;
  if (value instanceof PyTuple && value.items.length > 0) return tupleLayout(value.items, indent, allowance, level);
  return typeof value === 'string' ? stringLayout(value, indent, allowance, level) : text;
}

/** `repr` with sorted dict keys. */
function sortedRepr(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(sortedRepr).join(', ')}]`;
  if (value instanceof PyTuple) {
    return `(${value.items.map(sortedRepr).join(', ')}${value.items.length === 1 ? ',' : ''})`;
  }
  if (!(value instanceof PyDict)) return repr(value);
  return `{${sortedEntries(value)
    .map(([key, entry]) => `${sortedRepr(key)}: ${sortedRepr(entry)}`)
    .join(', ')}}`;
}

/** Keys that have no order are sorted by the name of their type. */
function sortedEntries(dict: PyDict): [Value, Value][] {
  const isBefore = (left: Value, right: Value): boolean => {
    try {
      return isLess(left, right);
    } catch {
      return typeName(left) < typeName(right);
    }
  };
  return [...dict.entries()].sort(([left], [right]) => (isBefore(left, right) ? -1 : isBefore(right, left) ? 1 : 0));
}

function dictLayout(dict: PyDict, indent: number, allowance: number, level: number): string {
  const entries = sortedEntries(dict);
  const lines = entries.map(([key, value], index) => {
    const name = sortedRepr(key);
    const after = index === entries.length - 1 ? allowance + 1 : 1;
    return `${name}: ${layout(value, indent + 1 + codePointLength(name) + 2, after, level + 1)}`;
  });
  return `{${lines.join(`,\n${' '.repeat(indent + 1)}`)}}`;
}

function tupleLayout(items: readonly Value[], indent: number, allowance: number, level: number): string {
  const end = items.length === 1 ? ',)' : ')';
  return `(${itemsLayout(items, indent + 1, allowance + end.length, level)}${end}`;
}

function itemsLayout(items: readonly Value[], indent: number, allowance: number, level: number): string {
  const last = items.length - 1;
  const lines = items.map((item, index) => layout(item, indent, index === last ? allowance : 1, level + 1));
  return lines.join(`,\n${' '.repeat(indent)}`);
}

/** A long text becomes several literals, broken after line breaks and spaces. */
function stringLayout(text: string, indent: number, allowance: number, level: number): string {
  const [start, end] = level === 0 ? [indent + 1, allowance + 1] : [indent, allowance];
  const chunks = stringChunks(text, lineWidth - start, end);
  if (chunks.length === 1) return chunks[0]!;
  const joined = chunks.join(`\n${' '.repeat(start)}`);
  return level === 0 ? `(${joined})` : joined;
}

function stringChunks(text: string, width: number, allowance: number): string[] {
  const lines = splitLines(text, true);
  return lines.flatMap((line, index) => {
    const isLast = index === lines.length - 1;
    const shown = stringRepr(line);
    if (codePointLength(shown) <= width - (isLast ? allowance : 0)) return [shown];
    return lineChunks(line, width, isLast ? allowance : 0);
  });
}

/** A word and the white space after it. */
const wordWithSpace = new RegExp(`${notSpace}*${spaceRun.source}|${notSpace}+`, 'gu');

function lineChunks(line: string, width: number, allowance: number): string[] {
  const parts = line.match(wordWithSpace) ?? [];
  const chunks: string[] = [];
  let current = '';
  parts.forEach((part, index) => {
    const candidate = current + part;
    const room = index === parts.length - 1 ? width - allowance : width;
    if (codePointLength(stringRepr(candidate)) > room) {
      if (current !== '') chunks.push(stringRepr(current));
      current = part;
    } else {
      current = candidate;
    }
  });
  return current === '' ? chunks : [...chunks, stringRepr(current)];
}
