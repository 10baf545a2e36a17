/** From one kind of number to another, and from texts to numbers, as Python's `int()` and `float()` do. */

import {strip} from '../../util/python-text.ts';
import {textOf, Undefined} from './objects.ts';
import {PythonError, typeError, valueError} from './python-error.ts';
import {stringRepr} from './text.ts';
import {isInteger, isNumeric, PyFloat, toInteger, typeName, type Value} from './values.ts';

/** An integer without the kind of a bool. */
export function integerOf(value: number | bigint | boolean): number | bigint {
  return typeof value === 'boolean' ? Number(value) : value;
}

/** `float(value)` of a number. @throws PythonError when an integer is too large */
export function toFloat(value: number | bigint | boolean | PyFloat): number {
  if (value instanceof PyFloat) return value.value;
  const float = Number(value);
  if (Number.isFinite(float)) return float;
  throw new PythonError('OverflowError', 'int too large to convert to float');
}

/** Number of binary digits, without the sign. */
export function bitLength(value: number | bigint): number {
  if (typeof value === 'number') return value === 0 ? 0 : Math.floor(Math.log2(Math.abs(value) + 0.5)) + 1;
  const digits = value.toString(16).replace('-', '');
  return (digits.length - 1) * 4 + 32 - Math.clz32(Number.parseInt(digits[0]!, 16));
}

const floatPattern = /^[-+]?(?:(?:\d+(?:_\d+)*)?\.?(?:\d+(?:_\d+)*)?(?:e[-+]?\d+(?:_\d+)*)?|inf(?:inity)?|nan)$/i;

/** `float(value)` @throws PythonError */
export function parseFloatLike(value: Value): number {
  if (isNumeric(value)) return toFloat(value);
  if (value instanceof Undefined) throw value.error();
  const text = textOf(value);
  if (text === undefined) {
    throw typeError(`float() argument must be a string or a real number, not '${typeName(value)}'`);
  }
  const trimmed = toAsciiDigits(strip(text));
  if (!floatPattern.test(trimmed) || !/\d|inf|nan/i.test(trimmed)) {
    throw valueError(`could not convert string to float: ${stringRepr(text)}`);
  }
  if (/inf/i.test(trimmed)) return trimmed.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return Number(trimmed.replaceAll('_', ''));
}

/** `int(value)` of anything but a text. @throws PythonError */
export function truncate(value: Value): number | bigint {
  if (isInteger(value)) return integerOf(value);
  if (value instanceof Undefined) throw value.error();
  if (!(value instanceof PyFloat)) {
    const expected = 'a string, a bytes-like object or a real number';
    throw typeError(`int() argument must be ${expected}, not '${typeName(value)}'`);
  }
  if (Number.isNaN(value.value)) throw valueError('cannot convert float NaN to integer');
  if (!Number.isFinite(value.value)) throw new PythonError('OverflowError', 'cannot convert float infinity to integer');
  return toInteger(Math.trunc(value.value));
}

const prefixes: Readonly<Record<string, number>> = {'0b': 2, '0o': 8, '0x': 16};

/** `int(text, base)` @throws PythonError */
export function parseInteger(text: string, base: number): number | bigint {
  const match = /^([-+]?)(0[box])?(_?[0-9a-z]+(?:_[0-9a-z]+)*)$/i.exec(toAsciiDigits(strip(text)));
  const invalid = valueError(`invalid literal for int() with base ${base}: ${stringRepr(text)}`);
  if (!match) throw invalid;
  const [, sign, prefix = '', body] = match;
  const prefixBase = prefixes[prefix.toLowerCase()];
  const usesPrefix = prefixBase !== undefined && (base === 0 || base === prefixBase);
  const actualBase = base === 0 ? (prefixBase ?? 10) : base;
  const digits = (usesPrefix ? body! : prefix + body!).replaceAll('_', '').toLowerCase();
  let value = 0n;
  for (const digit of digits) {
    const number = Number.parseInt(digit, 36);
    if (number >= actualBase) throw invalid;
    value = value * BigInt(actualBase) + BigInt(number);
  }
  return toInteger(sign === '-' ? -value : value);
}

/** Decimal digits of other scripts count as digits. */
function toAsciiDigits(text: string): string {
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return text.replace(/\p{Nd}/gu, (digit) => String(digitValue(digit)));
}

/** Digits of a script stand in runs of ten; the first one is a zero. */
function digitValue(digit: string): number {
  const codePoint = digit.codePointAt(0)!;
  let zero = codePoint;
  while (codePoint - zero < 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return codePoint - zero;
}
