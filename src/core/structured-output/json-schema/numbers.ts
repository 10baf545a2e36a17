/** Integers and decimal numbers between bounds as grammars of their digits. */
import {range} from '../code-point-ranges.ts';
import {choice, type GrammarNode, nothing, oneOf, repeat, sequence, text} from '../grammar.ts';

/** Bounds are included; null = none. Both count units of the last digit that is written. */
export interface ScaledBounds {
  least: bigint | null;
  most: bigint | null;
}

/** Digits of numbers that have no bound on one side. */
const openDigits = 18;
const largestOpen = 10n ** BigInt(openDigits) - 1n;
const digit = oneOf([range('0', '9')]);

/**
 * Numbers with exactly `fractionDigits` digits behind the point (none: no point).
 * @returns no option at all when the bounds leave nothing
 */
export function numbersBetween({least, most}: ScaledBounds, fractionDigits = 0): GrammarNode {
  const farthest = (bound: bigint | null) =>
    bound === null ? largestOpen : bigMax(largestOpen, bound < 0n ? -bound : bound);
  const lowest = least ?? -farthest(most);
  const highest = most ?? farthest(least);
  const options: GrammarNode[] = [];
  if (highest >= 0n) options.push(magnitudesBetween(bigMax(lowest, 0n), highest, fractionDigits));
  if (lowest < 0n) {
    const nearest = highest < 0n ? -highest : 1n;
    options.push(sequence(text('-'), magnitudesBetween(nearest, -lowest, fractionDigits)));
  }
  return choice(...options);
}

function magnitudesBetween(least: bigint, most: bigint, fractionDigits: number): GrammarNode {
  const options: GrammarNode[] = [];
  for (let length = 1; length <= String(most).length; length++) {
    const numDigits = length + fractionDigits;
    const lowest = bigMax(least, length === 1 ? 0n : 10n ** BigInt(numDigits - 1));
    const highest = bigMin(most, 10n ** BigInt(numDigits) - 1n);
    if (lowest > highest) continue;
    options.push(between(digitsOf(lowest, numDigits, fractionDigits), digitsOf(highest, numDigits, fractionDigits)));
  }
  return choice(...options);
}

function digitsOf(value: bigint, numDigits: number, fractionDigits: number): string {
  const digits = String(value).padStart(numDigits, '0');
  if (fractionDigits === 0) return digits;
  return `${digits.slice(0, -fractionDigits)}.${digits.slice(-fractionDigits)}`;
}

/** Digit texts of the same form between two of them; a point stands at the same place in both. */
function between(lowest: string, highest: string): GrammarNode {
  if (lowest === '') return nothing;
  if (/^[0.]+$/.test(lowest) && /^[9.]+$/.test(highest)) return anyDigits(lowest);
  const [low, high] = [lowest[0]!, highest[0]!];
  const [lowRest, highRest] = [lowest.slice(1), highest.slice(1)];
  if (low === high) return sequence(text(low), between(lowRest, highRest));
  return choice(
    sequence(text(low), between(lowRest, lowRest.replace(/\d/g, '9'))),
    ...digitsBetween(Number(low) + 1, Number(high) - 1, lowRest),
    sequence(text(high), between(highRest.replace(/\d/g, '0'), highRest)),
  );
}

function digitsBetween(first: number, last: number, rest: string): GrammarNode[] {
  if (first > last) return [];
  return [sequence(oneOf([range(String(first), String(last))]), anyDigits(rest))];
}

/** Any digits in the form of a text. */
function anyDigits(form: string): GrammarNode {
  const [whole, fraction] = form.split('.') as [string, string | undefined];
  const wholeDigits = repeat(digit, whole.length, whole.length);
  if (fraction === undefined) return wholeDigits;
  return sequence(wholeDigits, text('.'), repeat(digit, fraction.length, fraction.length));
}

export const bigMax = (a: bigint, b: bigint): bigint => (a > b ? a : b);
export const bigMin = (a: bigint, b: bigint): bigint => (a < b ? a : b);

const maxFraction = 20;

/**
 * A number in units of its `fractionDigits`-th decimal place, rounded up or down; null when it has no exact decimal form
 * of reasonable length.
 */
export function scaled(value: number, fractionDigits: number, round: 'up' | 'down'): bigint {
  const {digits, places} = decimalOf(value);
  if (places <= fractionDigits) return digits * 10n ** BigInt(fractionDigits - places);
  const unit = 10n ** BigInt(places - fractionDigits);
  const floor = digits / unit - (digits % unit < 0n ? 1n : 0n);
  return round === 'down' || digits % unit === 0n ? floor : floor + 1n;
}

/** Digits behind the point, at most so many that bounds stay exact. */
export const fractionDigitsOf = (value: number): number => Math.min(decimalOf(value).places, maxFraction);

/** The shortest decimal form of a number: digits times ten to the power of minus places. */
export function decimalOf(value: number): {digits: bigint; places: number} {
  const [mantissa, exponent = '0'] = String(value).split('e') as [string, string | undefined];
  const [whole, fraction = ''] = mantissa.split('.') as [string, string | undefined];
  const places = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return places >= 0 ? {digits, places} : {digits: digits * 10n ** BigInt(-places), places: 0};
}

/** Whether a number is a whole number of times another one, in decimal digits. */
export function isMultiple(value: number, divisor: number): boolean {
  const places = Math.max(decimalOf(value).places, decimalOf(divisor).places);
  return scaled(value, places, 'down') % scaled(divisor, places, 'down') === 0n;
}
