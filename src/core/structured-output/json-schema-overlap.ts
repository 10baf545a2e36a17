/** Whether two JSON schemas can hold for the same value: what is not certain counts as yes. */
import {isSame, type JsonSchema, listOf} from './json-schema-merge.ts';

type Resolve = (schema: unknown) => JsonSchema;

/** @param resolve puts references in */
export function areDisjoint(a: JsonSchema, b: JsonSchema, resolve: Resolve): boolean {
  return haveDisjointTypes(a, b) || haveDisjointValues(a, b) || haveDisjointProperty(a, b, resolve);
}

function haveDisjointTypes(a: JsonSchema, b: JsonSchema): boolean {
  if (a.type === undefined || b.type === undefined) return false;
  const [typesOfA, typesOfB] = [listOf(a.type), listOf(b.type)].map((types) =>
    types.map((type) => (type === 'integer' ? 'number' : type)),
  ) as [unknown[], unknown[]];
  return !typesOfA.some((type) => typesOfB.includes(type));
}

/** The values that a schema lists; null when it lists none. */
function valuesOf(schema: JsonSchema): unknown[] | null {
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : null;
}

function haveDisjointValues(a: JsonSchema, b: JsonSchema): boolean {
  const [valuesOfA, valuesOfB] = [valuesOf(a), valuesOf(b)];
  if (valuesOfA === null || valuesOfB === null) return false;
  return !valuesOfA.some((value) => valuesOfB.some((other) => isSame(value, other)));
}

/** Both are objects, and a property that one of them requires cannot be right for the other. */
function haveDisjointProperty(a: JsonSchema, b: JsonSchema, resolve: Resolve): boolean {
  if (a.type !== 'object' || b.type !== 'object') return false;
  return isToldApart(a, b, resolve) || isToldApart(b, a, resolve);
}

function isToldApart(requiring: JsonSchema, other: JsonSchema, resolve: Resolve): boolean {
  const [own, foreign] = [propertiesOf(requiring), propertiesOf(other)];
  return listOf(requiring.required ?? []).some((name) => {
    const key = String(name);
    if (!Object.hasOwn(foreign, key)) return other.additionalProperties === false && !other.patternProperties;
    return Object.hasOwn(own, key) && areDisjoint(resolve(own[key]), resolve(foreign[key]), resolve);
  });
}

const propertiesOf = (schema: JsonSchema): JsonSchema => (schema.properties ?? {}) as JsonSchema;
