/** JSON itself as grammar: strings, any value, and how the elements of objects and arrays are set apart. */
import {
  type CodePointRanges,
  charactersOf,
  complementOf,
  intersectionOf,
  range,
  unionOf,
  without,
} from './code-point-ranges.ts';
import {
  choice,
  type GrammarBuilder,
  type GrammarNode,
  oneOf,
  optional,
  repeat,
  rule,
  sequence,
  text,
} from './grammar.ts';

const quote = text('"');
const controls: CodePointRanges = [[0, 0x1f]];
const escaped = unionOf(charactersOf('"\\'), controls);
const hexDigits = unionOf([range('0', '9'), range('a', 'f'), range('A', 'F')]);

/** Characters that stand for themselves in a string. */
const plainCharacters = complementOf(escaped);

/** One character of a set as a string holds it: itself, or its usual escape. */
export function writtenCharacter(ranges: CodePointRanges): GrammarNode {
  const plain = without(ranges, escaped);
  const escapes = intersectionOf(ranges, escaped).flatMap(([first, last]) =>
    Array.from({length: last - first + 1}, (_, offset) => text(escapeOf(first + offset))),
  );
  return choice(...(plain.length > 0 ? [oneOf(plain)] : []), ...escapes);
}

const escapeOf = (codePoint: number): string => JSON.stringify(String.fromCodePoint(codePoint)).slice(1, -1);

/** `\u` and four digits that are no surrogate: half a pair would be no text. */
const unicodeEscape = sequence(
  text('\\u'),
  choice(
    sequence(oneOf(without(hexDigits, charactersOf('dD'))), repeat(oneOf(hexDigits), 3, 3)),
    sequence(oneOf(charactersOf('dD')), oneOf([range('0', '7')]), repeat(oneOf(hexDigits), 2, 2)),
  ),
);

/** Any character in any of its forms. */
const anyCharacter = choice(
  oneOf(plainCharacters),
  sequence(text('\\'), oneOf(charactersOf('"\\/bfnrt'))),
  unicodeEscape,
);

/** A string with a number of characters. */
export function stringOf(min = 0, max = Number.POSITIVE_INFINITY): GrammarNode {
  return sequence(quote, repeat(anyCharacter, min, max), quote);
}

export const quoted = (content: GrammarNode): GrammarNode => sequence(quote, content, quote);

/** A string of plain characters that is none of the given ones. */
export function stringOtherThan(names: readonly string[], builder: GrammarBuilder): GrammarNode {
  const anyRest = sequence(repeat(oneOf(plainCharacters), 0), quote);
  const restAfter = (tails: readonly string[][]): GrammarNode => {
    const firsts = [...new Set(tails.flatMap(([first]) => (first === undefined ? [] : [first])))];
    const isName = tails.some((tail) => tail.length === 0);
    const others = without(plainCharacters, charactersOf(firsts.join('')));
    return choice(
      ...(isName ? [] : [quote]),
      sequence(oneOf(others), anyRest),
      ...firsts.map((first) => {
        const following = tails.filter((tail) => tail[0] === first).map((tail) => tail.slice(1));
        return sequence(text(first), builder.add('key', restAfter(following)));
      }),
    );
  };
  const reachable = names.map((name) => [...name]).filter((name) => name.every((character) => isPlain(character)));
  return sequence(quote, restAfter(reachable));
}

const isPlain = (character: string): boolean => JSON.stringify(character).length === character.length + 2;

/** Digits before the point, and behind it: no more than a double can tell apart, so that every number stays finite. */
const maxIntegerDigits = 18;
const maxFractionDigits = 18;
const digit = oneOf([range('0', '9')]);
const minus = optional(text('-'));

export const anyInteger = sequence(
  minus,
  choice(text('0'), sequence(oneOf([range('1', '9')]), repeat(digit, 0, maxIntegerDigits - 1))),
);

export const anyNumber = sequence(
  anyInteger,
  optional(sequence(text('.'), repeat(digit, 1, maxFractionDigits))),
  optional(sequence(oneOf(charactersOf('eE')), optional(oneOf(charactersOf('+-'))), repeat(digit, 1, 2))),
);

/** White space between elements, and with it the marks that set them apart. */
export interface JsonLayout {
  /** Inside brackets, next to them. */
  space: GrammarNode;
  comma: GrammarNode;
  colon: GrammarNode;
}

export function layoutWith(space: GrammarNode): JsonLayout {
  return {space, comma: sequence(space, text(','), space), colon: sequence(space, text(':'), space)};
}

/** On one line, as Python's json.dumps writes it. */
export const oneLine: JsonLayout = {space: text(''), comma: text(', '), colon: text(': ')};

export const anyWhiteSpace = layoutWith(repeat(oneOf(charactersOf(' \n\t')), 0));

/** `{…}` around entries that are set apart by commas already; without entries the space stands once. */
export function braced(
  [open, close]: readonly [string, string],
  content: GrammarNode,
  {space}: JsonLayout,
): GrammarNode {
  return sequence(text(open), space, content, space, text(close));
}

export function emptyBraces([open, close]: readonly [string, string], {space}: JsonLayout): GrammarNode {
  return sequence(text(open), space, text(close));
}

export const braces = ['{', '}'] as const;
export const brackets = ['[', ']'] as const;

/** Rules for any JSON value, any object and any array; made once for each grammar. */
export interface AnyJson {
  value: GrammarNode;
  object: GrammarNode;
  array: GrammarNode;
}

export function addAnyJson(builder: GrammarBuilder, layout: JsonLayout): AnyJson {
  const [value, object, array] = ['value', 'object', 'array'].map((name) => builder.reserve(name)) as [
    string,
    string,
    string,
  ];
  const entry = sequence(stringOf(), layout.colon, rule(value));
  const list = (part: GrammarNode) => sequence(part, repeat(sequence(layout.comma, part), 0));
  builder.define(object, choice(emptyBraces(braces, layout), braced(braces, list(entry), layout)));
  builder.define(array, choice(emptyBraces(brackets, layout), braced(brackets, list(rule(value)), layout)));
  builder.define(
    value,
    choice(rule(object), rule(array), stringOf(), anyNumber, text('true'), text('false'), text('null')),
  );
  return {value: rule(value), object: rule(object), array: rule(array)};
}
