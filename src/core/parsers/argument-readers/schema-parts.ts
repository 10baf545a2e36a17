/** What a schema says of the parts of a value, in its own words or in those of its alternatives. */

import type {JsonSchema} from '../output-parser.ts';
import {isRecord} from './written-json.ts';

/** Undefined when no alternative declares the property. */
export function propertySchema(schema: JsonSchema | undefined, key: string): JsonSchema | undefined {
  const properties = propertyLists(schema).find((declared) => Object.hasOwn(declared, key));
  return properties?.[key] as JsonSchema | undefined;
}

export const declaresProperties = (schema: JsonSchema | undefined): boolean => propertyLists(schema).length > 0;

export function itemSchema(schema: JsonSchema | undefined): JsonSchema | undefined {
  return alternativesOf(schema).find(({items}) => isRecord(items))?.items as JsonSchema | undefined;
}

type SchemaObject = Readonly<Record<string, unknown>>;

function propertyLists(schema: JsonSchema | undefined): SchemaObject[] {
  return alternativesOf(schema)
    .map(({properties}) => properties)
    .filter(isRecord);
}

/** The schema itself and the alternatives that it names. */
function alternativesOf(schema: unknown): SchemaObject[] {
  if (!isRecord(schema)) return [];
  const named = [schema.anyOf, schema.oneOf, schema.allOf].flat();
  return [schema, ...named.filter(isRecord)];
}
