/**
 * The JSON side of arguments that are written as pairs of key and bare text: takes keys and values as their tags are read,
 * and gives the arguments object piece by piece. Declared strings go out while they grow, everything else when its value
 * is closed; the only parameter may turn out to be a wrapper around the arguments themselves.
 */

import type {FinishReason} from '../events.ts';
import type {JsonSchema} from '../output-parser.ts';
import {coerceValue, isPlainString} from './coerce-value.ts';
import {escapeJsonText} from './json-string.ts';
import {ANY_JSON, isJsonObject} from './written-json.ts';

export interface ParameterRules {
  /** One line feed at each end of a value is markup; or all blanks are; or the value is as written (default). */
  trims?: 'line-feeds' | 'blanks';
  /** Values of parameters that the tool does not declare: text (default), or JSON where it parses. */
  undeclared?: 'text' | 'json';
  /** A value that is not closed before its call ends is dropped, so values are sent when they are closed. */
  dropsUnclosed?: boolean;
  /** A value that the text ends in is dropped, key and all. */
  dropsCut?: boolean;
  /** Parameters that the tool does not declare, and those given again, are read over. */
  onlyDeclared?: boolean;
  /** Keys whose object is the arguments themselves when it is the only parameter and the tool does not declare the key. */
  wrappers?: readonly string[];
  /** What stands in the place of a key: the key itself, in quotes or not, unless a format has more there. */
  readKey?: (written: string) => WrittenKey;
}

export interface WrittenKey {
  key: string;
  /** Overrules the schema: text as it is, or JSON where it parses. */
  kind?: 'text' | 'json';
}

const TEXT: JsonSchema = {type: 'string'};

export class ParameterWriter {
  readonly #rules: ParameterRules;
  readonly #properties: Readonly<Record<string, JsonSchema>>;
  #json = '';
  #key = '';
  #kind: WrittenKey['kind'];
  #writtenType: JsonSchema | undefined;
  /** Text of the value that was not sent. */
  #value = '';
  #atValueStart = false;
  /** The value goes out while it grows. */
  #isOpenString = false;
  /** The value is read over. */
  #isSkipped = false;
  readonly #seen = new Set<string>();
  /** JSON of the only parameter so far, which may be a wrapper; it waits for the next one or the end. */
  #wrapped: string | undefined;
  /** The same parameter's object, if it is one. */
  #unwrapped: string | undefined;

  /** @param properties parameters that the tool declares */
  constructor(rules: ParameterRules, properties: Readonly<Record<string, JsonSchema>>) {
    this.#rules = rules;
    this.#properties = properties;
  }

  /** What has become certain since the last time. */
  takeJson(): string {
    const json = this.#json;
    this.#json = '';
    return json;
  }

  /** Another key begins: the parameter before it is none of a wrapper. */
  beginKey(): void {
    if (this.#wrapped !== undefined) this.#json += this.#wrapped;
    this.#wrapped = undefined;
  }

  /** @param written what stands in the place of the key */
  endKey(written: string): void {
    const {key, kind} = this.#rules.readKey?.(written) ?? {key: written};
    this.#key = key;
    this.#kind = kind;
  }

  /** True: the arguments have a parameter of the last key already. */
  get isRepeated(): boolean {
    return this.#seen.has(this.#key);
  }

  /** @param writtenType type that the markup names; it counts for parameters that are not declared */
  beginValue(writtenType?: string): void {
    this.#writtenType = writtenType === undefined ? undefined : {type: writtenType};
    this.#value = '';
    this.#atValueStart = true;
    this.#isSkipped = this.#rules.onlyDeclared === true && !this.#isWanted();
    const streams = this.#rules.trims !== 'blanks' && this.#rules.dropsUnclosed !== true;
    this.#isOpenString = streams && !this.#isSkipped && !this.#mayBeWrapper() && isPlainString(this.#schema());
    if (this.#isOpenString) this.#json += `${this.#label()}"`;
  }

  growValue(text: string): void {
    if (text === '') return;
    const isMarkup = this.#atValueStart && this.#rules.trims === 'line-feeds' && text.startsWith('\n');
    this.#value += isMarkup ? text.slice(1) : text;
    this.#atValueStart = false;
    if (!this.#isOpenString) return;
    const certain = this.#withoutLineFeed();
    this.#json += escapeJsonText(certain);
    this.#value = this.#value.slice(certain.length);
  }

  endValue(): void {
    const text = this.#withoutLineFeed();
    if (this.#isOpenString) this.#json += `${escapeJsonText(text)}"`;
    else if (this.#mayBeWrapper()) this.#holdWrapper(text);
    else if (!this.#isSkipped)
      this.#json += this.#label() + coerceValue(this.#rules.trims === 'blanks' ? text.trim() : text, this.#schema());
    this.#value = '';
  }

  /** The call goes on or ends without the value's closing tag. */
  endUnclosedValue(): void {
    if (this.#rules.dropsUnclosed === true) this.#value = '';
    else this.endValue();
  }

  /** A value that the text ends in: what is certain of a string; of anything else only that more was to come. */
  cutValue(finishReason: FinishReason): string {
    if (this.#isOpenString) return escapeJsonText(this.#value);
    if (this.#rules.dropsCut === true || this.#isSkipped) return this.closing();
    return finishReason === 'length' ? this.#label() : this.closing();
  }

  /** Ends the arguments; comes behind all that `takeJson` gave. */
  closing(): string {
    if (this.#wrapped !== undefined) return this.#unwrapped ?? `${this.#wrapped}}`;
    return this.#seen.size === 0 ? '{}' : '}';
  }

  /** Declared and new. A tool that declares nothing takes anything. */
  #isWanted(): boolean {
    const declared = Object.keys(this.#properties);
    return !this.isRepeated && (declared.length === 0 || declared.includes(this.#key));
  }

  #mayBeWrapper(): boolean {
    const isWrapper = this.#rules.wrappers?.includes(this.#key) === true;
    return isWrapper && this.#seen.size === 0 && this.#properties[this.#key] === undefined;
  }

  /** What is an object becomes the arguments at the end. */
  #holdWrapper(text: string): void {
    const inner = text.trim();
    this.#wrapped = this.#label() + coerceValue(text, this.#schema());
    this.#unwrapped = isJsonObject(inner) ? inner : undefined;
  }

  #schema(): JsonSchema | undefined {
    if (this.#kind !== undefined) return this.#kind === 'json' ? this.#jsonSchema() : TEXT;
    const undeclared = this.#rules.undeclared === 'json' ? ANY_JSON : undefined;
    return this.#properties[this.#key] ?? this.#writtenType ?? undeclared;
  }

  /** A value that is written as JSON; a declared type that it does not have still wins. */
  #jsonSchema(): JsonSchema {
    const declared = this.#properties[this.#key];
    return declared === undefined || isPlainString(declared) ? ANY_JSON : declared;
  }

  #label(): string {
    const separator = this.#seen.size === 0 ? '{' : ', ';
    this.#seen.add(this.#key);
    return `${separator}${JSON.stringify(this.#key)}: `;
  }

  /** A line feed at the end may be markup. */
  #withoutLineFeed(): string {
    const isMarkup = this.#rules.trims === 'line-feeds' && this.#value.endsWith('\n');
    return isMarkup ? this.#value.slice(0, -1) : this.#value;
  }
}
