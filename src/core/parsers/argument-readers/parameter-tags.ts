/**
 * Arguments as pairs of key and bare text between tags, typed by the tool's schema. Strings go out while they grow; other
 * values when they are closed. A closing tag counts only when something may follow it that the format knows, so that one
 * quoted inside a value survives; a missing closing tag ends at the next key or the end of the call.
 */

import type {ArgumentReader, CreateReader, ReaderContext, ReaderState, ReaderStep} from '../argument-reader.ts';
import {propertiesOf, withMarkers} from '../argument-reader.ts';
import type {FinishReason} from '../events.ts';
import {MarkerScanner} from '../machine/marker-scanner.ts';
import type {JsonSchema} from '../output-parser.ts';
import {coerceValue, isPlainString} from './coerce-value.ts';
import {escapeJsonText} from './json-string.ts';

export interface ParameterTags {
  /** In front of a key, such as `<parameter=`. */
  keyOpen: string;
  /** Behind a key. */
  keyClose: string;
  /** In front of a value when it has an opener of its own; blanks may stand between. */
  valueOpen?: string;
  valueClose: string;
  /** Ends the call and belongs to it. */
  callClose?: string;
  /** End the call and belong to what follows. */
  ends: readonly string[];
  /** One line feed at each end of a value is markup; or all blanks are; or the value is as written (default). */
  trims?: 'line-feeds' | 'blanks';
  /** Values of parameters that the tool does not declare: text (default), or JSON where it parses. */
  undeclared?: 'text' | 'json';
  /** A value that is not closed before its call ends is dropped, so values are sent when they are closed. */
  dropsUnclosed?: boolean;
  /** A value that the text ends in is dropped, key and all. */
  dropsCut?: boolean;
  /** Around a type that may be written between key and value; it counts for parameters that are not declared. */
  typeTags?: {open: string; close: string};
  /** Text between parameters, a value without its tags or a key given twice: no call. */
  isStrict?: boolean;
  /** A value may stand in `<![CDATA[` and `]]>`; closing tags in it are text. */
  mayBeQuoted?: boolean;
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

export function parameterTags(tags: ParameterTags): CreateReader {
  const scanners = scannersOf(tags);
  const {keyOpen, keyClose, valueOpen = '', valueClose, callClose = '', ends} = tags;
  const markers = [keyOpen, keyClose, valueOpen, valueClose, callClose, ...ends].filter((marker) => marker !== '');
  return withMarkers((context) => new ParameterTagsReader(tags, scanners, context), markers);
}

const TEXT: JsonSchema = {type: 'string'};
/** Everything that JSON has, text included. */
const ANY_JSON: JsonSchema = {type: ['null', 'integer', 'number', 'object', 'array', 'string']};

const QUOTE_OPEN = '<![CDATA[';
const QUOTE_CLOSE = ']]>';

type Part = 'between' | 'key' | 'opener' | 'value' | 'quoted';
type Scanners = Readonly<Record<Part, MarkerScanner>>;

function scannersOf(tags: ParameterTags): Scanners {
  const {keyOpen, keyClose, valueOpen = '', valueClose, callClose, ends} = tags;
  const over = [keyOpen, ...ends, ...(callClose === undefined ? [] : [callClose])];
  const withOpener = valueOpen === '' ? [] : [valueOpen];
  return {
    between: new MarkerScanner([...over, valueClose]),
    key: new MarkerScanner([keyClose, ...over, valueClose]),
    opener: new MarkerScanner([...withOpener, ...over, valueClose]),
    value: new MarkerScanner([valueClose, ...over]),
    quoted: new MarkerScanner([QUOTE_CLOSE]),
  };
}

class ParameterTagsReader implements ArgumentReader {
  readonly name: string | undefined;
  readonly #tags: ParameterTags;
  readonly #scanners: Scanners;
  readonly #properties: Readonly<Record<string, JsonSchema>>;
  #part: Part = 'between';
  #text = '';
  #json = '';
  #key = '';
  /** Text where the opener of a value should stand. */
  #beforeValue = '';
  #kind: WrittenKey['kind'];
  #writtenType: JsonSchema | undefined;
  /** A strict format's rule was broken. */
  #isBroken = false;
  /** Text of the value that was not sent. */
  #value = '';
  /** The value's first characters decide whether it is quoted; behind the quotes only blanks follow. */
  #quotes: 'undecided' | 'closed' | 'none' = 'none';
  /** The value goes out while it grows. */
  #isOpenString = false;
  /** The value is read over. */
  #isSkipped = false;
  #atValueStart = false;
  readonly #seen = new Set<string>();
  /** JSON of the only parameter so far, which may be a wrapper; it waits for the next one or the end. */
  #wrapped: string | undefined;
  /** The same parameter's object, if it is one. */
  #unwrapped: string | undefined;

  constructor(tags: ParameterTags, scanners: Scanners, context: ReaderContext) {
    this.#tags = tags;
    this.#scanners = scanners;
    this.name = context.name;
    this.#properties = propertiesOf(context);
  }

  push(text: string): ReaderStep {
    this.#text += text;
    return this.#run(false);
  }

  finish(finishReason: FinishReason): ReaderStep {
    const step = this.#run(true);
    if (step.state !== 'more') return step;
    const end = this.#part === 'value' || this.#part === 'quoted' ? this.#cutValue(finishReason) : this.#closing();
    return {json: step.json + end, state: 'done', rest: ''};
  }

  /** A value that the text ends in: what is certain of a string; of anything else only that more was to come. */
  #cutValue(finishReason: FinishReason): string {
    if (this.#isOpenString) return escapeJsonText(this.#value);
    if (this.#tags.dropsCut === true || this.#isSkipped) return this.#closing();
    return finishReason === 'length' ? this.#label() : this.#closing();
  }

  #run(final: boolean): ReaderStep {
    for (;;) {
      if (this.#quotes === 'undecided' && !this.#decideQuotes(final)) break;
      const hit = this.#scanners[this.#part].scan(this.#text, final);
      this.#consume(this.#text.slice(0, hit.index));
      this.#text = this.#text.slice(hit.index);
      if (hit.marker === undefined) break;
      const state = this.#isOutOfPlace(hit.marker) ? 'failed' : this.#take(hit.marker, final);
      if (state === 'wait') break;
      if (state !== 'more') return this.#end(state);
    }
    return {json: this.#takeJson(), state: 'more', rest: ''};
  }

  /** False when more text is needed. */
  #decideQuotes(final: boolean): boolean {
    const solid = this.#text.trimStart();
    if (!final && QUOTE_OPEN.startsWith(solid.slice(0, QUOTE_OPEN.length)) && solid.length < QUOTE_OPEN.length)
      return false;
    this.#quotes = 'none';
    if (!solid.startsWith(QUOTE_OPEN)) return true;
    this.#text = solid.slice(QUOTE_OPEN.length);
    this.#part = 'quoted';
    return true;
  }

  #closeQuotes(): ReaderState {
    this.#text = this.#text.slice(QUOTE_CLOSE.length);
    this.#part = 'value';
    this.#quotes = 'closed';
    return 'more';
  }

  #consume(text: string): void {
    if (this.#part === 'key') this.#key += text;
    else if (this.#part === 'value' || this.#part === 'quoted') this.#growValue(text);
    else if (this.#part === 'opener') this.#beforeValue += text;
    else if (this.#tags.isStrict === true && text.trim() !== '') this.#isBroken = true;
  }

  /** The rules of a strict format do not allow that marker here. */
  #isOutOfPlace(marker: string): boolean {
    const {isStrict, keyClose, valueOpen, valueClose, keyOpen, callClose} = this.#tags;
    if (isStrict !== true) return false;
    const expected = {
      between: [keyOpen, callClose],
      key: [keyClose],
      opener: [valueOpen],
      value: [valueClose],
      quoted: [QUOTE_CLOSE],
    };
    return this.#isBroken || !expected[this.#part].includes(marker);
  }

  /** What a marker at the beginning of the text does. */
  #take(marker: string, final: boolean): ReaderState | 'wait' {
    const {keyOpen, valueOpen, valueClose, callClose} = this.#tags;
    if (this.#part === 'quoted') return this.#closeQuotes();
    if (marker === valueClose && this.#part === 'value') return this.#closeTag(final);
    if (marker === valueClose && this.#part === 'opener') return this.#closeUnopened(final);
    if (this.#part === 'value') this.#endUnclosedValue();
    if (marker === this.#tags.keyClose && this.#part === 'key') return this.#endKey();
    if (marker === valueOpen && this.#part === 'opener') return this.#beginOpenedValue(marker);
    if (marker === keyOpen) return this.#beginKey();
    if (marker === valueClose) return this.#skip(marker);
    if (marker === callClose) this.#text = this.#text.slice(marker.length);
    return 'done';
  }

  #beginOpenedValue(marker: string): ReaderState {
    const before = this.#beforeValue.trim();
    const {open, close} = this.#tags.typeTags ?? {open: '', close: ''};
    const isType = open !== '' && before.startsWith(open) && before.endsWith(close);
    this.#writtenType = isType ? {type: before.slice(open.length, -close.length).trim()} : undefined;
    if (this.#tags.isStrict === true) this.#isBroken = (before !== '' && !isType) || this.#seen.has(this.#key);
    return this.#beginValue(marker);
  }

  /** The opener of the value is missing. */
  #closeUnopened(final: boolean): ReaderState | 'wait' {
    this.#beginValue('');
    this.#growValue(this.#beforeValue.trimStart());
    return this.#closeTag(final);
  }

  #skip(marker: string): ReaderState {
    this.#text = this.#text.slice(marker.length);
    this.#part = 'between';
    return 'more';
  }

  #beginKey(): ReaderState {
    this.#releaseWrapped();
    this.#text = this.#text.slice(this.#tags.keyOpen.length);
    this.#key = '';
    this.#part = 'key';
    return 'more';
  }

  #endKey(): ReaderState {
    const {keyClose, valueOpen = ''} = this.#tags;
    this.#part = 'opener';
    this.#beforeValue = '';
    this.#readKey(this.#key.trim());
    if (valueOpen === '') return this.#beginValue(keyClose);
    this.#text = this.#text.slice(keyClose.length);
    return 'more';
  }

  #readKey(written: string): void {
    const {key, kind} = this.#tags.readKey?.(written) ?? {key: written};
    this.#key = key;
    this.#kind = kind;
  }

  #beginValue(marker: string): ReaderState {
    this.#text = this.#text.slice(marker.length);
    this.#part = 'value';
    this.#value = '';
    this.#atValueStart = true;
    this.#quotes = this.#tags.mayBeQuoted === true ? 'undecided' : 'none';
    this.#isSkipped = this.#tags.onlyDeclared === true && !this.#isWanted();
    const streams = this.#tags.trims !== 'blanks' && this.#tags.dropsUnclosed !== true;
    this.#isOpenString = streams && !this.#isSkipped && !this.#mayBeWrapper() && isPlainString(this.#schema());
    if (this.#isOpenString) this.#json += `${this.#label()}"`;
    return 'more';
  }

  /** Declared and new. A tool that declares nothing takes anything. */
  #isWanted(): boolean {
    const declared = Object.keys(this.#properties);
    return !this.#seen.has(this.#key) && (declared.length === 0 || declared.includes(this.#key));
  }

  #mayBeWrapper(): boolean {
    const isWrapper = this.#tags.wrappers?.includes(this.#key) === true;
    return isWrapper && this.#seen.size === 0 && this.#properties[this.#key] === undefined;
  }

  /** More than one parameter: it is none of a wrapper. */
  #releaseWrapped(): void {
    if (this.#wrapped !== undefined) this.#json += this.#wrapped;
    this.#wrapped = undefined;
  }

  #schema(): JsonSchema | undefined {
    if (this.#kind !== undefined) return this.#kind === 'json' ? this.#jsonSchema() : TEXT;
    return (
      this.#properties[this.#key] ?? this.#writtenType ?? (this.#tags.undeclared === 'json' ? ANY_JSON : undefined)
    );
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

  #growValue(text: string): void {
    if (this.#quotes === 'closed' && text.trim() === '') return;
    this.#value += text;
    if (this.#atValueStart && this.#value !== '' && this.#tags.trims === 'line-feeds') {
      if (this.#value.startsWith('\n')) this.#value = this.#value.slice(1);
    }
    if (this.#value !== '' || text !== '') this.#atValueStart = false;
    if (!this.#isOpenString) return;
    const isHeld = this.#tags.trims === 'line-feeds' && this.#value.endsWith('\n');
    const certain = isHeld ? this.#value.slice(0, -1) : this.#value;
    this.#json += escapeJsonText(certain);
    this.#value = isHeld ? '\n' : '';
  }

  /** The closing tag counts when nothing but blanks and a known marker, or the end of the text, follows. */
  #closeTag(final: boolean): ReaderState | 'wait' {
    const {valueClose, keyOpen, callClose = '', ends} = this.#tags;
    const behind = this.#text.slice(valueClose.length).trimStart();
    if (behind === '' && !final) return 'wait';
    const followers = [keyOpen, callClose, ...ends].filter((marker) => marker !== '');
    const mayFollow = followers.some((marker) => behind.startsWith(marker));
    const mayGrow = !final && followers.some((marker) => marker.startsWith(behind));
    if (!mayFollow && mayGrow) return 'wait';
    if (mayFollow || behind === '') this.#endValue();
    else this.#growValue(valueClose);
    this.#text = this.#text.slice(valueClose.length);
    return 'more';
  }

  #endValue(): void {
    const isLineFeedMarkup = this.#tags.trims === 'line-feeds' && this.#value.endsWith('\n');
    const text = isLineFeedMarkup ? this.#value.slice(0, -1) : this.#value;
    if (this.#isOpenString) this.#json += `${escapeJsonText(text)}"`;
    else if (this.#mayBeWrapper()) this.#holdWrapper(text);
    else if (!this.#isSkipped)
      this.#json += this.#label() + coerceValue(this.#tags.trims === 'blanks' ? text.trim() : text, this.#schema());
    this.#value = '';
    this.#part = 'between';
  }

  /** What is an object becomes the arguments at the end. */
  #holdWrapper(text: string): void {
    const inner = text.trim();
    const isArguments = isJsonObject(inner);
    this.#wrapped = this.#label() + coerceValue(text, this.#schema());
    this.#unwrapped = isArguments ? inner : undefined;
  }

  #endUnclosedValue(): void {
    if (this.#tags.dropsUnclosed === true) this.#value = '';
    else this.#endValue();
    this.#part = 'between';
  }

  #closing(): string {
    if (this.#wrapped !== undefined) return this.#unwrapped ?? `${this.#wrapped}}`;
    return this.#seen.size === 0 ? '{}' : '}';
  }

  #end(state: ReaderState): ReaderStep {
    const step = {json: this.#takeJson() + this.#closing(), state, rest: this.#text};
    this.#text = '';
    return step;
  }

  #takeJson(): string {
    const json = this.#json;
    this.#json = '';
    return json;
  }
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
