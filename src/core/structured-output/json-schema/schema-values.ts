/** What the parts of a JSON schema are read with: the types, checks of the schema's own values, and errors with their place. */
import {ValidationError} from '../../errors.ts';

export type JsonSchema = Record<string, unknown>;

export const jsonTypes = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
export type JsonType = (typeof jsonTypes)[number];

/** @param place a JSON pointer, such as `#/properties/a` */
export function refuse(place: string, reason: string): never {
  throw new ValidationError(`Invalid structured outputs: JSON schema, ${place}: ${reason}`);
}

export function objectAt(value: unknown, place: string): JsonSchema {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonSchema;
  return refuse(place, `must be an object, not ${JSON.stringify(value)}`);
}

export function arrayAt(value: unknown, place: string): unknown[] {
  return Array.isArray(value) ? value : refuse(place, `must be an array, not ${JSON.stringify(value)}`);
}

export function stringAt(value: unknown, place: string): string {
  return typeof value === 'string' ? value : refuse(place, `must be a string, not ${JSON.stringify(value)}`);
}

export function numberAt(value: unknown, place: string): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : refuse(place, 'must be a number');
}

export function countAt(value: unknown, place: string): number {
  return Number.isInteger(value) && Number(value) >= 0 ? Number(value) : refuse(place, 'must be a whole number');
}

export const pointerPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** Equal as JSON values; the order of properties does not matter. */
export const isSame = (a: unknown, b: unknown): boolean => sortedJson(a) === sortedJson(b);

/** A text that is the same for equal values. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? Object.entries(inner).sort(byName) : inner,
  );
}

/** The values that another list has, too. */
export function sharedValues(values: readonly unknown[], others: readonly unknown[]): unknown[] {
  const known = new Set(others.map(sortedJson));
  return values.filter((value) => known.has(sortedJson(value)));
}

/** The values that another list does not have. */
export function otherValues(values: readonly unknown[], others: readonly unknown[]): unknown[] {
  if (others.length === 0) return [...values];
  const known = new Set(others.map(sortedJson));
  return values.filter((value) => !known.has(sortedJson(value)));
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0);

export function isOfType(value: unknown, type: JsonType): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
