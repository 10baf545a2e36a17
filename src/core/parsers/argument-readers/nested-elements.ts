/**
 * Arguments as nested elements named after their keys, each tag with a prefix that no text contains. What an element
 * becomes shows when it is closed, so the arguments go out in one piece at the end of the call. Text behind a closing tag
 * says that the tag was quoted in a value.
 */

import {
  type ArgumentReader,
  type CreateReader,
  findTool,
  MORE,
  type ReaderStep,
  withMarkers,
} from '../argument-reader.ts';
import type {JsonSchema} from '../output-parser.ts';
import {allowedTypes, coerceValue} from './coerce-value.ts';
import {declaresProperties, itemSchema, propertySchema} from './schema-parts.ts';
import {ANY_JSON} from './written-json.ts';

export interface NestedElementsOptions {
  /** In front of every tag. */
  prefix: string;
  /** Name of the element that is the call; its closing tag ends it. */
  call: string;
  /** Name of the elements of a list. */
  item: string;
}

export function nestedElements(options: NestedElementsOptions): CreateReader {
  const create: CreateReader = (context) => {
    const schema = context.name === undefined ? undefined : findTool(context, context.name)?.parameters;
    return new NestedElementsReader(options, context.name, schema);
  };
  return withMarkers(create, [options.prefix]);
}

interface Element {
  key: string;
  text: string;
  children: Element[];
}

const TAG = /^<(\/?)([^<>]*)>/;
/** A tag is shorter than this; longer text behind a prefix is no tag. */
const MAX_TAG = 256;

class NestedElementsReader implements ArgumentReader {
  readonly name: string | undefined;
  readonly #options: NestedElementsOptions;
  readonly #schema: JsonSchema | undefined;
  readonly #open: Element[];
  #text = '';
  /** The value that the last tag closed, if it is one, and what stands behind that tag. */
  #closed: {element: Element; tag: string; behind: string} | undefined;

  constructor(options: NestedElementsOptions, name: string | undefined, schema: JsonSchema | undefined) {
    this.#options = options;
    this.name = name;
    this.#schema = schema;
    this.#open = [{key: options.call, text: '', children: []}];
  }

  push(text: string): ReaderStep {
    this.#text += text;
    for (;;) {
      const tag = this.#nextTag();
      if (tag === undefined) return MORE;
      if (this.#takeTag(tag)) return this.#done();
    }
  }

  finish(): ReaderStep {
    return {json: '', state: 'done', rest: ''};
  }

  /** The next whole tag at the beginning of the text; what stands in front of it belongs to the open element. */
  #nextTag(): RegExpExecArray | undefined {
    const {prefix} = this.#options;
    const at = this.#text.indexOf(prefix);
    const certain = at < 0 ? Math.max(0, this.#text.length - prefix.length + 1) : at;
    this.#addText(this.#text.slice(0, certain));
    this.#text = this.#text.slice(certain);
    if (at < 0) return undefined;
    const behind = this.#text.slice(prefix.length, prefix.length + MAX_TAG);
    const tag = TAG.exec(behind);
    if (tag !== null) return tag;
    if (behind.length < MAX_TAG && !behind.includes('>')) return undefined;
    this.#addText(prefix);
    this.#text = this.#text.slice(prefix.length);
    return this.#nextTag();
  }

  /** True: the call is over. */
  #takeTag([written, slash, name = '']: RegExpExecArray): boolean {
    const tag = this.#options.prefix + written;
    this.#text = this.#text.slice(tag.length);
    this.#closed = undefined;
    if (slash === '') {
      this.#begin(name);
      return false;
    }
    if (name === this.#options.call) return true;
    this.#close(name, tag);
    return false;
  }

  #close(key: string, tag: string): void {
    const depth = this.#open.findLastIndex((element) => element.key === key);
    if (depth <= 0) return;
    const [element] = this.#open.splice(depth);
    if (element?.children.length === 0) this.#closed = {element, tag, behind: ''};
  }

  #begin(key: string): void {
    const element: Element = {key, text: '', children: []};
    this.#open.at(-1)?.children.push(element);
    this.#open.push(element);
  }

  #addText(text: string): void {
    if (this.#closed !== undefined) this.#addBehind(this.#closed, text);
    else {
      const element = this.#open.at(-1);
      if (element !== undefined) element.text += text;
    }
  }

  /** Blanks may stand between tags; anything else belongs to the value. */
  #addBehind(closed: {element: Element; tag: string; behind: string}, text: string): void {
    closed.behind += text;
    if (closed.behind.trim() === '') return;
    closed.element.text += closed.tag + closed.behind;
    this.#open.push(closed.element);
    this.#closed = undefined;
  }

  #done(): ReaderStep {
    const rest = this.#text;
    this.#text = '';
    const [call] = this.#open;
    const json = call === undefined ? '{}' : objectToJson(call.children, this.#schema, this.#options.item);
    return {json, state: 'done', rest};
  }
}

function objectToJson(children: readonly Element[], schema: JsonSchema | undefined, item: string): string {
  const members = children.map(
    (child) => `${JSON.stringify(child.key)}: ${toJson(child, propertyOf(schema, child.key), item)}`,
  );
  return `{${members.join(', ')}}`;
}

function toJson(element: Element, schema: JsonSchema | undefined, item: string): string {
  const {children, text} = element;
  if (children.length === 0) return emptyOf(text, schema) ?? coerceValue(text, schema);
  if (!isList(children, schema, item)) return objectToJson(children, schema, item);
  const ofItems = typeof schema === 'object' ? (itemSchema(schema) ?? ANY_JSON) : undefined;
  return `[${children.map((child) => toJson(child, ofItems, item)).join(', ')}]`;
}

/** A list or an object without anything in it; undefined when the value may be a text. */
function emptyOf(text: string, schema: JsonSchema | undefined): string | undefined {
  const types = allowedTypes(schema);
  if (text.trim() !== '' || types.has('string')) return undefined;
  if (types.has('array')) return '[]';
  return types.has('object') ? '{}' : undefined;
}

/** An object may have a key like that of items. */
function isList(children: readonly Element[], schema: JsonSchema | undefined, item: string): boolean {
  const types = allowedTypes(schema);
  const mustBeObject = types.has('object') && !types.has('array');
  return !mustBeObject && children.every((child) => child.key === item);
}

/** Below parameters whose schema says nothing, values are what they look like. */
function propertyOf(schema: JsonSchema | undefined, key: string): JsonSchema | undefined {
  return declaresProperties(schema) || typeof schema !== 'object' ? propertySchema(schema, key) : ANY_JSON;
}
