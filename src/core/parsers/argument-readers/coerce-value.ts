/**
 * Values that a model wrote as bare text, made JSON by the schema of their parameter: the first allowed type that fits
 * wins, in a fixed order, and text that fits none stays text. A declared string never turns into anything else.
 */

import type {JsonSchema} from '../output-parser.ts';
import {isRecord, parseJson} from './written-json.ts';

export type SchemaType = 'null' | 'integer' | 'number' | 'boolean' | 'object' | 'array' | 'string';

const ALIASES: Readonly<Record<string, SchemaType>> = {
  int: 'integer',
  integer: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  number: 'number',
  bool: 'boolean',
  boolean: 'boolean',
  dict: 'object',
  map: 'object',
  object: 'object',
  list: 'array',
  tuple: 'array',
  array: 'array',
  str: 'string',
  text: 'string',
  string: 'string',
  null: 'null',
  none: 'null',
};

/** Types in the order in which they are tried. */
const ORDER: readonly SchemaType[] = ['null', 'integer', 'number', 'boolean', 'object', 'array', 'string'];
const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Each gives JSON text, or undefined when the text does not fit. */
const readers: Readonly<Record<SchemaType, (text: string, schema: JsonSchema | undefined) => string | undefined>> = {
  null: (text) => (text.trim().toLowerCase() === 'null' ? 'null' : undefined),
  integer: readInteger,
  number: (text) => readInteger(text) ?? readNumber(text),
  boolean: readBoolean,
  object: (text, schema) => readNested(text, schema, isRecord),
  array: (text, schema) => readNested(text, schema, Array.isArray),
  string: (text) => JSON.stringify(text),
};

/** JSON text of a value; `schema` is that of the parameter, absent when it is not declared. */
export function coerceValue(text: string, schema: JsonSchema | undefined): string {
  const types = allowedTypes(schema);
  for (const type of ORDER) {
    const json = types.has(type) ? readers[type](text, schema) : undefined;
    if (json !== undefined) return json;
  }
  return parsesAsJson(text) ? text.trim() : JSON.stringify(text);
}

/** True: the value is certainly a string, so it may be sent while it grows. */
export function isPlainString(schema: JsonSchema | undefined): boolean {
  const types = allowedTypes(schema);
  return types.size === 1 && types.has('string');
}

/** Types that a schema allows; only `string` when it says nothing. */
export function allowedTypes(schema: JsonSchema | undefined): ReadonlySet<SchemaType> {
  const types = new Set<SchemaType>();
  collectTypes(schema, types, new Set());
  return types.size === 0 ? new Set(['string']) : types;
}

const MAX_SCHEMA_DEPTH = 16;

/** @param seen schemas that were looked at; parts may contain their whole */
function collectTypes(schema: unknown, into: Set<SchemaType>, seen: Set<unknown>): void {
  if (!isRecord(schema) || seen.has(schema)) return;
  seen.add(schema);
  for (const name of [schema.type].flat()) {
    const type = typeof name === 'string' ? ALIASES[name.toLowerCase()] : undefined;
    if (type !== undefined) into.add(type);
  }
  if (Array.isArray(schema.enum)) for (const value of schema.enum) into.add(typeOfValue(value));
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    for (const part of [schema[key] ?? []].flat()) collectTypes(part, into, seen);
  }
}

export function typeOfValue(value: unknown): SchemaType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return ALIASES[typeof value] ?? 'string';
}

function readInteger(text: string): string | undefined {
  const digits = text.trim();
  return INTEGER.test(digits) ? BigInt(digits.replace('+', '')).toString() : undefined;
}

function readNumber(text: string): string | undefined {
  const written = text.trim();
  const value = NUMBER.test(written) ? Number(written) : Number.NaN;
  return Number.isFinite(value) ? JSON.stringify(value) : undefined;
}

const TRUTH: Readonly<Record<string, string>> = {true: 'true', '1': 'true', false: 'false', '0': 'false'};

function readBoolean(text: string): string | undefined {
  return TRUTH[text.trim().toLowerCase()];
}

/** The text itself when it is JSON of that kind and its parts fit their schemas; otherwise with the parts coerced. */
function readNested(
  text: string,
  schema: JsonSchema | undefined,
  isKind: (value: unknown) => boolean,
): string | undefined {
  const value = parseJson(text);
  if (value === undefined || !isKind(value)) return undefined;
  const coerced = coerceParts(value, schema, 0);
  return JSON.stringify(coerced) === JSON.stringify(value) ? text.trim() : JSON.stringify(coerced);
}

function coerceParts(value: unknown, schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_SCHEMA_DEPTH) return value;
  if (typeof value === 'string') return isPlainString(schema) ? value : JSON.parse(coerceValue(value, schema));
  if (Array.isArray(value)) return value.map((item) => coerceParts(item, schema.items, depth + 1));
  if (!isRecord(value) || !isRecord(schema.properties)) return value;
  const {properties} = schema;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, coerceParts(part, properties[key], depth + 1)]),
  );
}

/** JSON without a number that is too large for one; such text stays text. */
function parsesAsJson(text: string): boolean {
  const value = parseJson(text);
  return value !== undefined && (typeof value !== 'number' || Number.isFinite(value));
}
