/** `text % values`: printf-like formatting. */
import {codePointLength} from '../../util/python-text.ts';
import {characters} from './code-points.ts';
import {exponentialText, fixedText, generalText} from './decimal-text.ts';
import {escapeMarkup} from './markup.ts';
import {integerOf, toFloat, truncate} from './number-conversion.ts';
import {Markup, textOf, Undefined} from './objects.ts';
import {PythonError, typeError, valueError} from './python-error.ts';
import {itemAt} from './sequences.ts';
import {assertTextLength} from './size-limits.ts';
import {asciiRepr, repr, str} from './text.ts';
import {isInteger, isNumeric, PyDict, PyFloat, PyObject, PyTuple, typeName, type Value} from './values.ts';

interface Conversion {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly type: string;
  /** Makes text of what is no number. */
  readonly show: (text: string) => string;
}

const conversionPattern = /%(?:\(([^)]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?([\s\S]?)/gu;

/** @throws PythonError when values and format do not fit */
export function percentFormat(format: string | Markup, values: Value): Value {
  const isMarkup = format instanceof Markup;
  const text = isMarkup ? format.text : format;
  const show = isMarkup ? (shown: string): string => escapeMarkup(shown).text : (shown: string): string => shown;
  const source = new ValueSource(values);
  const result = text.replace(conversionPattern, (...match: unknown[]) => {
    const [, name, flags, width, precision, type, position] = match as (string | undefined)[];
    if (match[0] === '%%') return '%';
    if (type === '') throw valueError('incomplete format');
    const field = name === undefined ? undefined : source.named(name);
    const conversion: Conversion = {
      flags: flags!,
      width: source.size(width) ?? 0,
      precision: precision === '' ? 0 : source.size(precision),
      type: type!,
      show,
    };
    const writer = writers[conversion.type];
    if (!writer && type === '%') source.next();
    if (!writer) throw unknownType(conversion.type, Number(position) + match[0]!.toString().length - 1);
    return writer(field ?? source.next(), conversion);
  });
  source.assertUsed();
  assertTextLength(result.length);
  return isMarkup ? new Markup(result) : result;
}

function unknownType(type: string, index: number): PythonError {
  return valueError(
    `unsupported format character '${type}' (0x${type.codePointAt(0)!.toString(16)}) at index ${index}`,
  );
}

/** Where values come from: a tuple one by one, a dict by name, anything else once. */
class ValueSource {
  readonly #values: Value;
  readonly #items: readonly Value[];
  #used = 0;

  constructor(values: Value) {
    this.#values = values;
    this.#items = values instanceof PyTuple ? values.items : [values];
  }

  next(): Value {
    if (this.#used >= this.#items.length) throw typeError('not enough arguments for format string');
    return this.#items[this.#used++]!;
  }

  named(name: string): Value {
    if (!isMapping(this.#values)) throw typeError('format requires a mapping');
    const value = itemAt(this.#values, name);
    if (value === undefined) throw new PythonError('KeyError', repr(name));
    return value;
  }

  /** `*` takes the size from the values. */
  size(digits: string | undefined): number | undefined {
    if (digits === undefined) return undefined;
    const size = digits === '*' ? this.next() : Number(digits);
    if (!isInteger(size)) throw typeError('* wants int');
    assertTextLength(Math.abs(Number(size)));
    return Number(size);
  }

  /** A dict or a list may stay unused, as in Python. */
  assertUsed(): void {
    if (this.#used >= this.#items.length || isMapping(this.#values)) return;
    throw typeError('not all arguments converted during string formatting');
  }
}

function isMapping(value: Value): boolean {
  return value instanceof PyDict || Array.isArray(value) || (value instanceof PyObject && value.item !== undefined);
}

type Writer = (value: Value, conversion: Conversion) => string;

const writers: Readonly<Record<string, Writer>> = {
  s: (value, conversion) => writeText(value instanceof Markup ? value.text : conversion.show(str(value)), conversion),
  r: (value, conversion) => writeText(conversion.show(repr(value)), conversion),
  a: (value, conversion) => writeText(conversion.show(asciiRepr(value)), conversion),
  c: writeCharacter,
  ...Object.fromEntries([...'diu'].map((type) => [type, decimalWriter])),
  o: baseWriter(8, '0o'),
  x: baseWriter(16, '0x'),
  X: (value, conversion) => baseWriter(16, '0x')(value, conversion).toUpperCase(),
  ...Object.fromEntries([...'eEfFgG'].map((type) => [type, floatWriter])),
};

function writeText(text: string, conversion: Conversion): string {
  const {precision} = conversion;
  return pad(precision === undefined ? text : characters(text).slice(0, precision).join(''), conversion);
}

function writeCharacter(value: Value, conversion: Conversion): string {
  const text = textOf(value);
  if (text !== undefined && codePointLength(text) === 1) return pad(text, conversion);
  if (!isInteger(value)) throw typeError('%c requires int or char');
  const codePoint = Number(value);
  if (codePoint < 0 || codePoint > 0x10ffff) throw new PythonError('OverflowError', '%c arg not in range(0x110000)');
  return pad(String.fromCodePoint(codePoint), conversion);
}

function decimalWriter(value: Value, conversion: Conversion): string {
  if (value instanceof Undefined) throw value.error();
  if (!isNumeric(value)) {
    throw typeError(`%${conversion.type} format: a real number is required, not ${typeName(value)}`);
  }
  return writeInteger(truncate(value), 10, '', conversion);
}

function baseWriter(base: number, prefix: string): Writer {
  return (value, conversion) => {
    if (isInteger(value)) return writeInteger(integerOf(value), base, prefix, conversion);
    throw typeError(`%${conversion.type} format: an integer is required, not ${typeName(value)}`);
  };
}

function writeInteger(value: number | bigint, base: number, prefix: string, conversion: Conversion): string {
  const digits = (value < 0 ? -value : value).toString(base).padStart(conversion.precision ?? 0, '0');
  return signed(value < 0, conversion.flags.includes('#') ? prefix : '', digits, conversion);
}

const floatForms: Readonly<Record<string, (value: number, digits: number, alternate: boolean) => string>> = {
  e: exponentialText,
  f: fixedText,
  g: (value, digits, alternate) => generalText(value, digits, {keepsZeros: alternate}),
};

function floatWriter(value: Value, conversion: Conversion): string {
  if (value instanceof Undefined) throw value.error();
  if (!isNumeric(value)) throw typeError(`must be real number, not ${typeName(value)}`);
  const number = value instanceof PyFloat ? value.value : toFloat(value);
  const form = floatForms[conversion.type.toLowerCase()]!;
  const text = form(number, conversion.precision ?? 6, conversion.flags.includes('#'));
  const negative = text.startsWith('-');
  const written = signed(negative, '', negative ? text.slice(1) : text, conversion);
  return conversion.type === conversion.type.toLowerCase() ? written : written.toUpperCase();
}

/** Sign and prefix stand before the zeros that fill the width. */
function signed(negative: boolean, prefix: string, digits: string, conversion: Conversion): string {
  const {flags, width} = conversion;
  const sign = negative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  const fills = flags.includes('0') && !flags.includes('-');
  const filled = fills ? digits.padStart(width - sign.length - prefix.length, '0') : digits;
  return pad(sign + prefix + filled, conversion);
}

function pad(text: string, {flags, width}: Conversion): string {
  const spaces = ' '.repeat(Math.max(0, Math.abs(width) - codePointLength(text)));
  return flags.includes('-') || width < 0 ? text + spaces : spaces + text;
}
