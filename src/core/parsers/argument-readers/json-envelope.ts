/**
 * A call as one JSON object that holds name and arguments under keys of its own, in any order and among others. The
 * arguments are passed on as they are as soon as the name is known; before that they wait.
 */

import {
  type ArgumentReader,
  type CreateReader,
  type ReaderState,
  type ReaderStep,
  withMarkers,
} from '../argument-reader.ts';
import {JsonValueScanner, type ValueStep} from './json-value.ts';
import {parseJson} from './written-json.ts';

export interface JsonEnvelopeOptions {
  /** Keys that hold the name. */
  nameKeys: readonly string[];
  /** Keys that hold the arguments. */
  argumentKeys: readonly string[];
  /** The only key of the object is the name and its value the arguments. */
  keyIsName?: boolean;
  /** Other keys that a call may have; when given, any other key means that the object is no call. */
  otherKeys?: readonly string[];
  /** Markers that end the call even when the object was not finished. */
  closeMarkers?: readonly string[];
}

export function jsonEnvelope(options: JsonEnvelopeOptions): CreateReader {
  return withMarkers(() => new JsonEnvelopeReader(options), options.closeMarkers ?? []);
}

type Part = 'object' | 'key' | 'colon' | 'value' | 'comma';
type Role = 'name' | 'arguments' | 'other';

class JsonEnvelopeReader implements ArgumentReader {
  name: string | undefined;
  readonly #options: JsonEnvelopeOptions;
  readonly #closeMarkers: readonly string[];
  #text = '';
  #part: Part = 'object';
  #scanner: JsonValueScanner | undefined;
  /** Text of the key or of the name while it is read. */
  #collected = '';
  #key = '';
  #role: Role = 'other';
  #hasArguments = false;
  /** Arguments found so far but not passed on. */
  #json = '';

  constructor(options: JsonEnvelopeOptions) {
    this.#options = options;
    this.#closeMarkers = options.closeMarkers ?? [];
  }

  push(text: string): ReaderStep {
    this.#text += text;
    return this.#run(false);
  }

  finish(): ReaderStep {
    const step = this.#run(true);
    return step.state === 'more' ? this.#end('failed') : step;
  }

  #run(final: boolean): ReaderStep {
    let state: ReaderState = 'more';
    while (state === 'more' && this.#text !== '') {
      const {length} = this.#text;
      const scanner = this.#scanner;
      state = scanner === undefined ? this.#readMark(final) : this.#readValue(scanner, final);
      const isStuck = this.#text.length === length && this.#scanner === scanner;
      if (isStuck) break;
    }
    if (final && this.#scanner !== undefined && state === 'more') state = this.#readValue(this.#scanner, true);
    return state === 'more' ? this.#step('more') : this.#end(state);
  }

  /** Reads blanks and the one character that must come next. */
  #readMark(final: boolean): ReaderState {
    this.#text = this.#text.trimStart();
    if (this.#text === '') return 'more';
    const found = this.#text.charAt(0);
    if (this.#mayBeMarker(found, final)) return 'more';
    switch (this.#part) {
      case 'object':
        return this.#accept(found === '{', 'key');
      case 'key':
        return found === '}' ? this.#close() : this.#beginString(found === '"');
      case 'colon':
        return this.#accept(found === ':', 'value');
      case 'value':
        return this.#beginValue();
      case 'comma':
        return found === '}' ? this.#close() : this.#accept(found === ',', 'key');
    }
  }

  /** A close marker such as `[...]` begins with a character that may be JSON; it must come in whole first. */
  #mayBeMarker(found: string, final: boolean): boolean {
    if (final || '{}":,'.includes(found)) return false;
    return this.#closeMarkers.some((marker) => marker.length > this.#text.length && marker.startsWith(this.#text));
  }

  #accept(isExpected: boolean, next: Part): ReaderState {
    if (!isExpected) return 'failed';
    this.#text = this.#text.slice(1);
    this.#part = next;
    return 'more';
  }

  #close(): ReaderState {
    this.#text = this.#text.slice(1);
    return this.name === undefined ? 'failed' : 'done';
  }

  #beginString(isString: boolean): ReaderState {
    if (!isString) return 'failed';
    this.#scanner = new JsonValueScanner(this.#closeMarkers);
    this.#collected = '';
    return 'more';
  }

  #beginValue(): ReaderState {
    if (this.#options.keyIsName === true) this.name ??= this.#key;
    this.#scanner = new JsonValueScanner(this.#closeMarkers);
    this.#collected = '';
    return 'more';
  }

  #readValue(scanner: JsonValueScanner, final: boolean): ReaderState {
    const step = scanner.push(this.#text, final);
    this.#text = step.rest;
    this.#take(step);
    if (step.state === 'more') return 'more';
    this.#scanner = undefined;
    if (step.state === 'cut') return this.name === undefined ? 'failed' : 'done';
    return this.#part === 'key' ? this.#endKey() : this.#endValue();
  }

  #take(step: ValueStep): void {
    if (this.#part === 'value' && this.#role === 'arguments') this.#json += step.json;
    else if (this.#part === 'key' || this.#role === 'name') this.#collected += step.json;
  }

  #endKey(): ReaderState {
    const key = parseString(this.#collected);
    if (key === undefined) return 'failed';
    this.#key = key;
    this.#role = this.#roleOf(key);
    if (this.#role === 'other' && this.#isForeign(key)) return 'failed';
    this.#part = 'colon';
    return 'more';
  }

  #isForeign(key: string): boolean {
    const {nameKeys, argumentKeys, otherKeys} = this.#options;
    return otherKeys !== undefined && ![...nameKeys, ...argumentKeys, ...otherKeys].includes(key);
  }

  #roleOf(key: string): Role {
    if (this.#options.keyIsName === true) return this.name === undefined ? 'arguments' : 'other';
    if (this.name === undefined && this.#options.nameKeys.includes(key)) return 'name';
    if (this.#hasArguments || !this.#options.argumentKeys.includes(key)) return 'other';
    this.#hasArguments = true;
    return 'arguments';
  }

  #endValue(): ReaderState {
    this.#part = 'comma';
    if (this.#role !== 'name') return 'more';
    this.name = parseString(this.#collected);
    return this.name === undefined ? 'failed' : 'more';
  }

  #step(state: ReaderState): ReaderStep {
    return {json: this.#takeJson(), state, rest: ''};
  }

  #end(state: ReaderState): ReaderStep {
    const rest = this.#text;
    this.#text = '';
    return {json: this.#takeJson(), state, rest};
  }

  #takeJson(): string {
    if (this.name === undefined) return '';
    const json = this.#json;
    this.#json = '';
    return json;
  }
}

/** The content of a JSON string; undefined when the text is no string. */
function parseString(text: string): string | undefined {
  const value = parseJson(text);
  return typeof value === 'string' ? value : undefined;
}
