/**
 * Regular expressions as grammars. The dialect is what JavaScript, Python and Rust agree on: classes, groups, alternatives,
 * repetition, anchors at the ends. What no grammar can say (look-around, references back) is refused with its place.
 */
import {ValidationError} from '../errors.ts';
import {
  anyCodePoint,
  type CodePointRanges,
  charactersOf,
  complementOf,
  range,
  unionOf,
  without,
} from './code-point-ranges.ts';
import {choice, type GrammarNode, oneOf, repeat, sequence} from './grammar.ts';

export interface RegexOptions {
  /** How one character out of a set is written; as itself unless given (in JSON, some are escaped). */
  write?: (ranges: CodePointRanges) => GrammarNode;
  /** Where the expression stands, for errors. */
  place?: string;
  /** `whole`: it describes all of the text; `search`: the text holds a match somewhere (JSON schema). */
  mode?: 'whole' | 'search';
  /** Letters stand for both of their cases. */
  ignoresCase?: boolean;
  /** `.` takes line ends, too. */
  dotTakesLineEnds?: boolean;
}

/** Most repetitions that a count may ask for. */
const maxCount = 100_000;
const maxFolded = 2000;

const digits: CodePointRanges = [range('0', '9')];
const wordCharacters = unionOf([range('a', 'z'), range('A', 'Z'), range('0', '9'), range('_', '_')]);
const spaces = unionOf(charactersOf(' \t\n\v\f\r\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff'), [
  range('\u2000', '\u200a'),
]);
const lineEnds = charactersOf('\n\r\u2028\u2029');

const classEscapes: Readonly<Record<string, CodePointRanges>> = {
  d: digits,
  D: complementOf(digits),
  w: wordCharacters,
  W: complementOf(wordCharacters),
  s: spaces,
  S: complementOf(spaces),
};

const characterEscapes: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  f: '\f',
  v: '\v',
  '0': '\0',
  a: '\x07',
};

/** @throws ValidationError with the position of what cannot be used */
export function regexGrammar(pattern: string, options: RegexOptions = {}): GrammarNode {
  const reader = new RegexReader(pattern, options);
  const node = reader.readAll();
  return node;
}

/** A text with each letter in any case. */
export const inAnyCase = (value: string): GrammarNode =>
  sequence(...[...value].map((character) => oneOf(bothCases(charactersOf(character)))));

/** Case is folded one character to one; sets of thousands of characters are taken to have all cases. */
function bothCases(ranges: CodePointRanges): CodePointRanges {
  const size = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  if (size > maxFolded) return ranges;
  const characters = ranges.flatMap(([first, last]) =>
    Array.from({length: last - first + 1}, (_, offset) => String.fromCodePoint(first + offset)),
  );
  const folded = characters.flatMap((character) => [character.toLowerCase(), character.toUpperCase()]);
  return unionOf(ranges, charactersOf(folded.filter((form) => [...form].length === 1).join('')));
}

/** Patterns have the same few sets again and again. */
function onceForEach(write: (ranges: CodePointRanges) => GrammarNode): (ranges: CodePointRanges) => GrammarNode {
  const written = new Map<CodePointRanges, GrammarNode>();
  return (ranges) => {
    const node = written.get(ranges) ?? write(ranges);
    written.set(ranges, node);
    return node;
  };
}

/** What an alternative begins and ends with, besides its text. */
interface Anchors {
  start: boolean;
  end: boolean;
}

class RegexReader {
  readonly #characters: string[];
  readonly #write: (ranges: CodePointRanges) => GrammarNode;
  readonly #anyCharacter: CodePointRanges;
  readonly #place: string;
  readonly #isSearch: boolean;
  readonly #singles = new Map<string, CodePointRanges>();
  #position = 0;
  #depth = 0;

  constructor(
    pattern: string,
    {write = oneOf, place = 'regex', mode = 'whole', ignoresCase = false, dotTakesLineEnds = false}: RegexOptions,
  ) {
    this.#characters = [...pattern];
    this.#write = onceForEach(ignoresCase ? (ranges) => write(bothCases(ranges)) : write);
    this.#anyCharacter = dotTakesLineEnds ? anyCodePoint : complementOf(lineEnds);
    this.#place = place;
    this.#isSearch = mode === 'search';
  }

  readAll(): GrammarNode {
    const node = this.#readAlternatives();
    if (this.#peek() !== undefined) this.#refuse('there is no group that this `)` could close');
    return node;
  }

  #readAlternatives(): GrammarNode {
    const options = [this.#readAlternative()];
    while (this.#take('|')) options.push(this.#readAlternative());
    return choice(...options);
  }

  #readAlternative(): GrammarNode {
    const parts: GrammarNode[] = [];
    const anchors: Anchors = {start: false, end: false};
    for (;;) {
      const next = this.#peek();
      if (next === undefined || next === '|' || next === ')') break;
      if (anchors.end) this.#refuse('nothing can stand behind `$`');
      if (this.#takeAnchor(anchors, parts.length === 0)) continue;
      parts.push(this.#readRepeated());
    }
    return this.#anchored(sequence(...parts), anchors);
  }

  /** Outermost alternatives of a search may stand anywhere in the text unless they are anchored. */
  #anchored(node: GrammarNode, {start, end}: Anchors): GrammarNode {
    if (!this.#isSearch || this.#depth > 0) return node;
    const anything = repeat(this.#write(anyCodePoint), 0);
    return sequence(...(start ? [] : [anything]), node, ...(end ? [] : [anything]));
  }

  #takeAnchor(anchors: Anchors, isFirst: boolean): boolean {
    if (this.#peek() === '^') {
      if (!isFirst) this.#refuse('`^` can stand at the beginning only');
      this.#refuseInnerAnchor();
      anchors.start = true;
    } else if (this.#peek() === '$') {
      this.#refuseInnerAnchor();
      anchors.end = true;
    } else return false;
    this.#position++;
    return true;
  }

  /** Within a group of a search the text around a match is not known. */
  #refuseInnerAnchor(): void {
    if (this.#depth > 0) this.#refuse('anchors are supported outside groups only');
  }

  #readRepeated(): GrammarNode {
    let node = this.#readAtom();
    for (let counts = this.#readCounts(); counts !== null; counts = this.#readCounts()) {
      node = repeat(node, ...counts);
      if (!this.#take('?') && this.#peek() === '+') this.#refuse('possessive repetition is not supported');
    }
    return node;
  }

  #readCounts(): [number, number] | null {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    if (this.#peek() !== '{') return null;
    const match = /^\{(\d+)(,(\d*))?\}/.exec(this.#characters.slice(this.#position, this.#position + 20).join(''));
    if (match === null) return null;
    const [whole, least, comma, most] = match;
    const min = Number(least);
    const max = comma === undefined ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most);
    if (max < min) this.#refuse(`the counts of ${whole} are in the wrong order`);
    if (min > maxCount || (max > maxCount && max !== Number.POSITIVE_INFINITY)) {
      this.#refuse(`a count can be at most ${maxCount}`);
    }
    this.#position += whole.length;
    return [min, max];
  }

  #readAtom(): GrammarNode {
    const character = this.#characters[this.#position]!;
    if ('*+?'.includes(character)) this.#refuse(`nothing stands before \`${character}\` that could be repeated`);
    this.#position++;
    if (character === '(') return this.#readGroup();
    if (character === '[') return this.#write(this.#readClass());
    if (character === '.') return this.#write(this.#anyCharacter);
    if (character === '\\') return this.#write(this.#readEscape());
    return this.#write(this.#single(character));
  }

  /** The same set for the same character, so that what is made of it is made once. */
  #single(character: string): CodePointRanges {
    const ranges = this.#singles.get(character) ?? charactersOf(character);
    this.#singles.set(character, ranges);
    return ranges;
  }

  #readGroup(): GrammarNode {
    const opening = this.#position - 1;
    if (this.#take('?')) this.#readGroupKind(opening);
    this.#depth++;
    const node = this.#readAlternatives();
    this.#depth--;
    if (!this.#take(')')) this.#refuse('the group is not closed', opening);
    return node;
  }

  #readGroupKind(opening: number): void {
    if (this.#take(':')) return;
    const rest = this.#characters.slice(this.#position, this.#position + 80).join('');
    const name = /^P?<[A-Za-z_]\w*>/.exec(rest);
    if (name === null) this.#refuse('look-around and inline flags are not supported', opening);
    this.#position += name[0].length;
  }

  #readClass(): CodePointRanges {
    const opening = this.#position - 1;
    const isNegated = this.#take('^');
    const items: CodePointRanges[] = [];
    for (let isFirst = true; isFirst || this.#peek() !== ']'; isFirst = false) {
      if (this.#peek() === undefined) this.#refuse('the class is not closed', opening);
      if (isFirst && this.#peek() === ']') break;
      items.push(this.#readClassItem());
    }
    this.#position++;
    const ranges = unionOf(items.flat());
    return isNegated ? complementOf(ranges) : without(ranges, []);
  }

  #readClassItem(): CodePointRanges {
    const first = this.#readClassCharacter();
    const following = this.#characters[this.#position + 1];
    if (this.#peek() !== '-' || following === ']' || following === undefined || !isSingle(first)) return first;
    this.#position++;
    const last = this.#readClassCharacter();
    if (!isSingle(last)) return unionOf(first, charactersOf('-'), last);
    if (last[0]![0] < first[0]![0]) this.#refuse('the range of the class is in the wrong order');
    return [[first[0]![0], last[0]![0]]];
  }

  #readClassCharacter(): CodePointRanges {
    const character = this.#characters[this.#position++]!;
    if (character === '[' && this.#peek() === ':') this.#refuse('named classes are not supported');
    if (character !== '\\') return charactersOf(character);
    if (this.#take('b')) return charactersOf('\b');
    return this.#readEscape();
  }

  /** Behind the backslash. */
  #readEscape(): CodePointRanges {
    const character = this.#characters[this.#position++];
    if (character === undefined) this.#refuse('a single `\\` stands at the end');
    const set = classEscapes[character];
    if (set) return set;
    if ('xuU'.includes(character)) return this.#readHexEscape(character);
    const named = characterEscapes[character];
    if (named !== undefined) return charactersOf(named);
    if (/[A-Za-z0-9]/.test(character)) this.#refuse(`\`\\${character}\` is not supported`, this.#position - 2);
    return charactersOf(character);
  }

  #readHexEscape(kind: string): CodePointRanges {
    const rest = this.#characters.slice(this.#position, this.#position + 12).join('');
    const digitsOfKind = {x: /^[0-9A-Fa-f]{2}/, u: /^[0-9A-Fa-f]{4}/, U: /^[0-9A-Fa-f]{8}/}[kind]!;
    const [whole, braced] = /^\{([0-9A-Fa-f]{1,6})\}/.exec(rest) ?? digitsOfKind.exec(rest) ?? [];
    if (whole === undefined) this.#refuse(`\`\\${kind}\` needs hexadecimal digits`);
    this.#position += whole.length;
    const codePoint = Number.parseInt(braced ?? whole, 16);
    if (codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint <= 0xdfff))
      this.#refuse('there is no such character');
    return [[codePoint, codePoint]];
  }

  #peek(): string | undefined {
    return this.#characters[this.#position];
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#position++;
    return true;
  }

  #refuse(reason: string, position = this.#position): never {
    throw new ValidationError(`Invalid structured outputs: ${this.#place}, position ${position + 1}: ${reason}`);
  }
}

const isSingle = (ranges: CodePointRanges): boolean => ranges.length === 1 && ranges[0]![0] === ranges[0]![1];
