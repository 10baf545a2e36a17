/** The filter `tojson` as transformers defines it: Python's `json.dumps`, nothing escaped for HTML. */
import {builtin} from './builtin.ts';
import {compareTexts} from './code-points.ts';
import {isLess} from './comparison.ts';
import {floatRepr} from './number-text.ts';
import {textOf} from './objects.ts';
import {typeError} from './python-error.ts';
import {isTrue, toIndex, toList} from './sequences.ts';
import {assertTextLength} from './size-limits.ts';
import {isInteger, itemsOf, PyDict, PyFloat, typeName, type Value} from './values.ts';

interface JsonStyle {
  readonly isAscii: boolean;
  /** White space of one level; null = all on one line. */
  readonly indent: string | null;
  readonly itemSeparator: string;
  readonly keySeparator: string;
  readonly sortsKeys: boolean;
}

/** @throws PythonError for what JSON cannot hold */
function dump(value: Value, style: JsonStyle, level: number): string {
  const text = textOf(value);
  if (text !== undefined) return jsonText(text, style.isAscii);
  if (value === null) return 'null';
  if (isInteger(value)) return String(value);
  if (value instanceof PyFloat) return floatJson(value.value);
  const items = itemsOf(value);
  if (items)
    return wrap(
      '[',
      ']',
      items.map((item) => dump(item, style, level + 1)),
      style,
      level,
    );
  if (value instanceof PyDict) return wrap('{', '}', members(value, style, level), style, level);
  throw typeError(`Object of type ${typeName(value)} is not JSON serializable`);
}

function floatJson(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  return floatRepr(value);
}

function members(dict: PyDict, style: JsonStyle, level: number): string[] {
  const entries = [...dict.entries()];
  if (style.sortsKeys) entries.sort(([left], [right]) => keyOrder(left, right));
  return entries.map(
    ([key, value]) => jsonText(keyText(key), style.isAscii) + style.keySeparator + dump(value, style, level + 1),
  );
}

function keyOrder(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  return isLess(left, right) ? -1 : 1;
}

function keyText(key: Value): string {
  const text = textOf(key);
  if (text !== undefined) return text;
  if (key === null) return 'null';
  if (isInteger(key)) return String(key);
  if (key instanceof PyFloat) return floatJson(key.value);
  throw typeError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
}

function wrap(open: string, close: string, parts: readonly string[], style: JsonStyle, level: number): string {
  if (parts.length === 0) return open + close;
  if (style.indent === null) return open + parts.join(style.itemSeparator) + close;
  assertTextLength(style.indent.length * (level + 1) * parts.length);
  const line = `\n${style.indent.repeat(level + 1)}`;
  return `${open}${line}${parts.join(style.itemSeparator + line)}\n${style.indent.repeat(level)}${close}`;
}

const escapedAlways = /["\\\u0000-\u001f]/g;
const escapedForAscii = /["\\\u0000-\u001f\u007f-\uffff]/g;
const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

function jsonText(text: string, isAscii: boolean): string {
  return `"${text.replace(isAscii ? escapedForAscii : escapedAlways, escapeUnit)}"`;
}

function escapeUnit(unit: string): string {
  return shortEscapes[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A text, or a number of spaces; less than one gives line breaks alone. */
function indentText(indent: Value): string | null {
  if (indent === null) return null;
  return textOf(indent) ?? ' '.repeat(Math.max(0, toIndex(indent)));
}

function readSeparators(separators: Value, indent: string | null): [string, string] {
  if (separators === null) return [indent === null ? ', ' : ',', ': '];
  const [item, key] = toList(separators).map((separator) => textOf(separator) ?? '');
  return [item ?? '', key ?? ''];
}

export const toJsonFilter = builtin(
  'tojson',
  ['x', ['ensure_ascii', false], ['indent', null], ['separators', null], ['sort_keys', false]],
  (_context, value, isAscii, indent, separators, sortsKeys) => {
    const lineIndent = indentText(indent!);
    const [itemSeparator, keySeparator] = readSeparators(separators!, lineIndent);
    const style = {
      isAscii: isTrue(isAscii!),
      indent: lineIndent,
      itemSeparator,
      keySeparator,
      sortsKeys: isTrue(sortsKeys!),
    };
    return dump(value!, style, 0);
  },
);
