/**
 * Python's operators on numbers, and on the sequences that know some of them (`+`, `*`, `%`). Integers have any size and
 * stay integers, `/` always gives a float, `//` and `%` round down.
 */
import {escapeMarkup} from './markup.ts';
import {bitLength, integerOf, toFloat} from './number-conversion.ts';
import {Markup, textOf, Undefined} from './objects.ts';
import {percentFormat} from './percent-format.ts';
import {PythonError, typeError} from './python-error.ts';
import {lengthOf} from './sequences.ts';
import {assertIntegerBits, assertListLength, assertTextLength} from './size-limits.ts';
import {isInteger, isNumeric, PyFloat, PyTuple, toInteger, typeName, type Value} from './values.ts';

export type BinaryOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**';
type Integer = number | bigint;
type Numeric = Integer | boolean | PyFloat;

/** `left operator right` @throws PythonError with Python's text */
export function binary(operator: BinaryOperator, left: Value, right: Value): Value {
  if (typeof left === 'number' && typeof right === 'number') return integerOperators[operator](left, right);
  const result = sequenceOperator(operator, left, right);
  if (result !== undefined) return result;
  if (isNumeric(left) && isNumeric(right)) return numericOperator(operator, left, right);
  if (left instanceof Undefined) throw left.error();
  if (right instanceof Undefined) throw right.error();
  throw unsupported(operator, left, right);
}

/** `-value` */
export function negate(value: Value): Value {
  if (value instanceof PyFloat) return new PyFloat(-value.value);
  if (isInteger(value)) return multiplyIntegers(integerOf(value), -1);
  throw badOperand('-', value);
}

/** `+value` */
export function plus(value: Value): Value {
  if (value instanceof PyFloat) return value;
  if (isInteger(value)) return integerOf(value);
  throw badOperand('+', value);
}

/** `abs(value)` */
export function absolute(value: Value): Value {
  if (value instanceof PyFloat) return new PyFloat(Math.abs(value.value));
  if (!isInteger(value)) throw badOperand('abs()', value);
  const integer = integerOf(value);
  return integer < 0 ? multiplyIntegers(integer, -1) : integer;
}

function badOperand(operator: string, value: Value): PythonError {
  if (value instanceof Undefined && operator !== 'abs()') return value.error();
  const name = operator === 'abs()' ? operator : `unary ${operator}`;
  return typeError(`bad operand type for ${name}: '${typeName(value)}'`);
}

function unsupported(operator: BinaryOperator, left: Value, right: Value): PythonError {
  const shown = operator === '**' ? '** or pow()' : operator;
  return typeError(`unsupported operand type(s) for ${shown}: '${typeName(left)}' and '${typeName(right)}'`);
}

function numericOperator(operator: BinaryOperator, left: Numeric, right: Numeric): Value {
  if (left instanceof PyFloat || right instanceof PyFloat) {
    return new PyFloat(floatOperators[operator](toFloat(left), toFloat(right)));
  }
  return integerOperators[operator](integerOf(left), integerOf(right));
}

const integerOperators: Readonly<Record<BinaryOperator, (left: Integer, right: Integer) => Value>> = {
  '+': (left, right) =>
    exactOr(
      left,
      right,
      (a, b) => a + b,
      (a, b) => a + b,
    ),
  '-': (left, right) =>
    exactOr(
      left,
      right,
      (a, b) => a - b,
      (a, b) => a - b,
    ),
  '*': multiplyIntegers,
  '/': divideIntegers,
  '//': (left, right) => floorDivide(left, right, 'integer division or modulo by zero').quotient,
  '%': (left, right) => floorDivide(left, right, 'integer modulo by zero').remainder,
  '**': powerOfIntegers,
};

/** In numbers while the result is exact, else in bigints. */
function exactOr(
  left: Integer,
  right: Integer,
  withNumbers: (left: number, right: number) => number,
  withBigints: (left: bigint, right: bigint) => bigint,
): Integer {
  if (typeof left === 'number' && typeof right === 'number') {
    const result = withNumbers(left, right);
    if (Number.isSafeInteger(result)) return result + 0;
  }
  return toInteger(withBigints(BigInt(left), BigInt(right)));
}

function multiplyIntegers(left: Integer, right: Integer): Integer {
  assertIntegerBits(bitLength(left) + bitLength(right));
  return exactOr(
    left,
    right,
    (a, b) => a * b,
    (a, b) => a * b,
  );
}

function divideIntegers(left: Integer, right: Integer): PyFloat {
  if (right === 0) throw divisionByZero('division by zero');
  if (typeof left === 'number' && typeof right === 'number') return new PyFloat(quotientOf(left, right));
  const quotient = largeQuotient(BigInt(left), BigInt(right));
  if (!Number.isFinite(quotient)) {
    throw new PythonError('OverflowError', 'integer division result too large for a float');
  }
  return new PyFloat(quotient);
}

/** Zero keeps the sign of the divisor: `0 / -5` is `-0.0`. */
function quotientOf(left: number, right: number): number {
  return left === 0 && right < 0 ? -0 : left / right;
}

/** Scaled so that both sides fit a float's digits; a remainder keeps the last digit from being rounded twice. */
function largeQuotient(left: bigint, right: bigint): number {
  const shift = Math.max(0, 66 + bitLength(right) - bitLength(left));
  const scaled = (left << BigInt(shift)) / right;
  const isExact = scaled * right === left << BigInt(shift);
  return Number(isExact ? scaled : scaled | 1n) / 2 ** shift;
}

/** Both results at once: the quotient rounds down, the remainder has the divisor's sign. */
function floorDivide(left: Integer, right: Integer, text: string): {quotient: Integer; remainder: Integer} {
  if (right === 0) throw divisionByZero(text);
  if (typeof left === 'number' && typeof right === 'number') {
    const rest = left % right;
    const moves = rest !== 0 && rest < 0 !== right < 0;
    return {quotient: (left - rest) / right - Number(moves) + 0, remainder: (moves ? rest + right : rest) + 0};
  }
  const [a, b] = [BigInt(left), BigInt(right)];
  const rest = a % b;
  const moves = rest !== 0n && rest < 0n !== b < 0n;
  return {quotient: toInteger(a / b - (moves ? 1n : 0n)), remainder: toInteger(moves ? rest + b : rest)};
}

function powerOfIntegers(base: Integer, exponent: Integer): Value {
  if (exponent < 0) return new PyFloat(powerOfFloats(toFloat(base), toFloat(exponent)));
  const bits = bitLength(base) <= 1 ? 1 : bitLength(base) * Number(exponent);
  assertIntegerBits(bits);
  return toInteger(BigInt(base) ** BigInt(exponent));
}

const floatOperators: Readonly<Record<BinaryOperator, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / nonZero(right, 'float division by zero'),
  '//': (left, right) => floorDivideFloats(left, nonZero(right, 'float floor division by zero')),
  '%': (left, right) => moduloOfFloats(left, nonZero(right, 'float modulo')),
  '**': powerOfFloats,
};

function nonZero(divisor: number, text: string): number {
  if (divisor === 0) throw divisionByZero(text);
  return divisor;
}

function divisionByZero(text: string): PythonError {
  return new PythonError('ZeroDivisionError', text);
}

/** The remainder has the divisor's sign, also when it is zero. */
function moduloOfFloats(left: number, right: number): number {
  const rest = left % right;
  if (rest === 0) return right < 0 ? -0 : 0;
  return rest < 0 !== right < 0 ? rest + right : rest;
}

function floorDivideFloats(left: number, right: number): number {
  const rest = left % right;
  const quotient = (left - rest) / right - Number(rest !== 0 && rest < 0 !== right < 0);
  if (quotient === 0) return Object.is(left / right, -0) || left / right < 0 ? -0 : 0;
  const whole = Math.floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

function powerOfFloats(base: number, exponent: number): number {
  if (base === 0 && exponent < 0) {
    throw divisionByZero('0.0 cannot be raised to a negative power');
  }
  if (base === 1) return 1;
  const power = base ** exponent;
  const isFiniteInput = Number.isFinite(base) && Number.isFinite(exponent);
  if (Number.isNaN(power) && isFiniteInput) throw typeError('complex numbers are not supported');
  if (isFiniteInput && !Number.isFinite(power)) {
    throw new PythonError('OverflowError', "(34, 'Numerical result out of range')");
  }
  return power;
}

/** Operators of texts, lists and tuples; undefined where the numbers' rules or an error follow. */
function sequenceOperator(operator: BinaryOperator, left: Value, right: Value): Value | undefined {
  if (operator === '+') return concatenate(left, right);
  if (operator === '*') return repeat(left, right);
  if (operator === '%' && textOf(left) !== undefined) return percentFormat(left as string | Markup, right);
  return undefined;
}

function concatenate(left: Value, right: Value): Value | undefined {
  if (typeof left === 'string' && typeof right === 'string') return joined(left, right);
  if (left instanceof Markup || right instanceof Markup) return concatenateMarkup(left, right);
  if (Array.isArray(left) && Array.isArray(right)) return joinedItems(left, right);
  if (left instanceof PyTuple && right instanceof PyTuple) return new PyTuple(joinedItems(left.items, right.items));
  if (!isConcatenated(left) || right instanceof Undefined) return undefined;
  const name = typeName(left);
  throw typeError(`can only concatenate ${name} (not "${typeName(right)}") to ${name}`);
}

function isConcatenated(value: Value): boolean {
  return typeof value === 'string' || Array.isArray(value) || value instanceof PyTuple;
}

function joined(left: string, right: string): string {
  assertTextLength(left.length + right.length);
  return left + right;
}

function joinedItems(left: readonly Value[], right: readonly Value[]): Value[] {
  assertListLength(left.length + right.length);
  return [...left, ...right];
}

/** The side that is no Markup is escaped. */
function concatenateMarkup(left: Value, right: Value): Markup | undefined {
  if (textOf(left) === undefined || textOf(right) === undefined) return undefined;
  return new Markup(joined(escapeMarkup(left).text, escapeMarkup(right).text));
}

function repeat(left: Value, right: Value): Value | undefined {
  const [sequence, count] = isRepeatable(left) ? [left, right] : [right, left];
  if (!isRepeatable(sequence) || count instanceof Undefined) return undefined;
  if (!isInteger(count)) throw typeError(`can't multiply sequence by non-int of type '${typeName(count)}'`);
  return repeated(sequence, Math.max(0, Number(count)));
}

function isRepeatable(value: Value): boolean {
  return isConcatenated(value) || value instanceof Markup;
}

function repeated(sequence: Value, count: number): Value {
  const size = lengthOf(sequence)! * count;
  const text = textOf(sequence);
  if (text !== undefined) {
    assertTextLength(size);
    return sequence instanceof Markup ? new Markup(text.repeat(count)) : text.repeat(count);
  }
  assertListLength(size);
  if (Array.isArray(sequence)) return repeatedItems(sequence, count);
  return new PyTuple(repeatedItems((sequence as PyTuple).items, count));
}

function repeatedItems(items: readonly Value[], count: number): Value[] {
  return items.length === 0
    ? []
    : Array.from({length: items.length * count}, (_, index) => items[index % items.length]!);
}
