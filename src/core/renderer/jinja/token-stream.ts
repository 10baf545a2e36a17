/** The tokens of a template with one or two of them in view, and jinja2's words for what is missing. */
import type {Token, TokenType} from './lexer.ts';
import {syntaxError} from './template-fault.ts';
import {stringRepr} from './text.ts';

const descriptions: Readonly<Partial<Record<TokenType, string>>> = {
  block_begin: 'begin of statement block',
  block_end: 'end of statement block',
  variable_begin: 'begin of print statement',
  variable_end: 'end of print statement',
  text: 'template data / text',
  end: 'end of template',
};

export function describe({type, text}: Token): string {
  return type === 'name' || type === 'operator' ? text : (descriptions[type] ?? type);
}

export class TokenStream {
  readonly #tokens: Iterator<Token, void>;
  #current: Token;
  #ahead: Token | undefined;
  /** Where the last token that was taken ends. */
  lastEnd = 0;

  constructor(tokens: Iterator<Token, void>) {
    this.#tokens = tokens;
    this.#current = this.#read();
  }

  get current(): Token {
    return this.#current;
  }

  /** The token after the current one. */
  look(): Token {
    this.#ahead ??= this.#read();
    return this.#ahead;
  }

  next(): Token {
    const taken = this.#current;
    this.lastEnd = taken.end;
    if (taken.type === 'end') return taken;
    this.#current = this.#ahead ?? this.#read();
    this.#ahead = undefined;
    return taken;
  }

  is(type: TokenType): boolean {
    return this.#current.type === type;
  }

  atOperator(...operators: string[]): boolean {
    return this.#current.type === 'operator' && operators.includes(this.#current.text);
  }

  atName(...names: string[]): boolean {
    return this.#current.type === 'name' && names.includes(this.#current.text);
  }

  /** Takes the operator when it is there. */
  skipOperator(operator: string): boolean {
    return this.atOperator(operator) && Boolean(this.next());
  }

  skipName(name: string): boolean {
    return this.atName(name) && Boolean(this.next());
  }

  expect(type: TokenType): Token {
    return this.is(type) ? this.next() : this.#missing(descriptions[type] ?? type);
  }

  expectOperator(operator: string): Token {
    return this.atOperator(operator) ? this.next() : this.#missing(operator);
  }

  expectName(name: string): Token {
    return this.atName(name) ? this.next() : this.#missing(name);
  }

  #missing(wanted: string): never {
    const {start} = this.#current;
    if (this.is('end')) throw syntaxError(`unexpected end of template, expected ${stringRepr(wanted)}.`, start);
    throw syntaxError(`expected token ${stringRepr(wanted)}, got ${stringRepr(describe(this.#current))}`, start);
  }

  /** The lexer always ends with an `end` token. */
  #read(): Token {
    return this.#tokens.next().value!;
  }
}
