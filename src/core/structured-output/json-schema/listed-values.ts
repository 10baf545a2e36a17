/** The values of a schema that allows only a few. */
import type {SchemaAlternatives} from './alternatives.ts';
import {allowedTypes} from './plain-schema.ts';
import {listedValuesOf} from './satisfies.ts';

const valuesOfType: Readonly<Record<string, readonly unknown[]>> = {boolean: [false, true], null: [null]};

/** @returns null when the schema allows more than it lists */
export function listedValues(schema: unknown, alternatives: SchemaAlternatives, place: string): unknown[] | null {
  const values: unknown[] = [];
  for (const plain of alternatives.of(schema, place)) {
    const types = allowedTypes(plain);
    if (plain.values === null && types.some((type) => valuesOfType[type] === undefined)) return null;
    const candidates = plain.values ?? types.flatMap((type) => valuesOfType[type]!);
    values.push(...listedValuesOf({...plain, values: candidates}, alternatives, place));
  }
  return values;
}
