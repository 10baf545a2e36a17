/** `str(x)` and `repr(x)` of Python for every value. */
import {floatRepr} from './number-text.ts';
import {PyDict, PyFloat, PyObject, PyTuple, type Value} from './values.ts';

/** `str(x)`; what `{{ x }}` prints. */
export function str(value: Value): string {
  if (typeof value === 'string') return value;
  return value instanceof PyObject ? value.toText(repr) : repr(value);
}

/** `repr(x)` */
export function repr(value: Value): string {
  if (typeof value === 'string') return stringRepr(value);
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value instanceof PyFloat) return floatRepr(value.value);
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  if (value instanceof PyTuple) return tupleRepr(value.items);
  if (value instanceof PyDict) return dictRepr(value);
  return value.toRepr(repr);
}

function tupleRepr(items: readonly Value[]): string {
  return items.length === 1 ? `(${repr(items[0]!)},)` : `(${items.map(repr).join(', ')})`;
}

function dictRepr(dict: PyDict): string {
  return `{${[...dict.entries()].map(([key, value]) => `${repr(key)}: ${repr(value)}`).join(', ')}}`;
}

const plainText = /^[\x20-\x26\x28-\x5b\x5d-\x7e]*$/;
/** What Python does not print as it is: control, format, unassigned and private characters, and spaces but U+0020. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}|\\/gu;
const shortEscapes: Readonly<Record<string, string>> = {'\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\'};

/** Single quotes, unless there are single quotes inside and no double ones. */
export function stringRepr(text: string): string {
  if (plainText.test(text)) return `'${text}'`;
  const escaped = text.replace(unprintable, escapeCharacter);
  if (!escaped.includes("'")) return `'${escaped}'`;
  return escaped.includes('"') ? `'${escaped.replaceAll("'", "\\'")}'` : `"${escaped}"`;
}

/** True when `repr` shows every character as it is, as `str.isprintable` says. */
export function isPrintable(text: string): boolean {
  return text.replaceAll('\\', '').search(unprintable) < 0;
}

/** `ascii(x)`: `repr` with escapes for all that is not ASCII. */
export function asciiRepr(value: Value): string {
  return repr(value).replace(/[^\x00-\x7f]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return shortEscapes[character] ?? codePointEscape(character.codePointAt(0)!);
}

function codePointEscape(codePoint: number): string {
  const digits = codePoint.toString(16);
  if (codePoint <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  return codePoint <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}
