/**
 * Reads one Python literal out of a growing text and writes it as JSON: strings go out while they grow, lists, tuples and
 * sets become arrays, dictionaries objects. Whether a brace opens a dictionary or a set shows behind its first element, so
 * that element waits.
 */

import {escapeJsonText} from './json-string.ts';

export interface PythonStep {
  json: string;
  /** `failed`: this is no literal. */
  state: 'more' | 'done' | 'failed';
  rest: string;
}

interface Frame {
  closer: string;
  kind: 'array' | 'object' | 'brace';
  count: number;
  /** In an object: a key comes next, or its value. */
  atKey: boolean;
  /** Text of the first element of an undecided brace. */
  held: string;
}

interface OpenString {
  quote: string;
  isRaw: boolean;
}

const CLOSERS: Readonly<Record<string, string>> = {'[': ']', '(': ')', '{': '}'};
const WORDS: Readonly<Record<string, string>> = {
  True: 'true',
  False: 'false',
  None: 'null',
  true: 'true',
  false: 'false',
  null: 'null',
};
const STRING_START = /^([rbfu]{0,2})("""|'''|"|')/i;
const MAYBE_STRING_START = /^[rbfu]{0,2}("{1,2}|'{1,2})?$/i;
const ATOM = /^[^\s,()[\]{}:'"=]+/;
const NUMBER = /^[+-]?(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(e[+-]?\d+)?$/i;
const RADIX_NUMBER = /^[+-]?0[xob][\da-f_]+$/i;
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const CODE_ESCAPE = /^\\(?:x([\da-f]{2})|u([\da-f]{4})|U([\da-f]{8})|([0-7]{1,3}))/i;
const LONGEST_ESCAPE = 10;

/** What may stand behind a string. */
const AFTER_STRING = /^\s*[,)\]}:;]/;
/** Longest run of blanks between a string and what follows it. */
const MAX_BLANKS = 64;

export interface PythonValueOptions {
  /** A quote that nothing can follow belongs to the string that it stands in. */
  keepsInnerQuotes?: boolean;
}

export class PythonValueReader {
  readonly #options: PythonValueOptions;
  #text = '';
  #json = '';
  readonly #frames: Frame[] = [];
  #string: OpenString | undefined;
  /** A value was read and a separator or closer must come. */
  #afterValue = false;
  #state: PythonStep['state'] = 'more';

  constructor(options: PythonValueOptions = {}) {
    this.#options = options;
  }

  /** @param final no more text comes */
  push(text: string, final = false): PythonStep {
    this.#text += text;
    while (this.#state === 'more' && this.#text !== '' && this.#read(final));
    const rest = this.#state === 'more' ? '' : this.#text;
    const json = this.#json;
    this.#json = '';
    return {json, state: this.#state, rest};
  }

  /** Reads on; false when more text is needed. */
  #read(final: boolean): boolean {
    if (this.#string !== undefined) return this.#readString(this.#string, final);
    this.#text = this.#text.trimStart();
    if (this.#text === '') return false;
    return this.#afterValue ? this.#readSeparator() : this.#readStart(final);
  }

  #readStart(final: boolean): boolean {
    const first = this.#text.charAt(0);
    const frame = this.#frames.at(-1);
    if (frame !== undefined && first === frame.closer) return this.#close(frame);
    const closer = CLOSERS[first];
    if (closer !== undefined) return this.#open(first, closer);
    if (!final && MAYBE_STRING_START.test(this.#text)) return false;
    const string = STRING_START.exec(this.#text);
    return string === null ? this.#readAtom(final) : this.#beginString(string);
  }

  #open(opener: string, closer: string): boolean {
    this.#take(1);
    this.#beforeElement();
    if (opener !== '{') this.#write('[');
    this.#frames.push({closer, kind: opener === '{' ? 'brace' : 'array', count: 0, atKey: false, held: ''});
    return true;
  }

  #beginString([start, prefix = '', quote = '"']: RegExpExecArray): boolean {
    this.#take(start.length);
    this.#beforeElement();
    this.#write('"');
    this.#string = {quote, isRaw: prefix.toLowerCase().includes('r')};
    return true;
  }

  #readAtom(final: boolean): boolean {
    const written = ATOM.exec(this.#text)?.[0] ?? '';
    if (written.length === this.#text.length && !final) return false;
    const json = atomToJson(written);
    if (json === undefined) return this.#fail();
    this.#take(written.length);
    this.#beforeElement();
    this.#write(this.#frames.at(-1)?.atKey === true ? JSON.stringify(json) : json);
    this.#endValue();
    return true;
  }

  #readString(string: OpenString, final: boolean): boolean {
    const special = this.#text.search(string.isRaw || string.quote.startsWith("'") ? /['\\]/ : /["\\]/);
    const plain = string.isRaw ? this.#text.search(/["'\\]/) : special;
    const end = plain < 0 ? this.#text.length : plain;
    this.#write(escapeJsonText(this.#take(end)));
    if (this.#text === '') return false;
    if (this.#text.startsWith('\\')) return this.#readEscape(string, final);
    return this.#readQuote(string, final);
  }

  #readQuote({quote}: OpenString, final: boolean): boolean {
    const isInner = this.#text.startsWith(quote) ? this.#isInnerQuote(quote, final) : 'no';
    if (isInner === 'maybe') return false;
    if (this.#text.startsWith(quote) && isInner === 'no') {
      this.#take(quote.length);
      this.#write('"');
      this.#string = undefined;
      this.#endValue();
      return true;
    }
    if (!final && quote.startsWith(this.#text)) return false;
    this.#write(escapeJsonText(this.#take(1)));
    return true;
  }

  /** Only a look at what follows tells a quote inside a string from its end. */
  #isInnerQuote(quote: string, final: boolean): 'yes' | 'no' | 'maybe' {
    if (this.#options.keepsInnerQuotes !== true) return 'no';
    const behind = this.#text.slice(quote.length, quote.length + MAX_BLANKS);
    if (behind.trim() === '' && behind.length < MAX_BLANKS) return final ? 'no' : 'maybe';
    return AFTER_STRING.test(behind) ? 'no' : 'yes';
  }

  #readEscape({isRaw}: OpenString, final: boolean): boolean {
    if (this.#text.length < (isRaw ? 2 : LONGEST_ESCAPE) && !final && !this.#isSimpleEscape(isRaw)) return false;
    if (isRaw) this.#write(escapeJsonText(this.#take(2)));
    else this.#write(escapeJsonText(this.#takeEscape()));
    return true;
  }

  #isSimpleEscape(isRaw: boolean): boolean {
    return !isRaw && SIMPLE_ESCAPES[this.#text.charAt(1)] !== undefined;
  }

  #takeEscape(): string {
    const simple = SIMPLE_ESCAPES[this.#text.charAt(1)];
    if (simple !== undefined) {
      this.#take(2);
      return simple;
    }
    const code = CODE_ESCAPE.exec(this.#text);
    if (code === null) return this.#take(2);
    this.#take(code[0].length);
    const [, byte, unit, point, octal] = code;
    const value = octal === undefined ? Number.parseInt(byte ?? unit ?? point ?? '0', 16) : Number.parseInt(octal, 8);
    return value > 0x10ffff ? '\ufffd' : String.fromCodePoint(value);
  }

  #readSeparator(): boolean {
    const frame = this.#frames.at(-1);
    const first = this.#text.charAt(0);
    if (frame === undefined) return this.#fail();
    if (first === frame.closer) return this.#close(frame);
    if (first === ':' && frame.kind !== 'array') return this.#colon(frame);
    if (first !== ',' || (frame.kind === 'object' && frame.atKey)) return this.#fail();
    if (frame.kind === 'brace') this.#decide(frame, 'array');
    this.#take(1);
    frame.atKey = frame.kind === 'object';
    this.#afterValue = false;
    return true;
  }

  #colon(frame: Frame): boolean {
    if (frame.kind === 'object' && !frame.atKey) return this.#fail();
    if (frame.kind === 'brace') this.#decide(frame, 'object');
    this.#take(1);
    this.#write(': ');
    frame.atKey = false;
    this.#afterValue = false;
    return true;
  }

  /** A brace turns out to be a set or a dictionary. */
  #decide(frame: Frame, kind: 'array' | 'object'): void {
    frame.kind = kind;
    const {held} = frame;
    frame.held = '';
    const isKey = kind === 'object' && !held.startsWith('"');
    this.#write(`${kind === 'object' ? '{' : '['}${isKey ? JSON.stringify(held) : held}`);
  }

  #close(frame: Frame): boolean {
    if (frame.kind === 'object' && frame.atKey && this.#afterValue) return this.#fail();
    this.#take(1);
    if (frame.kind === 'brace') this.#decide(frame, frame.count === 0 ? 'object' : 'array');
    this.#write(frame.kind === 'object' ? '}' : ']');
    this.#frames.pop();
    this.#endValue();
    return true;
  }

  #beforeElement(): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    const isValue = frame.kind === 'object' && !frame.atKey;
    if (frame.count > 0 && !isValue) this.#write(', ');
    if (!isValue) frame.count++;
  }

  #endValue(): void {
    this.#afterValue = true;
    if (this.#frames.length === 0) this.#state = 'done';
  }

  #write(json: string): void {
    const undecided = this.#frames.find((frame) => frame.kind === 'brace');
    if (undecided === undefined) this.#json += json;
    else undecided.held += json;
  }

  #fail(): boolean {
    this.#state = 'failed';
    return true;
  }

  #take(length: number): string {
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }
}

function atomToJson(written: string): string | undefined {
  const word = WORDS[written];
  if (word !== undefined) return word;
  const digits = written.replaceAll('_', '');
  if (RADIX_NUMBER.test(written)) return radixToJson(digits);
  if (!NUMBER.test(written)) return undefined;
  if (/^[+-]?\d+$/.test(digits)) return BigInt(digits.replace('+', '')).toString();
  return JSON.stringify(Number(digits));
}

function radixToJson(digits: string): string | undefined {
  try {
    const value = BigInt(digits.replace(/^[+-]/, ''));
    return (digits.startsWith('-') ? -value : value).toString();
  } catch {
    return undefined;
  }
}
