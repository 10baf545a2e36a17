/** Whether two JSON schemas can hold for the same value: what is not certain counts as yes. */
import type {PlainSchema} from './plain-schema.ts';
import {type JsonType, sharedValues} from './schema-values.ts';

type Expand = (schema: unknown) => PlainSchema;

/** @param expand the plain schema that a schema of a property is */
export function areDisjoint(a: PlainSchema, b: PlainSchema, expand: Expand): boolean {
  return haveDisjointTypes(a, b) || haveDisjointValues(a, b) || haveDisjointProperty(a, b, expand);
}

const asNumber = (type: JsonType): JsonType => (type === 'integer' ? 'number' : type);

function haveDisjointTypes(a: PlainSchema, b: PlainSchema): boolean {
  if (a.types === null || b.types === null) return false;
  const typesOfB = b.types.map(asNumber);
  return !a.types.map(asNumber).some((type) => typesOfB.includes(type));
}

function haveDisjointValues(a: PlainSchema, b: PlainSchema): boolean {
  if (a.values === null || b.values === null) return false;
  return sharedValues(a.values, b.values).length === 0;
}

/** Both are objects, and a property that one of them requires cannot be right for the other. */
function haveDisjointProperty(a: PlainSchema, b: PlainSchema, expand: Expand): boolean {
  const isObject = ({types}: PlainSchema) => types?.length === 1 && types[0] === 'object';
  if (!isObject(a) || !isObject(b)) return false;
  return isToldApart(a, b, expand) || isToldApart(b, a, expand);
}

function isToldApart({object: own}: PlainSchema, {object: foreign}: PlainSchema, expand: Expand): boolean {
  return own.required.some((name) => {
    if (!foreign.properties.has(name)) return foreign.additional === false && foreign.patterns.size === 0;
    if (!own.properties.has(name)) return foreign.properties.get(name) === false;
    return areDisjoint(expand(own.properties.get(name)), expand(foreign.properties.get(name)), expand);
  });
}
