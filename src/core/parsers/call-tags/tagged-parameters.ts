/**
 * Arguments as tagged text, for grammars: parameters in the order of their schema, texts as they are and everything else
 * as JSON. Without a schema to hold them to, parameters may have any name and any value.
 */

import {allowedTypes, type SchemaType} from '../argument-readers/coerce-value.ts';
import type {JsonSchema} from '../output-parser.ts';
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
  return (schema) => (isHeld(schema) ? declaredParameters(markup, schema) : freeParameters(markup));
}

interface ObjectSchema extends Readonly<Record<string, unknown>> {
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
}

/** False for a schema that names no parameters but allows them. */
function isHeld(schema: JsonSchema): schema is ObjectSchema {
  if (typeof schema !== 'object') return false;
  return 'properties' in schema || schema.additionalProperties === false;
}

function declaredParameters(markup: TaggedParameters, schema: ObjectSchema): TagContent {
  const {properties = {}, required = [], $defs, definitions} = schema;
  const parameters = Object.entries(properties).map(([key, value]) => {
    const parameter = declaredParameter(markup, key, withDefinitions(value, {$defs, definitions}));
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

function declaredParameter(markup: TaggedParameters, key: string, schema: JsonSchema): TagContent {
  const type = typeOf(schema);
  const choices = textChoices(schema);
  const {close} = markup;
  if (choices !== null)
    return parameter(markup, key, type, (open) => tag(open, either(...choices.map(literal)), close));
  if (type === 'string') return parameter(markup, key, type, (open) => textBetween(open, close));
  return parameter(markup, key, type, (open) => tag(open, json(schema), close));
}

/** The type that the markup names; a value that may be text is text. */
function typeOf(schema: JsonSchema): SchemaType {
  const types = allowedTypes(schema);
  return types.has('string') ? 'string' : [...types][0]!;
}

/** The only texts that a parameter may have; null = others, too. */
function textChoices(schema: JsonSchema): string[] | null {
  const values =
    typeof schema === 'object' ? (schema.enum ?? (schema.const === undefined ? null : [schema.const])) : null;
  if (!Array.isArray(values) || values.length === 0) return null;
  return values.every((value) => typeof value === 'string') ? values : null;
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
