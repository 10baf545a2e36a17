/**
 * Decimal texts of floats with a given number of digits, rounded as Python rounds: from the exact value of the float,
 * halves to even. (JavaScript's `toFixed` rounds halves up.)
 */
import {exponentText, nonFiniteText} from './number-text.ts';

/** A float as `numerator / denominator`, exactly. */
function toFraction(value: number): [numerator: bigint, denominator: bigint] {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const high = bits.getUint32(0);
  const biased = (high >>> 20) & 0x7ff;
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(bits.getUint32(4));
  const mantissa = biased === 0 ? fraction : fraction | (1n << 52n);
  const exponent = (biased === 0 ? 1 : biased) - 1075;
  return exponent >= 0 ? [mantissa << BigInt(exponent), 1n] : [mantissa, 1n << BigInt(-exponent)];
}

/** `|value| × 10^scale`, rounded to an integer. */
function scaledInteger(value: number, scale: number): bigint {
  let [numerator, denominator] = toFraction(Math.abs(value));
  if (scale >= 0) numerator *= 10n ** BigInt(scale);
  else denominator *= 10n ** BigInt(-scale);
  const quotient = numerator / denominator;
  const twice = (numerator - quotient * denominator) * 2n;
  const roundsUp = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  return roundsUp ? quotient + 1n : quotient;
}

function isNegative(value: number): boolean {
  return value < 0 || Object.is(value, -0);
}

/** `'%.{digits}f'` */
export function fixedText(value: number, digits: number): string {
  if (!Number.isFinite(value)) return nonFiniteText(value);
  const text = String(scaledInteger(value, digits)).padStart(digits + 1, '0');
  const sign = isNegative(value) ? '-' : '';
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** `digits + 1` significant digits and the exponent of the first. */
function significantDigits(value: number, digits: number): {text: string; exponent: number} {
  if (value === 0) return {text: '0'.repeat(digits + 1), exponent: 0};
  const exponent = Number(Math.abs(value).toExponential().split('e')[1]);
  const text = String(scaledInteger(value, digits - exponent));
  return text.length > digits + 1 ? {text: text.slice(0, digits + 1), exponent: exponent + 1} : {text, exponent};
}

/** `'%.{digits}e'` */
export function exponentialText(value: number, digits: number): string {
  if (!Number.isFinite(value)) return nonFiniteText(value);
  const {text, exponent} = significantDigits(value, digits);
  const fraction = digits === 0 ? '' : `.${text.slice(1)}`;
  return `${isNegative(value) ? '-' : ''}${text[0]}${fraction}e${exponentText(exponent)}`;
}

export interface GeneralOptions {
  /** Keep zeros at the end (`#`). */
  readonly keepsZeros?: boolean;
  /** A whole number ends in `.0`, and so needs one digit more (a format without type). */
  readonly addsPointZero?: boolean;
}

/** `'%.{precision}g'`: fixed or with an exponent, whichever the size asks for. */
export function generalText(value: number, precision: number, options: GeneralOptions = {}): string {
  if (!Number.isFinite(value)) return nonFiniteText(value);
  const digits = Math.max(precision, 1);
  const {exponent} = significantDigits(value, digits - 1);
  const largest = digits - (options.addsPointZero ? 1 : 0);
  if (exponent < -4 || exponent >= largest) {
    const [mantissa, power] = exponentialText(value, digits - 1).split('e');
    return `${options.keepsZeros ? mantissa : withoutZeros(mantissa!)}e${power}`;
  }
  const fixed = fixedText(value, digits - 1 - exponent);
  const text = options.keepsZeros ? fixed : withoutZeros(fixed);
  return options.addsPointZero && !text.includes('.') ? `${text}.0` : text;
}

function withoutZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** `round(value, digits)` of a float. */
export function roundFloat(value: number, digits: number): number {
  if (!Number.isFinite(value) || digits > 330) return value;
  const magnitude = digits < -330 ? 0 : Number(`${scaledInteger(value, digits)}e${-digits}`);
  return isNegative(value) ? -magnitude : magnitude;
}

/** `int(value)` after rounding halves to even; of a finite float. */
export function roundToInteger(value: number): bigint {
  const magnitude = scaledInteger(value, 0);
  return value < 0 ? -magnitude : magnitude;
}
