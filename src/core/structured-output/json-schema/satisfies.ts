/**
 * Whether a value satisfies a JSON schema, for the values that a schema lists itself: of `enum` only those are left that
 * the other keywords take. A value that cannot be told to be right counts as wrong.
 */
import {automatonOf, takes} from '../automaton.ts';
import {regexGrammar} from '../regex-grammar.ts';
import type {SchemaAlternatives} from './alternatives.ts';
import {formatPattern} from './formats.ts';
import {isMultiple} from './numbers.ts';
import type {ArrayRules, NumberRules, ObjectRules, PlainSchema, TextRules} from './plain-schema.ts';
import {isOfType, isSame, otherValues, sortedJson} from './schema-values.ts';

/** The values that a schema lists and its other keywords take. */
export function listedValuesOf(plain: PlainSchema, alternatives: SchemaAlternatives, place: string): unknown[] {
  const rules = {...plain, values: null, except: []};
  return otherValues(plain.values ?? [], plain.except).filter((value) =>
    satisfiesPlain(value, rules, alternatives, place),
  );
}

/** @param place of the schema, for errors in it */
export function satisfies(value: unknown, schema: unknown, alternatives: SchemaAlternatives, place: string): boolean {
  return alternatives.of(schema, place).some((plain) => satisfiesPlain(value, plain, alternatives, place));
}

function satisfiesPlain(
  value: unknown,
  {types, values, except, text, number, array, object}: PlainSchema,
  alternatives: SchemaAlternatives,
  place: string,
): boolean {
  const holds = (inner: unknown, schema: unknown) => satisfies(inner, schema, alternatives, place);
  if (types !== null && !types.some((type) => isOfType(value, type))) return false;
  if (values !== null && !values.some((other) => isSame(value, other))) return false;
  if (except.some((other) => isSame(value, other))) return false;
  if (typeof value === 'string') return isText(value, text, alternatives, place);
  if (typeof value === 'number') return isNumber(value, number);
  if (Array.isArray(value)) return isArray(value, array, holds);
  if (value === null || typeof value !== 'object') return true;
  return isObject(value as Record<string, unknown>, object, holds, alternatives);
}

type Holds = (value: unknown, schema: unknown) => boolean;

function isText(
  value: string,
  {patterns, noPatterns, formats, min, max}: TextRules,
  alternatives: SchemaAlternatives,
  place: string,
): boolean {
  const {length} = [...value];
  return (
    length >= min &&
    length <= max &&
    patterns.every((pattern) => alternatives.matches(pattern, value)) &&
    !noPatterns.some((pattern) => alternatives.matches(pattern, value)) &&
    formats.every((format) => isOfFormat(value, formatPattern(format, place)))
  );
}

const isOfFormat = (value: string, pattern: string | null): boolean =>
  pattern === null || takes(automatonOf(regexGrammar(pattern)), value);

function isNumber(value: number, rules: NumberRules): boolean {
  return (
    value >= (rules.minimum ?? value) &&
    value <= (rules.maximum ?? value) &&
    (rules.exclusiveMinimum === null || value > rules.exclusiveMinimum) &&
    (rules.exclusiveMaximum === null || value < rules.exclusiveMaximum) &&
    rules.multipleOf.every((divisor) => isMultiple(value, divisor))
  );
}

function isArray(value: unknown[], {prefix, items, min, max, contains, isUnique}: ArrayRules, holds: Holds): boolean {
  const ruleOf = (index: number) => (index < prefix.length ? prefix[index] : (items ?? true));
  return (
    value.length >= min &&
    value.length <= max &&
    value.every((item, index) => holds(item, ruleOf(index))) &&
    (!isUnique || new Set(value.map(sortedJson)).size === value.length) &&
    contains.every((rule) => {
      const {length} = value.filter((item) => holds(item, rule.schema));
      return length >= rule.min && length <= rule.max;
    })
  );
}

function isObject(
  value: Record<string, unknown>,
  rules: ObjectRules,
  holds: Holds,
  alternatives: SchemaAlternatives,
): boolean {
  const names = Object.keys(value);
  return (
    names.length >= rules.min &&
    names.length <= rules.max &&
    rules.required.every((name) => Object.hasOwn(value, name)) &&
    names.every((name) => rules.names.every((schema) => holds(name, schema))) &&
    names.every((name) => schemasOf(name, rules, alternatives).every((schema) => holds(value[name], schema)))
  );
}

/** What the value of a property has to satisfy. */
export function schemasOf(
  name: string,
  {properties, patterns, additional}: ObjectRules,
  alternatives: SchemaAlternatives,
): unknown[] {
  const matching = [...patterns].filter(([pattern]) => alternatives.matches(pattern, name)).map(([, schema]) => schema);
  const stated = properties.has(name) ? [properties.get(name), ...matching] : matching;
  return stated.length > 0 ? stated : [additional ?? true];
}
