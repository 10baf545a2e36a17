/**
 * Arguments as tagged text, for grammars: parameters in the order of their schema, texts as they are and everything else
 * as JSON. Without a schema to hold them to, parameters may have any name and any value.
 */

import {allowedTypes, type SchemaType, typeOfValue} from '../argument-readers/coerce-value.ts';
import {isRecord} from '../argument-readers/written-json.ts';
import type {JsonSchema} from '../output-parser.ts';
import {inlineReferences} from '../schema-references.ts';
import {
  either,
  json,
  list,
  literal,
  matching,
  optional,
  sequence,
  type TagContent,
  tag,
  textBetween,
} from './tag-content.ts';

export interface TaggedParameters {
  /** Texts from the beginning of a parameter to that of its value; joints stand between them. */
  open: (key: string, type: SchemaType) => readonly string[];
  close: string;
  /** Between the texts of an opener and behind each parameter: nothing, a line feed, or either. */
  joint: '' | '\n' | 'either';
}

/** Stands for the key where any will do. */
const ANY_KEY = '\0';
const KEY_PATTERN = '[^\\s<>"=|]{1,64}';
/** Types of values that the markup may name. */
const FREE_TYPES: readonly SchemaType[] = ['string', 'number', 'boolean', 'null', 'object', 'array'];

/** @param schema of the arguments object; true = held to nothing */
export function taggedParameters(markup: TaggedParameters): (schema: JsonSchema) => TagContent {
  return (schema) => (namesParameters(schema) ? declaredParameters(markup, schema) : freeParameters(markup));
}

interface ObjectSchema extends Readonly<Record<string, unknown>> {
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
}

/** False for a schema that names no parameters but allows them; it holds calls to nothing. */
export function namesParameters(schema: JsonSchema): schema is ObjectSchema {
  if (typeof schema !== 'object') return false;
  return 'properties' in schema || schema.additionalProperties === false;
}

function declaredParameters(markup: TaggedParameters, schema: ObjectSchema): TagContent {
  const {properties = {}, required = [], $defs, definitions} = schema;
  const {properties: known = {}} = inlineReferences(schema) as ObjectSchema;
  const parameters = Object.entries(properties).map(([key, value]) => {
    const parameter = declaredParameter(markup, key, known[key] ?? value, withDefinitions(value, {$defs, definitions}));
    return required.includes(key) ? parameter : optional(parameter);
  });
  return parameters.length === 0 ? literal('') : sequence(...parameters);
}

/** References in the value's schema still find what they name. */
function withDefinitions(schema: JsonSchema, definitions: Readonly<Record<string, unknown>>): JsonSchema {
  if (typeof schema !== 'object') return schema;
  const given = Object.entries(definitions).filter(([, value]) => value !== undefined);
  return {...Object.fromEntries(given), ...schema};
}

/** @param known what the references in the schema name */
function declaredParameter(markup: TaggedParameters, key: string, known: JsonSchema, schema: JsonSchema): TagContent {
  const listed = listedValues(known);
  if (listed !== null) return listedParameter(markup, key, listed);
  const type = typeOf(known);
  const {close} = markup;
  if (type === 'string') return parameter(markup, key, type, (open) => textBetween(open, close));
  return parameter(markup, key, type, (open) => tag(open, json(schema), close));
}

/** Values of one type stand between the same tags. */
function listedParameter(markup: TaggedParameters, key: string, values: readonly unknown[]): TagContent {
  const types = [...new Set(values.map(typeOfValue))];
  const parameters = types.map((type) => {
    const texts = values.filter((value) => typeOfValue(value) === type).map(spell);
    return parameter(markup, key, type, (open) => tag(open, either(...texts.map(literal)), markup.close));
  });
  return either(...parameters);
}

const spell = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The type that the markup names; a value that may be text is text. */
function typeOf(schema: JsonSchema): SchemaType {
  const types = allowedTypes(schema);
  return types.has('string') ? 'string' : [...types][0]!;
}

/** The only values that a parameter may have; null = others, too. */
function listedValues(schema: unknown, seen = new Set<unknown>()): unknown[] | null {
  if (!isRecord(schema) || seen.has(schema)) return null;
  seen.add(schema);
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum;
  if ('const' in schema) return [schema.const];
  if (schema.type === 'null') return [null];
  const parts = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(parts) || parts.length === 0) return null;
  const lists = parts.map((part) => listedValues(part, seen));
  return lists.every((values) => values !== null) ? lists.flat() : null;
}

function freeParameters(markup: TaggedParameters): TagContent {
  const namesType = markup.open('', 'string').join() !== markup.open('', 'number').join();
  const types = namesType ? FREE_TYPES : ['string' as const];
  const value = (type: SchemaType) => (open: string) =>
    type === 'string' ? textBetween(open, markup.close) : tag(open, json({type}), markup.close);
  const tags = types.map((type) => tag('', parameter(markup, ANY_KEY, type, value(type)), ''));
  return list(tags, '', {atLeastOne: false, onlyOne: false});
}

/** @param value what stands from the last text of the opener on */
function parameter(
  {open, joint}: TaggedParameters,
  key: string,
  type: SchemaType,
  value: (open: string) => TagContent,
): TagContent {
  const texts = open(key, type);
  const last = texts.at(-1)!.split(ANY_KEY);
  const before = [...texts.slice(0, -1).flatMap((text) => [...withKey(text.split(ANY_KEY)), jointContent(joint)])];
  return sequence(...before, ...withKey([...last.slice(0, -1), '']), value(last.at(-1)!), jointContent(joint));
}

/** Texts with any key between them. */
function withKey(texts: readonly string[]): TagContent[] {
  return texts.flatMap((text, index) => (index === 0 ? [literal(text)] : [matching(KEY_PATTERN), literal(text)]));
}

function jointContent(joint: TaggedParameters['joint']): TagContent {
  return joint === 'either' ? optional(literal('\n')) : literal(joint);
}
