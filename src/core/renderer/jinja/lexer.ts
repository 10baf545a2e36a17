/**
 * A template's text to tokens, with the environment of transformers: `trim_blocks`, `lstrip_blocks`, the last line feed
 * dropped. Tokens come one by one, so that what the parser finds first is also what is reported first, as in jinja2.
 */
import {codePointLength, stripEnd} from '../../util/python-text.ts';
import {PythonError} from './python-error.ts';
import {unescapeString} from './string-literal.ts';
import {syntaxError} from './template-fault.ts';
import {stringRepr} from './text.ts';
import {PyFloat, toInteger, type Value} from './values.ts';

export type TokenType =
  | 'text'
  | 'block_begin'
  | 'block_end'
  | 'variable_begin'
  | 'variable_end'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'
  | 'end';

export interface Token {
  readonly type: TokenType;
  /** A name, an operator, or the text itself. */
  readonly text: string;
  /** Of strings and numbers. */
  readonly value: Value;
  readonly start: number;
  readonly end: number;
}

/** Line ends become `\n`, and one at the very end is dropped. */
export function normalizeSource(source: string): string {
  const normalized = source.replace(/\r\n?/g, '\n');
  return normalized.endsWith('\n') ? normalized.slice(0, -1) : normalized;
}

/** @param source normalized @throws PlacedError */
export function tokenize(source: string): Generator<Token, void, undefined> {
  return new Lexer(source).tokens();
}

const space = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const patterns = {
  opening: /\{[{#%]/g,
  rawBegin: new RegExp(`\\{%[-+]?${space}*raw${space}*(?:-%\\}${space}*|%\\})`, 'y'),
  rawEnd: new RegExp(`\\{%([-+]?)${space}*endraw${space}*(?:\\+%\\}|-%\\}${space}*|%\\}\\n?)`, 'g'),
  commentEnd: new RegExp(`\\+#\\}|-#\\}${space}*|#\\}\\n?`, 'g'),
  blockEnd: new RegExp(`\\+%\\}|-%\\}${space}*|%\\}\\n?`, 'y'),
  variableEnd: new RegExp(`-\\}\\}${space}*|\\}\\}`, 'y'),
  space: new RegExp(`${space}+`, 'y'),
  onlySpace: new RegExp(`^${space}+$`),
  float: /(?<!\.)\d+(?:_\d+)*(?:(?:\.\d+(?:_\d+)*)?e[+-]?\d+(?:_\d+)*|\.\d+(?:_\d+)*)/iy,
  integer: /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy,
  name: /[\p{L}\p{N}\p{M}\p{Pc}\u00b7]+/uy,
  string: /'[^'\\]*(?:\\[\s\S][^'\\]*)*'|"[^"\\]*(?:\\[\s\S][^"\\]*)*"/y,
  operator: /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}<>=.:|,;]/y,
};

const identifier = /^[\p{XIDS}_]\p{XIDC}*$/u;
const plainIdentifier = /^[A-Za-z_][A-Za-z_0-9]*$/;
const closers: Readonly<Record<string, string>> = {'{': '}', '(': ')', '[': ']'};
/** Python refuses to read longer ones. */
const maxIntegerDigits = 4300;

class Lexer {
  readonly #source: string;
  #position = 0;
  /** Brackets that must still be closed; inside, `%}` and `}}` do not end a tag. */
  #open: string[] = [];
  /** The text before this place ended with a line feed, or there is none. */
  #lineStarts = true;

  constructor(source: string) {
    this.#source = source;
  }

  *tokens(): Generator<Token, void, undefined> {
    while (this.#position < this.#source.length) {
      patterns.opening.lastIndex = this.#position;
      const opening = patterns.opening.exec(this.#source);
      if (!opening) {
        yield this.#token('text', this.#position, this.#source.length);
        break;
      }
      const sign = this.#source[opening.index + 2] ?? '';
      const raw = this.#matchAt(patterns.rawBegin, opening.index);
      yield this.#textBefore(opening.index, sign, opening[0] !== '{{');
      if (raw !== null) yield* this.#rawBlock(opening.index + raw.length);
      else yield* this.#tag(opening[0], opening.index, sign);
    }
    yield this.#token('end', this.#source.length, this.#source.length);
  }

  /** Text up to a tag, without the white space that the tag takes away. */
  #textBefore(end: number, sign: string, isBlock: boolean): Token {
    const start = this.#position;
    const text = this.#strippedText(start, end, sign, isBlock);
    return {type: 'text', text, value: text, start, end};
  }

  #strippedText(start: number, end: number, sign: string, isBlock: boolean): string {
    const text = this.#source.slice(start, end);
    if (sign === '-') return stripEnd(text);
    if (sign === '+' || !isBlock) return text;
    const lineStart = text.lastIndexOf('\n') + 1;
    const mayStrip = lineStart > 0 || this.#lineStarts;
    return mayStrip && patterns.onlySpace.test(text.slice(lineStart)) ? text.slice(0, lineStart) : text;
  }

  *#rawBlock(start: number): Generator<Token> {
    this.#advance(start);
    if (start >= this.#source.length) return;
    const end = this.#search(patterns.rawEnd, start);
    if (!end) throw syntaxError('Missing end of raw directive', start);
    yield this.#textBefore(end.index, end[1]!, true);
    this.#advance(end.index + end[0].length);
  }

  *#tag(opening: string, start: number, sign: string): Generator<Token> {
    const hasSign = sign === '-' || sign === '+';
    this.#advance(start + opening.length + Number(hasSign));
    if (opening === '{#') return this.#skipComment();
    const kind = opening === '{{' ? 'variable' : 'block';
    yield this.#token(`${kind}_begin`, start, this.#position);
    const endPattern = kind === 'variable' ? patterns.variableEnd : patterns.blockEnd;
    while (this.#position < this.#source.length) {
      const end = this.#open.length === 0 ? this.#match(endPattern) : null;
      if (end !== null) {
        yield this.#taken(`${kind}_end`, end);
        return;
      }
      const token = this.#tagToken();
      if (token) yield token;
    }
  }

  #skipComment(): void {
    if (this.#position >= this.#source.length) return;
    const end = this.#search(patterns.commentEnd, this.#position);
    if (!end) throw syntaxError('Missing end of comment tag', this.#position);
    this.#advance(end.index + end[0].length);
  }

  /** The next token of a tag, or undefined for white space. */
  #tagToken(): Token | undefined {
    const space = this.#match(patterns.space);
    if (space !== null) return void this.#advance(this.#position + space.length);
    return this.#number() ?? this.#name() ?? this.#string() ?? this.#operator() ?? this.#unexpectedCharacter();
  }

  #number(): Token | undefined {
    const float = this.#match(patterns.float);
    if (float !== null) return this.#taken('float', float, new PyFloat(Number(float.replaceAll('_', ''))));
    const integer = this.#match(patterns.integer);
    if (integer === null) return undefined;
    if (integer.length > maxIntegerDigits) {
      const limit = `Exceeds the limit (${maxIntegerDigits} digits) for integer string conversion`;
      throw new PythonError('ValueError', `${limit}: value has ${integer.length} digits`);
    }
    return this.#taken('integer', integer, toInteger(BigInt(integer.replaceAll('_', ''))));
  }

  #name(): Token | undefined {
    const name = this.#match(patterns.name);
    if (name === null) return undefined;
    if (!plainIdentifier.test(name) && !identifier.test(name)) {
      throw syntaxError('Invalid character in identifier', this.#position);
    }
    return this.#taken('name', name);
  }

  #string(): Token | undefined {
    const literal = this.#match(patterns.string);
    if (literal === null) return undefined;
    return this.#taken('string', literal, unescapeString(literal.slice(1, -1), this.#position));
  }

  #operator(): Token | undefined {
    const operator = this.#match(patterns.operator);
    if (operator === null) return undefined;
    this.#balance(operator);
    return this.#taken('operator', operator);
  }

  #balance(operator: string): void {
    if (closers[operator] !== undefined) this.#open.push(closers[operator]);
    if (!/^[\])}]$/.test(operator)) return;
    const expected = this.#open.pop();
    if (expected === operator) return;
    const wanted = expected === undefined ? '' : `, expected '${expected}'`;
    throw syntaxError(`unexpected '${operator}'${wanted}`, this.#position);
  }

  #unexpectedCharacter(): never {
    const character = String.fromCodePoint(this.#source.codePointAt(this.#position)!);
    const index = codePointLength(this.#source.slice(0, this.#position));
    throw syntaxError(`unexpected char ${stringRepr(character)} at ${index}`, this.#position);
  }

  #match(pattern: RegExp): string | null {
    return this.#matchAt(pattern, this.#position);
  }

  #matchAt(pattern: RegExp, index: number): string | null {
    pattern.lastIndex = index;
    return pattern.exec(this.#source)?.[0] ?? null;
  }

  #search(pattern: RegExp, from: number): RegExpExecArray | null {
    pattern.lastIndex = from;
    return pattern.exec(this.#source);
  }

  #taken(type: TokenType, text: string, value: Value = text): Token {
    const start = this.#position;
    this.#advance(start + text.length);
    return {type, text, value, start, end: this.#position};
  }

  #token(type: TokenType, start: number, end: number): Token {
    const text = this.#source.slice(start, end);
    return {type, text, value: text, start, end};
  }

  #advance(position: number): void {
    this.#position = position;
    this.#lineStarts = this.#source[position - 1] === '\n';
  }
}
