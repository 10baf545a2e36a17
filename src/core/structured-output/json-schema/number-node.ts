/** Numbers and integers as a schema wants them: bounds, multiples, and values that are left out. */
import {choice, type GrammarBuilder, type GrammarNode} from '../grammar.ts';
import {anyInteger, anyNumber} from '../json-text.ts';
import {multiplesNode, multiplesOf} from './multiples.ts';
import {bigMax, bigMin, fractionDigitsOf, numbersBetween, type ScaledBounds, scaled} from './numbers.ts';
import type {NumberRules} from './plain-schema.ts';
import {refuse} from './schema-values.ts';

const maxExceptions = 500;

/**
 * @param except values that are left out
 * @returns no option at all when nothing is left
 */
export function numberNode(
  {number: rules, except, isInteger}: {number: NumberRules; except: readonly unknown[]; isInteger: boolean},
  builder: GrammarBuilder,
  place: string,
): GrammarNode {
  const left = except.filter((value) => typeof value === 'number');
  if (left.length > maxExceptions) refuse(place, `more than ${maxExceptions} numbers that are not allowed`);
  return choice(...aroundValues(rules, left).map((part) => partNode(part, isInteger, builder, place)));
}

/** The parts of a range that excluded values leave. */
function aroundValues(rules: NumberRules, values: readonly number[]): NumberRules[] {
  const parts: NumberRules[] = [];
  let rest = rules;
  for (const value of [...new Set(values)].sort((a, b) => a - b)) {
    parts.push({...rest, exclusiveMaximum: Math.min(value, rest.exclusiveMaximum ?? value)});
    rest = {...rest, exclusiveMinimum: Math.max(value, rest.exclusiveMinimum ?? value)};
  }
  return [...parts, rest];
}

function partNode(rules: NumberRules, isInteger: boolean, builder: GrammarBuilder, place: string): GrammarNode {
  const limits = [rules.minimum, rules.maximum, rules.exclusiveMinimum, rules.exclusiveMaximum].filter(
    (limit) => limit !== null,
  );
  const boundsAt = (places: number) => boundsOf(rules, places);
  if (rules.multipleOf.length > 0) {
    return multiplesNode(multiplesOf(rules.multipleOf, isInteger, place), boundsAt, builder, place);
  }
  if (limits.length === 0) return isInteger ? anyInteger : anyNumber;
  if (isInteger) return numbersBetween(boundsAt(0));
  const places = Math.max(2, ...limits.map(fractionDigitsOf));
  return choice(numbersBetween(boundsAt(0)), numbersBetween(boundsAt(places), places));
}

/** Bounds in units of the last of so many digits behind the point; both are included. */
function boundsOf(rules: NumberRules, places: number): ScaledBounds {
  const bound = (value: number | null, round: 'up' | 'down', step: bigint): bigint[] => {
    if (value === null) return [];
    const isExact = scaled(value, places, 'up') === scaled(value, places, 'down');
    return [scaled(value, places, round) + (isExact ? step : 0n)];
  };
  const lows = [...bound(rules.minimum, 'up', 0n), ...bound(rules.exclusiveMinimum, 'up', 1n)];
  const highs = [...bound(rules.maximum, 'down', 0n), ...bound(rules.exclusiveMaximum, 'down', -1n)];
  return {
    least: lows.length === 0 ? null : lows.reduce(bigMax),
    most: highs.length === 0 ? null : highs.reduce(bigMin),
  };
}
