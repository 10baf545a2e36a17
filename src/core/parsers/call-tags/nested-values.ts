/**
 * Arguments in markup that nests in a way of its own, for grammars: a schema becomes what its values may look like. Held
 * are types, listed values, limits of numbers, required and optional parameters in the order of the schema, and lengths
 * of lists; not patterns of texts, unique items and the like.
 */

import {ValidationError} from '../../errors.ts';
import {allowedTypes, type SchemaType} from '../argument-readers/coerce-value.ts';
import {isRecord} from '../argument-readers/written-json.ts';
import type {JsonSchema} from '../output-parser.ts';
import {inlineReferences} from '../schema-references.ts';
import {either, json, list, literal, optional, sequence, type TagContent, tag} from './tag-content.ts';

export interface Member {
  key: string;
  value: TagContent;
  isRequired: boolean;
}

export interface ListLength {
  least: number;
  /** Undefined: any number. */
  most: number | undefined;
}

/** How a format writes values. */
export interface NestedMarkup {
  /** Keys that can be written. */
  key: RegExp;
  text: TagContent;
  /** A value of which the text is known. */
  listed: (value: unknown) => TagContent;
  /** A number, a truth or nothing, given as JSON. */
  scalar: (asJson: TagContent) => TagContent;
  object: (members: readonly Member[]) => TagContent;
  /** Any keys with values of one kind; absent: such objects are held to nothing. */
  map?: (value: TagContent) => TagContent;
  list: (item: TagContent, length: ListLength) => TagContent;
  anything: TagContent;
  anyObject: TagContent;
  anyList: TagContent;
}

/** An object that names its parameters. @param name of the function @throws ValidationError */
export function nestedObject(markup: NestedMarkup, schema: JsonSchema, name: string): TagContent {
  return new SchemaWriter(markup, name).object(inlineReferences(schema) as SchemaObject, 0);
}

/** Copies of a part, with something between them. */
export function repeated(item: TagContent, between: string, {least, most}: ListLength): TagContent {
  const next = sequence(literal(between), item);
  if (most !== undefined && most <= 0) return literal('');
  if (least <= 0) return optional(repeated(item, between, {least: 1, most}));
  const needed = Array.from({length: least - 1}, () => next);
  return sequence(item, ...needed, more(next, most === undefined ? undefined : most - least));
}

function more(next: TagContent, most: number | undefined): TagContent {
  if (most === undefined) return list([tag('', next, '')], '', {atLeastOne: false, onlyOne: false});
  return Array.from({length: Math.max(0, most)}).reduce<TagContent>(
    (rest) => optional(sequence(next, rest)),
    literal(''),
  );
}

type SchemaObject = Readonly<Record<string, unknown>>;

/** Deeper values are held to nothing. */
const MAX_DEPTH = 12;
/** Parts of the grammar that the schemas of one function may become. */
const MAX_PARTS = 20_000;
const LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];

class SchemaWriter {
  readonly #markup: NestedMarkup;
  readonly #name: string;
  #numParts = 0;

  constructor(markup: NestedMarkup, name: string) {
    this.#markup = markup;
    this.#name = name;
  }

  object(schema: SchemaObject, depth: number): TagContent {
    const {properties, additionalProperties: others, required} = schema;
    const {anyObject, map} = this.#markup;
    if (!isRecord(properties) && others !== false)
      return isRecord(others) && map !== undefined ? map(this.#value(others, depth + 1)) : anyObject;
    const before = this.#numParts;
    const names = Array.isArray(required) ? required : [];
    const members = Object.entries(isRecord(properties) ? properties : {}).map(([key, value]) => ({
      key: this.#checkedKey(key),
      value: this.#value(value, depth + 1),
      isRequired: names.includes(key),
    }));
    const hasFirst = members.some(({isRequired}) => isRequired);
    if (!hasFirst) this.#spend((this.#numParts - before) * members.length);
    return this.#markup.object(members);
  }

  #checkedKey(key: string): string {
    if (this.#markup.key.test(key)) return key;
    throw new ValidationError(`parameter name '${key}' cannot be encoded in tool calls`, {param: 'tools'});
  }

  #spend(numParts: number): void {
    this.#numParts += numParts;
    if (this.#numParts > MAX_PARTS)
      throw new ValidationError(`The parameters of tool '${this.#name}' are too many to hold calls to them.`, {
        param: 'tools',
      });
  }

  #value(schema: unknown, depth: number): TagContent {
    this.#spend(1);
    if (!isRecord(schema) || depth > MAX_DEPTH) return this.#markup.anything;
    const values = schema.enum ?? ('const' in schema ? [schema.const] : undefined);
    if (Array.isArray(values) && values.length > 0) return either(...values.map(this.#markup.listed));
    const {anyOf, oneOf, allOf, ...own} = schema;
    if (Array.isArray(allOf) && allOf.length > 0)
      return this.#value([{...own, ...(anyOf !== undefined && {anyOf})}, ...allOf].reduce(merged), depth + 1);
    const alternatives = anyOf ?? oneOf;
    if (Array.isArray(alternatives) && alternatives.length > 0)
      return either(...alternatives.map((part) => this.#value(merged(own, part), depth + 1)));
    return either(...typesOf(schema).map((type) => this.#ofType(type, schema, depth)));
  }

  #ofType(type: SchemaType | 'any', schema: SchemaObject, depth: number): TagContent {
    switch (type) {
      case 'any':
        return this.#markup.anything;
      case 'string':
        return this.#markup.text;
      case 'object':
        return this.object(schema, depth);
      case 'array':
        return this.#array(schema, depth);
      default:
        return this.#markup.scalar(json({type, ...limitsOf(schema)}));
    }
  }

  #array({items, minItems, maxItems}: SchemaObject, depth: number): TagContent {
    const length = {least: lengthOr(minItems, 0), most: lengthOr(maxItems, undefined)};
    if (!isRecord(items) && length.least === 0 && length.most === undefined) return this.#markup.anyList;
    const before = this.#numParts;
    const item = this.#value(items, depth + 1);
    this.#spend((this.#numParts - before) * Math.max(length.least, length.most ?? 0));
    return this.#markup.list(item, length);
  }
}

/** Of numbers, as they are written in a schema of their own. */
function limitsOf(schema: SchemaObject): SchemaObject {
  return Object.fromEntries(LIMITS.filter((key) => typeof schema[key] === 'number').map((key) => [key, schema[key]]));
}

function lengthOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === 'number' && value >= 0 ? Math.floor(value) : otherwise;
}

function typesOf(schema: SchemaObject): (SchemaType | 'any')[] {
  if (schema.type !== undefined) return [...allowedTypes(schema)];
  if (isRecord(schema.properties)) return ['object'];
  return schema.items === undefined ? ['any'] : ['array'];
}

/** Both schemas at once; where they contradict each other, the second one counts. */
function merged(first: SchemaObject, second: unknown): SchemaObject {
  if (!isRecord(second)) return first;
  const properties = {...asRecord(first.properties), ...asRecord(second.properties)};
  const required = [first.required ?? [], second.required ?? []].flat();
  return {
    ...first,
    ...second,
    ...(Object.keys(properties).length > 0 && {properties}),
    ...(required.length > 0 && {required}),
  };
}

const asRecord = (value: unknown): SchemaObject => (isRecord(value) ? value : {});
