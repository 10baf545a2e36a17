/**
 * Arguments as a JSON object whose name stood in front of it: passed on as they are, blanks around them dropped. The
 * value ends by itself; text that is no object is passed on up to the close marker.
 */

import {type ArgumentReader, type CreateReader, type ReaderStep, withMarkers} from '../argument-reader.ts';
import {JsonValueScanner, type ValueStep} from './json-value.ts';

export interface JsonObjectOptions {
  /** Markers that end the call even when the object was not finished. */
  closeMarkers?: readonly string[];
  /** Text in front of the first brace is part of the markup. */
  skipsToBrace?: boolean;
}

export function jsonObject(options: JsonObjectOptions = {}): CreateReader {
  return withMarkers(({name}) => new JsonObjectReader(name, options), options.closeMarkers ?? []);
}

class JsonObjectReader implements ArgumentReader {
  readonly name: string | undefined;
  readonly #scanner: JsonValueScanner;
  #started = false;
  #isSkipping: boolean;

  constructor(name: string | undefined, options: JsonObjectOptions) {
    this.name = name;
    this.#isSkipping = options.skipsToBrace === true;
    this.#scanner = new JsonValueScanner(options.closeMarkers ?? []);
  }

  push(text: string): ReaderStep {
    return this.#step(this.#scanner.push(this.#withoutMarkup(text)));
  }

  finish(): ReaderStep {
    const {json, rest} = this.#scanner.push('', true);
    return {json: this.#withoutLeadingBlanks(json).trimEnd(), state: 'done', rest};
  }

  #withoutMarkup(text: string): string {
    if (!this.#isSkipping) return text;
    const brace = text.indexOf('{');
    if (brace < 0) return '';
    this.#isSkipping = false;
    return text.slice(brace);
  }

  #step(step: ValueStep): ReaderStep {
    const json = this.#withoutLeadingBlanks(step.json);
    return {json, state: step.state === 'more' ? 'more' : 'done', rest: step.rest};
  }

  #withoutLeadingBlanks(json: string): string {
    const text = this.#started ? json : json.trimStart();
    if (text !== '') this.#started = true;
    return text;
  }
}
