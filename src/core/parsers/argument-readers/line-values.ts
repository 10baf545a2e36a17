/**
 * Arguments as lines of `key: value`, typed by the tool's schema. A line is sent when it ends; lines without the
 * separator say nothing.
 */

import {
  type ArgumentReader,
  type CreateReader,
  propertiesOf,
  type ReaderContext,
  type ReaderStep,
  withMarkers,
} from '../argument-reader.ts';
import {MarkerScanner} from '../machine/marker-scanner.ts';
import type {JsonSchema} from '../output-parser.ts';
import {coerceValue} from './coerce-value.ts';
import {ANY_JSON} from './written-json.ts';

export interface LineValueOptions {
  lineEnd: string;
  /** Between key and value. */
  separator: string;
  /** End the call and belong to what follows. */
  ends: readonly string[];
  /** Values of parameters that the tool does not declare are JSON where they parse. */
  isJson: boolean;
}

export function lineValues(options: LineValueOptions): CreateReader {
  const scanner = new MarkerScanner([options.lineEnd, ...options.ends]);
  return withMarkers((context) => new LineValueReader(options, scanner, context), [options.lineEnd, ...options.ends]);
}

class LineValueReader implements ArgumentReader {
  readonly name: string | undefined;
  readonly #options: LineValueOptions;
  readonly #scanner: MarkerScanner;
  readonly #properties: Readonly<Record<string, JsonSchema>>;
  readonly #seen = new Set<string>();
  #text = '';
  #line = '';

  constructor(options: LineValueOptions, scanner: MarkerScanner, context: ReaderContext) {
    this.#options = options;
    this.#scanner = scanner;
    this.name = context.name;
    this.#properties = propertiesOf(context);
  }

  push(text: string): ReaderStep {
    this.#text += text;
    return this.#read(false);
  }

  finish(): ReaderStep {
    const step = this.#read(true);
    return step.state === 'more' ? this.#end(step.json) : step;
  }

  #read(final: boolean): ReaderStep {
    let json = '';
    for (;;) {
      const {index, marker} = this.#scanner.scan(this.#text, final);
      this.#line += this.#text.slice(0, index);
      this.#text = this.#text.slice(index);
      if (marker === undefined) return {json, state: 'more', rest: ''};
      if (marker !== this.#options.lineEnd) return this.#end(json);
      this.#text = this.#text.slice(marker.length);
      json += this.#takeLine();
    }
  }

  #takeLine(): string {
    const line = this.#line;
    this.#line = '';
    const at = line.indexOf(this.#options.separator);
    const key = line.slice(0, Math.max(0, at)).trim();
    if (at < 0 || key === '' || this.#seen.has(key)) return '';
    const label = `${this.#seen.size === 0 ? '{' : ', '}${JSON.stringify(key)}: `;
    this.#seen.add(key);
    const schema = this.#properties[key] ?? (this.#options.isJson ? ANY_JSON : undefined);
    return label + coerceValue(line.slice(at + this.#options.separator.length).trim(), schema);
  }

  #end(json: string): ReaderStep {
    const rest = this.#text;
    this.#text = '';
    const last = this.#takeLine();
    return {json: `${json}${last}${this.#seen.size === 0 ? '{}' : '}'}`, state: 'done', rest};
  }
}
