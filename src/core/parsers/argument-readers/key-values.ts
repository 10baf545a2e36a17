/**
 * Arguments as `{key:value,...}` with quotes of a format's own: quoted text goes out while it grows, bare values are typed
 * by the schema, objects and lists nest. The opening brace was read already unless the options say so.
 */

import type {ArgumentReader, CreateReader, ReaderContext, ReaderStep} from '../argument-reader.ts';
import {findTool, withMarkers} from '../argument-reader.ts';
import {MarkerScanner} from '../machine/marker-scanner.ts';
import type {JsonSchema} from '../output-parser.ts';
import {coerceValue} from './coerce-value.ts';
import {escapeJsonText} from './json-string.ts';
import {itemSchema, propertySchema} from './schema-parts.ts';
import {ANY_JSON} from './written-json.ts';

export interface KeyValueOptions {
  /** In front of and behind quoted text. */
  quote: string;
  /** Quoted text is typed by the schema, too; otherwise it is a string. */
  typesQuoted?: boolean;
  /** The opening brace is still to come. */
  beginsWithBrace?: boolean;
}

export function keyValues(options: KeyValueOptions): CreateReader {
  const scanner = new MarkerScanner([options.quote]);
  return withMarkers((context) => new KeyValueReader(options, scanner, context), [options.quote]);
}

interface Frame {
  isObject: boolean;
  count: number;
  atKey: boolean;
  schema: JsonSchema | undefined;
  /** Schema of the value that comes next. */
  next: JsonSchema | undefined;
}

const CLOSERS = '}])';
const BARE = /^[^,}\])]*/;
const KEY = /^[^:,}\])]*/;

class KeyValueReader implements ArgumentReader {
  readonly name: string | undefined;
  readonly #options: KeyValueOptions;
  readonly #scanner: MarkerScanner;
  readonly #frames: Frame[];
  #text = '';
  #json = '';
  /** Quoted text that waits for its end; undefined outside quotes. */
  #quoted: string | undefined;
  #streams = false;
  #awaitsBrace: boolean;
  #isDone = false;

  constructor(options: KeyValueOptions, scanner: MarkerScanner, context: ReaderContext) {
    this.#options = options;
    this.#scanner = scanner;
    this.name = context.name;
    this.#awaitsBrace = options.beginsWithBrace === true;
    const schema = context.name === undefined ? undefined : findTool(context, context.name)?.parameters;
    this.#frames = [{isObject: true, count: 0, atKey: true, schema, next: undefined}];
  }

  push(text: string): ReaderStep {
    this.#text += text;
    return this.#run(false);
  }

  finish(): ReaderStep {
    return {...this.#run(true), state: 'done'};
  }

  #run(final: boolean): ReaderStep {
    while (!this.#isDone && this.#text !== '' && this.#read(final));
    const json = this.#json;
    this.#json = '';
    const rest = this.#isDone ? this.#text : '';
    return {json, state: this.#isDone ? 'done' : 'more', rest};
  }

  /** Reads on; false when more text is needed. */
  #read(final: boolean): boolean {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return false;
    if (this.#quoted !== undefined) return this.#readQuoted(frame, final);
    this.#text = this.#text.trimStart();
    const {quote} = this.#options;
    if (this.#text === '' || (!final && this.#text.length < quote.length && quote.startsWith(this.#text))) return false;
    const first = this.#text.charAt(0);
    if (this.#awaitsBrace) return this.#readBrace(first);
    if (CLOSERS.includes(first)) return this.#close(frame);
    if (first === ',') return this.#separate(frame);
    return frame.isObject && frame.atKey ? this.#readKey(frame) : this.#readValue(frame, first, final);
  }

  /** Arguments without braces are read as they are. */
  #readBrace(first: string): boolean {
    if (first === '{') this.#take(1);
    this.#awaitsBrace = false;
    return true;
  }

  #separate(frame: Frame): boolean {
    this.#take(1);
    frame.atKey = frame.isObject;
    return true;
  }

  /** A key is read when its colon is there. */
  #readKey(frame: Frame): boolean {
    const {quote} = this.#options;
    const written = KEY.exec(this.#text)?.[0] ?? '';
    if (this.#text.length === written.length) return false;
    const behind = this.#text.charAt(written.length);
    this.#take(written.length);
    if (behind !== ':') return true;
    this.#take(1);
    const key = unquote(written.replaceAll(quote, '').trim());
    this.#json += `${frame.count++ === 0 ? '{' : ', '}${JSON.stringify(key)}: `;
    frame.atKey = false;
    frame.next = propertySchema(frame.schema, key);
    return true;
  }

  #readValue(frame: Frame, first: string, final: boolean): boolean {
    if (this.#text.startsWith(this.#options.quote)) return this.#beginQuoted(frame);
    if (first === '{' || first === '[') return this.#open(frame, first);
    const written = BARE.exec(this.#text)?.[0] ?? '';
    if (written.length === this.#text.length) {
      if (final) this.#take(written.length);
      return false;
    }
    this.#take(written.length);
    this.#beginItem(frame);
    this.#json += coerceValue(written.trim(), frame.next ?? ANY_JSON);
    return true;
  }

  #open(frame: Frame, opener: string): boolean {
    this.#take(1);
    this.#beginItem(frame);
    const isObject = opener === '{';
    if (!isObject) this.#json += '[';
    this.#frames.push({
      isObject,
      count: 0,
      atKey: isObject,
      schema: frame.next,
      next: isObject ? undefined : itemSchema(frame.next),
    });
    return true;
  }

  #close(frame: Frame): boolean {
    this.#take(1);
    this.#json += frame.isObject ? (frame.count === 0 ? '{}' : '}') : ']';
    this.#frames.pop();
    this.#isDone = this.#frames.length === 0;
    return true;
  }

  #beginQuoted(frame: Frame): boolean {
    this.#take(this.#options.quote.length);
    this.#beginItem(frame);
    this.#quoted = '';
    this.#streams = this.#options.typesQuoted !== true;
    if (this.#streams) this.#json += '"';
    return true;
  }

  #readQuoted(frame: Frame, final: boolean): boolean {
    const hit = this.#scanner.scan(this.#text, final);
    const text = this.#take(hit.index);
    if (this.#streams) this.#json += escapeJsonText(text);
    else this.#quoted += text;
    if (hit.marker === undefined) return false;
    this.#take(hit.marker.length);
    this.#json += this.#streams ? '"' : coerceValue(this.#quoted ?? '', frame.next ?? ANY_JSON);
    this.#quoted = undefined;
    return true;
  }

  /** Items of a list are counted and separated; a value of an object follows its key. */
  #beginItem(frame: Frame): void {
    if (frame.isObject) return;
    if (frame.count++ > 0) this.#json += ', ';
  }

  #take(length: number): string {
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }
}

function unquote(key: string): string {
  return /^(["'])(.*)\1$/s.exec(key)?.[2] ?? key;
}
