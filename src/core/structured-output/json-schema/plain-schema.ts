/**
 * One JSON schema without `anyOf`, `$ref` and the like, read into fields that are all resolved: what a value has to be, by
 * type. Two of them that must both hold are one again; that is what `allOf` and all combining keywords come down to.
 */
import {
  arrayAt,
  countAt,
  isSame,
  type JsonSchema,
  type JsonType,
  jsonTypes,
  listOf,
  numberAt,
  objectAt,
  refuse,
  stringAt,
} from './schema-values.ts';

export interface PlainSchema {
  /** Null = not stated. */
  types: readonly JsonType[] | null;
  /** The only values that are allowed; null = not listed. */
  values: readonly unknown[] | null;
  /** Values that are not allowed. */
  except: readonly unknown[];
  text: TextRules;
  number: NumberRules;
  array: ArrayRules;
  object: ObjectRules;
}

export interface TextRules {
  patterns: readonly string[];
  /** Patterns that must not match. */
  noPatterns: readonly string[];
  formats: readonly string[];
  min: number;
  max: number;
}

export interface NumberRules {
  minimum: number | null;
  exclusiveMinimum: number | null;
  maximum: number | null;
  exclusiveMaximum: number | null;
  multipleOf: readonly number[];
}

export interface ArrayRules {
  prefix: readonly unknown[];
  /** Of what follows the prefix; undefined = not stated. */
  items: unknown;
  min: number;
  max: number;
  contains: readonly {schema: unknown; min: number; max: number}[];
  isUnique: boolean;
}

export interface ObjectRules {
  properties: ReadonlyMap<string, unknown>;
  patterns: ReadonlyMap<string, unknown>;
  /** Of properties that neither of these names; undefined = not stated. */
  additional: unknown;
  required: readonly string[];
  names: readonly unknown[];
  min: number;
  max: number;
}

/** Keywords of our own, for what only the negation of a schema says. */
export const exceptKeyword = '\0except';
export const noPatternsKeyword = '\0noPatterns';

/** A schema without a type that uses keywords of one type means that type. */
const keywordsOfType: readonly (readonly [JsonType, readonly string[]])[] = [
  [
    'object',
    [
      'properties',
      'required',
      'additionalProperties',
      'patternProperties',
      'propertyNames',
      'minProperties',
      'maxProperties',
      'unevaluatedProperties',
    ],
  ],
  [
    'array',
    ['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'minItems', 'maxItems', 'uniqueItems', 'contains'],
  ],
  ['string', ['pattern', noPatternsKeyword, 'format', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

/** All keywords that say something about values by themselves. */
const plainKeywords: ReadonlySet<string> = new Set([
  ...['type', 'const', 'enum', exceptKeyword, 'minContains', 'maxContains'],
  ...keywordsOfType.flatMap(([, keywords]) => keywords),
]);

/** Keywords that are made of other schemas for the same value. */
export const combiningKeywords: ReadonlySet<string> = new Set([
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
]);

/** The keywords of a schema that decide about values. All others are notes, or unknown as JSON schema wants them. */
export const assertionsOf = (schema: JsonSchema): string[] =>
  Object.keys(schema).filter((keyword) => plainKeywords.has(keyword) || combiningKeywords.has(keyword));

/** @throws ValidationError with the place of a keyword that is wrong */
export function readPlainSchema(stated: JsonSchema, place: string): PlainSchema {
  return {
    types: stated.type === undefined ? null : typesAt(stated.type, place),
    values: valuesAt(stated, place),
    except: listAt(stated, exceptKeyword, place),
    text: readTextRules(stated, place),
    number: readNumberRules(stated, place),
    array: readArrayRules(stated, place),
    object: readObjectRules(stated, place),
  };
}

/** The types a value may have, also when they are only meant. */
export function allowedTypes(plain: PlainSchema): readonly JsonType[] {
  if (plain.types !== null) return plain.types;
  const meant = keywordsOfType.filter(([type]) => speaksOf[type]?.(plain)).map(([type]) => type);
  return meant.length === 0 ? ['object', 'array', 'string', 'number', 'boolean', 'null'] : meant;
}

/** Whether nothing at all is said. */
export const saysNothing = (plain: PlainSchema): boolean =>
  plain.types === null &&
  plain.values === null &&
  plain.except.length === 0 &&
  !Object.values(speaksOf).some((speaks) => speaks(plain));

const speaksOf: Readonly<Partial<Record<JsonType, (plain: PlainSchema) => boolean>>> = {
  object: ({object: {properties, patterns, additional, required, names, ...counts}}) =>
    properties.size + patterns.size + required.length + names.length > 0 ||
    additional !== undefined ||
    isLimited(counts),
  array: ({array: {prefix, items, contains, isUnique, ...counts}}) =>
    prefix.length + contains.length > 0 || items !== undefined || isUnique || isLimited(counts),
  string: ({text: {patterns, noPatterns, formats, ...counts}}) =>
    patterns.length + noPatterns.length + formats.length > 0 || isLimited(counts),
  number: ({number: {multipleOf, ...bounds}}) =>
    multipleOf.length > 0 || Object.values(bounds).some((bound) => bound !== null),
};

const isLimited = ({min, max}: {min: number; max: number}): boolean => min > 0 || max !== Number.POSITIVE_INFINITY;

/** A text that is the same for the same rules. */
export function keyOf(rules: object): string {
  return JSON.stringify(rules, (_, value: unknown) => {
    if (value instanceof Map) return [...value];
    return value === Number.POSITIVE_INFINITY ? 'infinity' : value;
  });
}

export const anyText: TextRules = readTextRules({}, '#');

function typesAt(stated: unknown, place: string): JsonType[] {
  const unknownType = listOf(stated).find((type) => !jsonTypes.some((known) => known === type));
  if (unknownType !== undefined) refuse(place, `unsupported type ${JSON.stringify(unknownType)}`);
  return listOf(stated) as JsonType[];
}

function valuesAt(stated: JsonSchema, place: string): readonly unknown[] | null {
  const listed = stated.enum === undefined ? null : arrayAt(stated.enum, `${place}/enum`);
  if (!Object.hasOwn(stated, 'const')) return listed;
  return listed === null ? [stated.const] : listed.filter((value) => isSame(value, stated.const));
}

function listAt(stated: JsonSchema, keyword: string, place: string): unknown[] {
  return stated[keyword] === undefined ? [] : arrayAt(stated[keyword], `${place}/${keyword}`);
}

function countOf(stated: JsonSchema, keyword: string, fallback: number, place: string): number {
  return stated[keyword] === undefined ? fallback : countAt(stated[keyword], `${place}/${keyword}`);
}

function readTextRules(stated: JsonSchema, place: string): TextRules {
  const one = (keyword: string) =>
    stated[keyword] === undefined ? [] : [stringAt(stated[keyword], `${place}/${keyword}`)];
  return {
    patterns: one('pattern'),
    noPatterns: listAt(stated, noPatternsKeyword, place) as string[],
    formats: one('format'),
    min: countOf(stated, 'minLength', 0, place),
    max: countOf(stated, 'maxLength', Number.POSITIVE_INFINITY, place),
  };
}

function readNumberRules(stated: JsonSchema, place: string): NumberRules {
  const bound = (keyword: string) =>
    stated[keyword] === undefined ? null : numberAt(stated[keyword], `${place}/${keyword}`);
  const divisor = bound('multipleOf');
  if (divisor !== null && divisor <= 0) refuse(place, '"multipleOf" must be above 0');
  return {
    minimum: bound('minimum'),
    exclusiveMinimum: bound('exclusiveMinimum'),
    maximum: bound('maximum'),
    exclusiveMaximum: bound('exclusiveMaximum'),
    multipleOf: divisor === null ? [] : [divisor],
  };
}

function readArrayRules(stated: JsonSchema, place: string): ArrayRules {
  const isOld = Array.isArray(stated.items);
  const items = isOld ? stated.additionalItems : stated.items;
  return {
    prefix: listAt(stated, isOld ? 'items' : 'prefixItems', place),
    items,
    min: countOf(stated, 'minItems', 0, place),
    max: countOf(stated, 'maxItems', Number.POSITIVE_INFINITY, place),
    contains: containsAt(stated, place),
    isUnique: stated.uniqueItems === true,
  };
}

function containsAt(stated: JsonSchema, place: string) {
  if (stated.contains === undefined) return [];
  const min = countOf(stated, 'minContains', 1, place);
  const max = countOf(stated, 'maxContains', Number.POSITIVE_INFINITY, place);
  return min === 0 && max === Number.POSITIVE_INFINITY ? [] : [{schema: stated.contains, min, max}];
}

function readObjectRules(stated: JsonSchema, place: string): ObjectRules {
  const entries = (keyword: string) =>
    new Map(stated[keyword] === undefined ? [] : Object.entries(objectAt(stated[keyword], `${place}/${keyword}`)));
  return {
    properties: entries('properties'),
    patterns: entries('patternProperties'),
    additional: stated.additionalProperties,
    required: listAt(stated, 'required', place).map((name) => stringAt(name, `${place}/required`)),
    names: stated.propertyNames === undefined ? [] : [stated.propertyNames],
    min: countOf(stated, 'minProperties', 0, place),
    max: countOf(stated, 'maxProperties', Number.POSITIVE_INFINITY, place),
  };
}
