/**
 * What values that a JSON schema does not take look like, as schemas one of which holds. Every value that satisfies one of
 * them breaks the schema; some others do too, of which no schema can speak (a text that is no date, an object with a
 * property too many).
 */
import {assertionsOf, exceptKeyword, noPatternsKeyword} from './plain-schema.ts';
import {type JsonSchema, type JsonType, jsonTypes, listOf} from './schema-values.ts';

type Negation = (value: unknown, schema: JsonSchema) => JsonSchema[];

const each = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];
const object = (rules: JsonSchema): JsonSchema => ({type: 'object', ...rules});
const without = (name: string): JsonSchema => object({properties: ownProperty(name, false)});
const ownProperty = (name: string, schema: unknown): JsonSchema => Object.fromEntries([[name, schema]]);
const count = (value: unknown): number => Number(value);

/** At most one less than so many; nothing is less than none. */
const fewer = (type: JsonType, keyword: string, limit: unknown): JsonSchema[] =>
  count(limit) > 0 ? [{type, [keyword]: count(limit) - 1}] : [];

const negations: Readonly<Record<string, Negation>> = {
  type: (value) => [{type: typesOtherThan(listOf(value))}],
  const: (value) => [{[exceptKeyword]: [value]}],
  enum: (values) => [{[exceptKeyword]: values}],
  [exceptKeyword]: (values) => [{enum: values}],
  minimum: (value) => [{type: 'number', exclusiveMaximum: value}],
  exclusiveMinimum: (value) => [{type: 'number', maximum: value}],
  maximum: (value) => [{type: 'number', exclusiveMinimum: value}],
  exclusiveMaximum: (value) => [{type: 'number', minimum: value}],
  minLength: (value) => fewer('string', 'maxLength', value),
  maxLength: (value) => [{type: 'string', minLength: count(value) + 1}],
  pattern: (value) => [{type: 'string', [noPatternsKeyword]: [value]}],
  [noPatternsKeyword]: (patterns) => each(patterns).map((pattern) => ({type: 'string', pattern})),
  minItems: (value) => fewer('array', 'maxItems', value),
  maxItems: (value) => [{type: 'array', minItems: count(value) + 1}],
  items: (value, {prefixItems}) =>
    prefixItems === undefined && !Array.isArray(value) ? [{type: 'array', contains: negated(value)}] : [],
  prefixItems: (value) =>
    each(value).map((item, index) => ({
      type: 'array',
      prefixItems: [...new Array(index).fill(true), negated(item)],
      items: true,
      minItems: index + 1,
    })),
  contains: (value, {minContains, maxContains}) => negatedContains(value, minContains, maxContains),
  required: (names) => each(names).map((name) => without(String(name))),
  properties: (value) =>
    entriesOf(value).map(([name, schema]) =>
      object({properties: ownProperty(name, negated(schema)), required: [name]}),
    ),
  minProperties: (value) => fewer('object', 'maxProperties', value),
  maxProperties: (value) => [object({minProperties: count(value) + 1})],
  dependentRequired: (value) =>
    entriesOf(value).flatMap(([name, names]) =>
      each(names).map((missing) => ({allOf: [object({required: [name]}), without(String(missing))]})),
    ),
  dependentSchemas: (value) =>
    entriesOf(value).map(([name, schema]) => ({allOf: [object({required: [name]}), negated(schema)]})),
  allOf: (parts) => each(parts).map((part) => ({not: part})),
  anyOf: (branches) => [{allOf: each(branches).map((branch) => negated(branch))}],
  oneOf: (branches) => [
    {allOf: each(branches).map((branch) => negated(branch))},
    ...pairsOf(each(branches)).map((pair) => ({allOf: pair})),
  ],
  not: (value) => [{allOf: [value]}],
  if: (condition, {then = true, else: otherwise = true}) => [
    {allOf: [condition, negated(then)]},
    {allOf: [negated(condition), negated(otherwise)]},
  ],
};

/** @returns no schema at all when nothing can be said */
export function negationsOf(schema: unknown): JsonSchema[] {
  if (schema === true) return [];
  if (schema === false) return [{}];
  if (typeof schema !== 'object' || schema === null) return [];
  const stated = schema as JsonSchema;
  return assertionsOf(stated).flatMap((keyword) => negations[keyword]?.(stated[keyword], stated) ?? []);
}

/** One schema that says the opposite. */
export function negated(schema: unknown): unknown {
  if (typeof schema === 'boolean') return !schema;
  const [only, another] = negationsOf(schema);
  const isList = only !== undefined && another === undefined && exceptKeyword in only;
  return isList ? only : {not: schema};
}

/** A number that is no integer cannot be asked for, so that without integers there are no numbers either. */
function typesOtherThan(types: readonly unknown[]): JsonType[] {
  const hasNumbers = types.includes('number') || types.includes('integer');
  return jsonTypes.filter(
    (type) => !types.includes(type) && !(hasNumbers && (type === 'number' || type === 'integer')),
  );
}

function negatedContains(schema: unknown, min: unknown = 1, max?: unknown): JsonSchema[] {
  const tooFew = count(min) > 0 ? [{type: 'array', contains: schema, minContains: 0, maxContains: count(min) - 1}] : [];
  const none = count(min) === 1 ? [{type: 'array', items: negated(schema)}] : tooFew;
  return max === undefined ? none : [...none, {type: 'array', contains: schema, minContains: count(max) + 1}];
}

const pairsOf = (items: unknown[]): unknown[][] =>
  items.flatMap((item, index) => items.slice(0, index).map((earlier) => [earlier, item]));
