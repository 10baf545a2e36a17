/**
 * Multiples of a number, such as 5 or 0.01, as an automaton over digits: a long division that keeps its remainder. Where
 * bounds leave few of them they are listed instead.
 */
import {type Automaton, automatonNode, automatonOf, exploredAutomaton, intersected} from '../automaton.ts';
import {type CodePointRanges, charactersOf} from '../code-point-ranges.ts';
import {choice, type GrammarBuilder, type GrammarNode, oneOf, text} from '../grammar.ts';
import {decimalOf, numbersBetween, type ScaledBounds, scaled} from './numbers.ts';
import {refuse} from './schema-values.ts';

/** Larger divisors leave too many remainders, unless bounds leave few multiples. */
const maxDivisor = 1000;
const maxListed = 2000;
/** No more digits than a double tells apart, and few enough that states stay few. */
const maxDigits = 15;
const wholeDigitsOf = (divisor: number): number => (divisor <= 100 ? 12 : 6);

export interface Multiples {
  /** In units of the last decimal place. */
  divisor: bigint;
  places: number;
}

/** @param divisors at least one */
export function multiplesOf(divisors: readonly number[], isInteger: boolean, place: string): Multiples {
  const places = Math.max(...divisors.map((divisor) => decimalOf(divisor).places));
  if (places > maxDigits) refuse(place, `"multipleOf" can have at most ${maxDigits} decimal places`);
  const common = divisors.map((divisor) => scaled(divisor, places, 'down')).reduce(leastCommonMultiple);
  if (!isInteger) return {divisor: common, places};
  const unit = 10n ** BigInt(places);
  return {divisor: leastCommonMultiple(common, unit) / unit, places: 0};
}

/**
 * @param boundsAt the bounds in units of so many decimal places
 * @returns no option at all when the bounds leave none
 */
export function multiplesNode(
  {divisor, places}: Multiples,
  boundsAt: (places: number) => ScaledBounds,
  builder: GrammarBuilder,
  place: string,
): GrammarNode {
  const {least, most} = boundsAt(places);
  if (least !== null && most !== null && (most - least) / divisor < maxListed) {
    return choice(...listed({least, most}, divisor).map((value) => text(writtenDecimal(value, places))));
  }
  if (divisor > maxDivisor) {
    refuse(place, `"multipleOf" can be at most ${maxDivisor} times its last decimal place unless the bounds are close`);
  }
  const multiples = divisionAutomaton(Number(divisor), places);
  if (least === null && most === null) return automatonNode(multiples, builder, oneOf);
  const whole = numbersBetween(boundsAt(0));
  const between = places === 0 ? whole : choice(whole, numbersBetween({least, most}, places));
  return automatonNode(intersected(multiples, automatonOf(between)), builder, oneOf);
}

function listed({least, most}: {least: bigint; most: bigint}, divisor: bigint): bigint[] {
  const values: bigint[] = [];
  const remainder = ((least % divisor) + divisor) % divisor;
  for (let value = remainder === 0n ? least : least + divisor - remainder; value <= most; value += divisor) {
    values.push(value);
  }
  return values;
}

function writtenDecimal(value: bigint, places: number): string {
  const digits = String(value < 0n ? -value : value).padStart(places + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - places), digits.slice(digits.length - places)];
  const kept = fraction.replace(/0+$/, '');
  return `${value < 0n ? '-' : ''}${whole}${kept === '' ? '' : `.${kept}`}`;
}

/** Where a number stands: before its first digit, within the digits before the point, or so many behind it. */
interface Division {
  at: 'start' | 'sign' | 'zero' | 'whole' | 'fraction';
  remainder: number;
  numDigits: number;
}

const symbols = [...'0123456789-.'];
const symbolClasses: CodePointRanges[] = symbols.map(charactersOf);

/** Decimal numbers of which the last place is the `places`-th, or whole ones. Negative zero is left out. */
function divisionAutomaton(divisor: number, places: number): Automaton {
  const unit = Number(10n ** BigInt(places) % BigInt(divisor));
  const numWhole = Math.min(wholeDigitsOf(divisor), maxDigits - places);
  const withDigit = (from: Division, digit: number, at: Division['at'], numDigits: number): Division => ({
    at,
    numDigits,
    remainder: (from.remainder * 10 + digit) % divisor,
  });
  const follow = (from: Division, symbol: string): Division | null => {
    if (symbol === '-') return from.at === 'start' ? {...from, at: 'sign'} : null;
    if (symbol === '.') {
      const isBehindDigit = from.at === 'zero' || from.at === 'whole';
      return isBehindDigit && places > 0 ? {...from, at: 'fraction', numDigits: 0} : null;
    }
    const digit = Number(symbol);
    if (from.at === 'fraction') {
      return from.numDigits < places ? withDigit(from, digit, 'fraction', from.numDigits + 1) : null;
    }
    if (from.at === 'zero' || (from.at === 'whole' && from.numDigits >= numWhole)) return null;
    if (from.at === 'whole') return withDigit(from, digit, 'whole', from.numDigits + 1);
    if (digit !== 0) return withDigit(from, digit, 'whole', 1);
    return from.at === 'sign' ? null : withDigit(from, digit, 'zero', 1);
  };
  return exploredAutomaton<Division>(
    {at: 'start', remainder: 0, numDigits: 0},
    {
      classes: symbolClasses,
      keyOf: ({at, remainder, numDigits}) => `${at}:${remainder}:${numDigits}`,
      isAccepting: ({at, remainder, numDigits}) => {
        if (at === 'zero') return true;
        if (at === 'whole') return (remainder * unit) % divisor === 0;
        return at === 'fraction' && numDigits === places && remainder === 0;
      },
      follow: (from) => symbols.map((symbol) => follow(from, symbol)),
    },
  );
}

function leastCommonMultiple(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return (a / x) * b;
}
