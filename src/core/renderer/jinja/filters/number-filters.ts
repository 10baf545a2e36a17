/** Filters that make numbers, or text of numbers. */
import {absolute, binary} from '../arithmetic.ts';
import {type Builtin, builtin} from '../builtin.ts';
import {fixedText, roundFloat, roundToInteger} from '../decimal-text.ts';
import {integerOf, parseFloatLike, parseInteger, toFloat, truncate} from '../number-conversion.ts';
import {textOf, Undefined} from '../objects.ts';
import {PythonError, typeError} from '../python-error.ts';
import {isTrue, toIndex} from '../sequences.ts';
import {isInteger, isNumeric, PyFloat, toInteger, typeName, type Value} from '../values.ts';

/** The value, or the other one when Python's conversion refuses it. */
function orElse(convert: () => Value, refused: readonly string[], standard: () => Value): Value {
  try {
    return convert();
  } catch (error) {
    if (error instanceof PythonError && refused.includes(error.kind)) return standard();
    throw error;
  }
}

function toInt(value: Value, standard: Value, base: Value): Value {
  const text = textOf(value);
  return orElse(
    () => (text === undefined ? truncate(value) : parseInteger(text, toIndex(base))),
    ['TypeError', 'ValueError'],
    () =>
      orElse(
        () => truncate(new PyFloat(parseFloatLike(value))),
        ['TypeError', 'ValueError', 'OverflowError'],
        () => standard,
      ),
  );
}

function round(value: Value, precision: Value, method: Value): Value {
  const name = textOf(method) ?? '';
  if (!['common', 'ceil', 'floor'].includes(name)) {
    throw new PythonError('FilterArgumentError', 'method must be common, ceil or floor');
  }
  if (name === 'common') return roundHalfEven(value, precision);
  const factor = binary('**', 10, precision);
  const scaled = binary('*', value, factor);
  if (!isNumeric(scaled)) throw typeError(`must be real number, not ${typeName(value)}`);
  const rounded = Math[name as 'ceil' | 'floor'](toFloat(scaled));
  return binary('/', toInteger(isInteger(scaled) ? BigInt(integerOf(scaled)) : BigInt(rounded)), factor);
}

/** `round(value, precision)`: an int stays one. */
function roundHalfEven(value: Value, precision: Value): Value {
  if (value instanceof Undefined || !isNumeric(value)) {
    throw typeError(`type ${typeName(value)} doesn't define __round__ method`);
  }
  if (value instanceof PyFloat) {
    return precision === null
      ? toInteger(roundToInteger(value.value))
      : new PyFloat(roundFloat(value.value, toIndex(precision)));
  }
  const integer = integerOf(value);
  const digits = precision === null ? 0 : toIndex(precision);
  return digits >= 0 ? integer : roundInteger(BigInt(integer), 10n ** BigInt(Math.min(-digits, 400)));
}

function roundInteger(value: bigint, unit: bigint): Value {
  const rest = ((value % unit) + unit) % unit;
  const lower = value - rest;
  const roundsUp = rest * 2n > unit || (rest * 2n === unit && (lower / unit) % 2n !== 0n);
  return toInteger(roundsUp ? lower + unit : lower);
}

const unitLetters = ['k', 'M', 'G', 'T', 'P', 'E', 'Z', 'Y'];

function fileSize(value: Value, binaryUnits: Value): string {
  const bytes = parseFloatLike(value);
  const base = isTrue(binaryUnits) ? 1024 : 1000;
  if (bytes === 1) return '1 Byte';
  if (bytes < base) return `${BigInt(Math.trunc(bytes))} Bytes`;
  const found = unitLetters.findIndex((_, index) => bytes < base ** (index + 2));
  const index = found < 0 ? unitLetters.length - 1 : found;
  const letter = base === 1024 ? unitLetters[index]!.toUpperCase() : unitLetters[index]!;
  return `${fixedText((base * bytes) / base ** (index + 2), 1)} ${letter}${base === 1024 ? 'i' : ''}B`;
}

export const numberFilters: Readonly<Record<string, Builtin>> = {
  abs: builtin('abs', ['x'], (_context, value) => absolute(value!), {positionalOnly: 1}),
  int: builtin('do_int', ['value', ['default', 0], ['base', 10]], (_context, value, standard, base) =>
    toInt(value!, standard!, base!),
  ),
  float: builtin('do_float', ['value', ['default', new PyFloat(0)]], (_context, value, standard) =>
    orElse(
      () => new PyFloat(parseFloatLike(value!)),
      ['TypeError', 'ValueError'],
      () => standard!,
    ),
  ),
  round: builtin('do_round', ['value', ['precision', 0], ['method', 'common']], (_context, value, precision, method) =>
    round(value!, precision!, method!),
  ),
  filesizeformat: builtin('do_filesizeformat', ['value', ['binary', false]], (_context, value, binaryUnits) =>
    fileSize(value!, binaryUnits!),
  ),
};
