/** A cursor over the text of a grammar: what GBNF and Lark write alike, and errors with line and column. */
import {ValidationError} from '../errors.ts';
import {type CodePointRanges, charactersOf, complementOf, unionOf} from './code-point-ranges.ts';
import {type GrammarNode, repeat} from './grammar.ts';

const maxCount = 100_000;
const counts = /\{\s*(\d+)\s*(,\s*(\d*)\s*)?\}/y;

const characterEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  f: '\f',
  v: '\v',
  b: '\b',
  '0': '\0',
  a: '\x07',
  e: '\x1b',
};
const hexLengths: Readonly<Record<string, number>> = {x: 2, u: 4, U: 8};

export class GrammarText {
  position = 0;
  readonly #source: string;
  /** What the text is, for errors. */
  readonly #what: string;
  readonly #blank: RegExp;

  /** @param blank a sticky expression for what stands between elements */
  constructor(source: string, what: string, blank: RegExp) {
    this.#source = source;
    this.#what = what;
    this.#blank = blank;
  }

  get isAtEnd(): boolean {
    return this.position >= this.#source.length;
  }

  /** The next code point; '' at the end. */
  get next(): string {
    const codePoint = this.#source.codePointAt(this.position);
    return codePoint === undefined ? '' : String.fromCodePoint(codePoint);
  }

  skipBlank(): void {
    this.#blank.lastIndex = this.position;
    this.position += this.#blank.exec(this.#source)?.[0].length ?? 0;
  }

  /** @param form a sticky expression */
  looksAt(form: RegExp): boolean {
    form.lastIndex = this.position;
    return form.test(this.#source);
  }

  /** Takes what a sticky expression matches, and the blank behind it; null when it does not match. */
  take(form: RegExp): string | null {
    form.lastIndex = this.position;
    const found = form.exec(this.#source)?.[0];
    if (found === undefined) return null;
    this.position += found.length;
    this.skipBlank();
    return found;
  }

  takeText(expected: string): boolean {
    if (!this.#source.startsWith(expected, this.position)) return false;
    this.position += expected.length;
    this.skipBlank();
    return true;
  }

  /** A text in quotes, from its opening one. */
  takeQuoted(): string {
    const start = this.position;
    const quote = this.#takeCharacter();
    let value = '';
    while (this.next !== quote) {
      if (this.isAtEnd || this.next === '\n') this.refuse('the text is not closed', start);
      value += this.#takeEscapable();
    }
    this.#takeCharacter();
    this.skipBlank();
    return value;
  }

  /** `[a-z]` or `[^a-z]`, from its opening bracket. */
  takeClass(): CodePointRanges {
    const start = this.position;
    this.#takeCharacter();
    const isNegated = this.next === '^';
    if (isNegated) this.#takeCharacter();
    const items: CodePointRanges[] = [];
    while (this.next !== ']') {
      if (this.isAtEnd) this.refuse('the class is not closed', start);
      items.push(this.#takeRange());
    }
    const ranges = unionOf(items.flat());
    this.#takeCharacter();
    this.skipBlank();
    return isNegated ? complementOf(ranges) : ranges;
  }

  /** An element with the counts that stand behind it. */
  repeated(node: GrammarNode): GrammarNode {
    let repeatedNode = node;
    for (let count = this.#takeCount(); count !== null; count = this.#takeCount())
      repeatedNode = repeat(repeatedNode, ...count);
    return repeatedNode;
  }

  refuse(reason: string, position = this.position): never {
    const before = this.#source.slice(0, position).split('\n');
    const place = `line ${before.length}, column ${before.at(-1)!.length + 1}`;
    throw new ValidationError(`Invalid structured outputs: ${this.#what}, ${place}: ${reason}`);
  }

  #takeCount(): [number, number] | null {
    if (this.takeText('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.takeText('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.takeText('?')) return [0, 1];
    const start = this.position;
    const found = this.take(counts);
    if (found === null) return null;
    const [least, most = least] = found.slice(1, -1).split(',') as [string, string | undefined];
    const min = Number(least);
    const max = most.trim() === '' ? Number.POSITIVE_INFINITY : Number(most);
    if (max < min) this.refuse('the counts are in the wrong order', start);
    if (min > maxCount || (max > maxCount && max !== Number.POSITIVE_INFINITY))
      this.refuse(`a count can be at most ${maxCount}`, start);
    return [min, max];
  }

  #takeRange(): CodePointRanges {
    const start = this.position;
    const first = this.#takeEscapable();
    if (this.next !== '-' || this.#source[this.position + 1] === ']') return charactersOf(first);
    this.#takeCharacter();
    if (this.isAtEnd) this.refuse('the class is not closed', start);
    const last = this.#takeEscapable();
    if (last.codePointAt(0)! < first.codePointAt(0)!) this.refuse('the range is in the wrong order', start);
    return [[first.codePointAt(0)!, last.codePointAt(0)!]];
  }

  #takeCharacter(): string {
    const character = this.next;
    this.position += character.length;
    return character;
  }

  /** One character, written as itself or with a backslash. */
  #takeEscapable(): string {
    const start = this.position;
    const character = this.#takeCharacter();
    if (character !== '\\') return character;
    const kind = this.#takeCharacter();
    const length = hexLengths[kind];
    if (length === undefined)
      return (
        characterEscapes[kind] ?? (/[A-Za-z0-9]/.test(kind) ? this.refuse(`unknown escape \\${kind}`, start) : kind)
      );
    const digits = this.#source.slice(this.position, this.position + length);
    const codePoint = Number.parseInt(digits, 16);
    if (!new RegExp(`^[0-9A-Fa-f]{${length}}$`).test(digits) || codePoint > 0x10ffff)
      this.refuse('this is no character', start);
    this.position += length;
    return String.fromCodePoint(codePoint);
  }
}
