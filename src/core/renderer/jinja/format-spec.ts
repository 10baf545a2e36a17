/** The mini-language of `format(value, spec)`: fill, alignment, sign, width, grouping, precision and type. */
import {codePointLength} from '../../util/python-text.ts';
import {characters} from './code-points.ts';
import {exponentialText, fixedText, generalText} from './decimal-text.ts';
import {toFloat} from './number-conversion.ts';
import {floatRepr} from './number-text.ts';
import {textOf} from './objects.ts';
import {PythonError, typeError, valueError} from './python-error.ts';
import {assertTextLength} from './size-limits.ts';
import {str} from './text.ts';
import {isInteger, PyFloat, typeName, type Value} from './values.ts';

interface FormatSpec {
  readonly fill: string;
  readonly align: string | undefined;
  readonly sign: string | undefined;
  /** `z`: a zero has no sign. */
  readonly dropsNegativeZero: boolean;
  readonly alternate: boolean;
  readonly zeroPadded: boolean;
  readonly width: number;
  readonly grouping: string | undefined;
  readonly precision: number | undefined;
  readonly type: string;
}

const pattern = /^(?:(.)?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([_,])?(?:\.(\d+))?(.)?$/su;

/** `format(value, spec)` @throws PythonError when the spec does not fit the value's kind */
export function formatValue(value: Value, spec: string): string {
  if (spec === '') return str(value);
  const text = textOf(value);
  if (text !== undefined) return formatText(text, parseSpec(spec, value));
  if (isInteger(value)) return formatInteger(value, parseSpec(spec, value));
  if (value instanceof PyFloat) return formatFloat(value.value, parseSpec(spec, value), 'float');
  throw typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
}

function parseSpec(spec: string, value: Value): FormatSpec {
  const match = pattern.exec(spec);
  if (!match) throw valueError(`Invalid format specifier '${spec}' for object of type '${typeName(value)}'`);
  const [, fill, align, sign, noNegativeZero, alternate, zero, width, grouping, precision, type] = match;
  if (noNegativeZero !== undefined && !(value instanceof PyFloat)) {
    const kind = textOf(value) === undefined ? 'integer' : 'string';
    throw valueError(`Negative zero coercion (z) not allowed in ${kind} format specifier`);
  }
  return {
    fill: fill ?? (zero === undefined ? ' ' : '0'),
    align,
    sign,
    dropsNegativeZero: noNegativeZero !== undefined,
    alternate: alternate !== undefined,
    zeroPadded: zero !== undefined,
    width: readSize(width),
    grouping,
    precision: precision === undefined ? undefined : readSize(precision),
    type: type ?? '',
  };
}

function readSize(digits: string | undefined): number {
  const size = Number(digits ?? 0);
  assertTextLength(size);
  return size;
}

function formatText(text: string, spec: FormatSpec): string {
  if (spec.type !== '' && spec.type !== 's') throw unknownCode(spec.type, 'str');
  if (spec.sign !== undefined) throw valueError('Sign not allowed in string format specifier');
  if (spec.alternate) throw valueError('Alternate form (#) not allowed in string format specifier');
  if (spec.align === '=') throw valueError("'=' alignment not allowed in string format specifier");
  if (spec.grouping !== undefined) throw valueError(`Cannot specify '${spec.grouping}' with 's'.`);
  const shown = spec.precision === undefined ? text : characters(text).slice(0, spec.precision).join('');
  return pad(shown, spec, '<');
}

const integerBases: Readonly<Record<string, [base: number, prefix: string]>> = {
  '': [10, ''],
  d: [10, ''],
  n: [10, ''],
  b: [2, '0b'],
  o: [8, '0o'],
  x: [16, '0x'],
  X: [16, '0X'],
};

function formatInteger(value: number | bigint | boolean, spec: FormatSpec): string {
  if ('eEfFgG%'.includes(spec.type) && spec.type !== '') return formatFloat(toFloat(value), spec, 'int');
  if (spec.precision !== undefined) throw valueError('Precision not allowed in integer format specifier');
  if (spec.type === 'c') return pad(characterOf(Number(value)), spec, '<');
  if (!(spec.type in integerBases)) throw unknownCode(spec.type, typeName(value));
  const [base, prefix] = integerBases[spec.type]!;
  const number = typeof value === 'boolean' ? Number(value) : value;
  const digits = (number < 0 ? -number : number).toString(base);
  const text = spec.type === 'X' ? digits.toUpperCase() : digits;
  const sign = signText(number < 0, spec) + (spec.alternate ? prefix : '');
  return padNumber(sign, text, '', spec, base === 10 ? 3 : 4);
}

function characterOf(codePoint: number): string {
  if (codePoint >= 0 && codePoint <= 0x10ffff) return String.fromCodePoint(codePoint);
  throw new PythonError('OverflowError', '%c arg not in range(0x110000)');
}

function formatFloat(value: number, spec: FormatSpec, kind: string): string {
  const text = floatText(value, spec, kind);
  const negative = text.startsWith('-') && !(spec.dropsNegativeZero && /^-[0.]*(?:e|%|$)/.test(text));
  const [, whole, rest] = /^(\d*)(.*)$/s.exec(text.startsWith('-') ? text.slice(1) : text)!;
  return padNumber(signText(negative, spec), whole!, rest!, spec, 3);
}

function floatText(value: number, spec: FormatSpec, kind: string): string {
  const precision = spec.precision ?? 6;
  const lower = spec.type.toLowerCase();
  const write = floatWriters[lower];
  if (!write || spec.type === 'N') throw unknownCode(spec.type, kind);
  const text =
    spec.type === '' && spec.precision === undefined ? floatRepr(value) : write(value, precision, spec.alternate);
  return spec.type !== lower ? text.toUpperCase() : text;
}

const floatWriters: Readonly<Record<string, (value: number, precision: number, alternate: boolean) => string>> = {
  e: (value, precision) => exponentialText(value, precision),
  f: (value, precision) => fixedText(value, precision),
  g: (value, precision, alternate) => generalText(value, precision, {keepsZeros: alternate}),
  n: (value, precision, alternate) => generalText(value, precision, {keepsZeros: alternate}),
  '%': (value, precision) => `${fixedText(value * 100, precision)}%`,
  '': (value, precision, alternate) => generalText(value, precision, {keepsZeros: alternate, addsPointZero: true}),
};

function signText(negative: boolean, spec: FormatSpec): string {
  if (negative) return '-';
  return spec.sign === '+' || spec.sign === ' ' ? spec.sign : '';
}

/** Groups the digits before the point, and fills with zeros between sign and digits where that is asked. */
function padNumber(sign: string, whole: string, rest: string, spec: FormatSpec, groupSize: number): string {
  const align = spec.align ?? (spec.zeroPadded ? '=' : '>');
  const room = align === '=' && spec.fill === '0' ? spec.width - sign.length - rest.length : 0;
  const digits = spec.grouping === undefined ? whole : grouped(whole, spec.grouping, groupSize, room);
  if (align !== '=') return pad(sign + digits + rest, spec, align);
  return sign + spec.fill.repeat(Math.max(0, spec.width - sign.length - digits.length - rest.length)) + digits + rest;
}

function grouped(digits: string, separator: string, size: number, room: number): string {
  if (!/^\d/.test(digits) && !/^[0-9a-f]/i.test(digits)) return digits;
  let padded = digits;
  const insert = (text: string): string => text.replace(new RegExp(`\\B(?=(?:.{${size}})+$)`, 'g'), separator);
  while (insert(padded).length < room) padded = `0${padded}`;
  return insert(padded);
}

function pad(text: string, spec: FormatSpec, standard: string): string {
  const missing = spec.width - codePointLength(text);
  if (missing <= 0) return text;
  const align = spec.align ?? standard;
  const before = align === '>' ? missing : align === '^' ? Math.floor(missing / 2) : 0;
  return spec.fill.repeat(before) + text + spec.fill.repeat(missing - before);
}

function unknownCode(type: string, kind: string): PythonError {
  return valueError(`Unknown format code '${type}' for object of type '${kind}'`);
}
