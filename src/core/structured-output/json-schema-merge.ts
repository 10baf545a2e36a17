/** Two JSON schemas that must both hold, as one. What cannot be said in one schema is refused with its place. */
import {ValidationError} from '../errors.ts';

export type JsonSchema = Record<string, unknown>;

/** Says nothing about values. */
export const annotations: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  '$anchor',
  'title',
  'description',
  'default',
  'examples',
  'example',
  'deprecated',
  'readOnly',
  'writeOnly',
  'contentMediaType',
  'contentEncoding',
  'contentSchema',
  'discriminator',
]);

type Merge = (a: unknown, b: unknown, place: string) => unknown;

const larger: Merge = (a, b) => Math.max(Number(a), Number(b));
const smaller: Merge = (a, b) => Math.min(Number(a), Number(b));
const both: Merge = (a, b) => ({allOf: [a, b]});

/** How keywords that stand in both are put together; the others must be equal. */
const merges: Readonly<Record<string, Merge>> = {
  type: (a, b) => commonTypes(listOf(a), listOf(b)),
  properties: (a, b) => mergeProperties(a as JsonSchema, b as JsonSchema),
  required: (a, b) => [...new Set([...listOf(a), ...listOf(b)])],
  enum: (a, b) => listOf(a).filter((value) => listOf(b).some((other) => isSame(value, other))),
  items: both,
  propertyNames: both,
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
};

/** Keywords of which each side's set has its own meaning next to the properties of that side. */
const closingKeywords = ['additionalProperties', 'patternProperties', 'unevaluatedProperties'];

/** @throws ValidationError */
export function mergeSchemas(a: JsonSchema, b: JsonSchema, place: string): JsonSchema {
  refuseClosedMerge(a, b, place);
  const merged: JsonSchema = {...a};
  for (const [keyword, value] of Object.entries(b)) {
    if (!(keyword in a) || annotations.has(keyword)) merged[keyword] = a[keyword] ?? value;
    else if (merges[keyword]) merged[keyword] = merges[keyword](a[keyword], value, place);
    else if (!isSame(a[keyword], value))
      refuse(place, `two values of "${keyword}" that must both hold are not supported`);
  }
  return merged;
}

/** `additionalProperties` of one part speaks of what that part does not name, whatever the other names. */
function refuseClosedMerge(a: JsonSchema, b: JsonSchema, place: string): void {
  for (const [closing, other] of [
    [a, b],
    [b, a],
  ] as const) {
    const closes = closingKeywords.some((keyword) => keyword in closing && closing[keyword] !== true);
    const named = new Set(Object.keys((closing.properties as JsonSchema | undefined) ?? {}));
    const isForeign = Object.keys((other.properties as JsonSchema | undefined) ?? {}).some((name) => !named.has(name));
    if (closes && isForeign)
      refuse(place, '"additionalProperties" next to properties of another part is not supported');
  }
}

function mergeProperties(a: JsonSchema, b: JsonSchema): JsonSchema {
  const merged = {...a};
  for (const [name, schema] of Object.entries(b)) merged[name] = name in a ? {allOf: [a[name], schema]} : schema;
  return merged;
}

/** `integer` and `number` have the integers in common. */
function commonTypes(a: unknown[], b: unknown[]): unknown[] {
  const isIn = (type: unknown, types: unknown[]) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [...new Set([...a.filter((type) => isIn(type, b)), ...b.filter((type) => isIn(type, a))])];
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** @param place a JSON pointer, such as `#/properties/a` */
export function refuse(place: string, reason: string): never {
  throw new ValidationError(`Invalid structured outputs: JSON schema, ${place}: ${reason}`);
}
