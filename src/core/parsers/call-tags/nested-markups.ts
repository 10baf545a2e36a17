/** The formats whose arguments nest in markup of their own: Gemma 4 with its quotes, MiniMax M3 with its elements. */

import {isRecord} from '../argument-readers/written-json.ts';
import {type Member, type NestedMarkup, repeated} from './nested-values.ts';
import {either, json, literal, matching, optional, sequence, type TagContent, textBetween} from './tag-content.ts';

const QUOTE = '<|"|>';
const GEMMA_KEY = '[^\\s,:{}()<>"\'\\[\\]|]{1,64}';

/** Values of any kind; a text in them does not hold the beginning of a marker. */
const GEMMA_GRAMMAR = String.raw`
object ::= "{" (pair ("," pair)*)? "}"
list ::= "[" (value ("," value)*)? "]"
pair ::= key ":" value
key ::= [^ \t\r\n,:{}()<>"'|\[\]]+
value ::= text | number | "true" | "false" | "null" | object | list
text ::= "<|\"|>" ([^<] | "<"+ [^<|])* "<"* "<|\"|>"
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+\-]? [0-9]+)?
`;
const anyGemma = (rule: string): TagContent => ({type: 'grammar', grammar: `root ::= ${rule}\n${GEMMA_GRAMMAR}`});

function spellGemma(value: unknown): string {
  if (typeof value === 'string') return QUOTE + value + QUOTE;
  if (Array.isArray(value)) return `[${value.map(spellGemma).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, part]) => `${key}:${spellGemma(part)}`);
  return `{${pairs.join(',')}}`;
}

/** Commas stand between pairs only, so the first pair that must be there parts those before it from those behind it. */
function gemmaPairs(members: readonly Member[]): TagContent {
  const pairs = members.map(({key, value, isRequired}) => ({pair: sequence(literal(`${key}:`), value), isRequired}));
  const behind = (at: number): TagContent[] =>
    pairs.slice(at + 1).map(({pair, isRequired}) => {
      const next = sequence(literal(','), pair);
      return isRequired ? next : optional(next);
    });
  const first = pairs.findIndex(({isRequired}) => isRequired);
  if (first < 0) return either(literal(''), ...pairs.map(({pair}, at) => sequence(pair, ...behind(at))));
  const before = pairs.slice(0, first).map(({pair}) => optional(sequence(pair, literal(','))));
  return sequence(...before, pairs[first]!.pair, ...behind(first));
}

const inBraces = (content: TagContent): TagContent => sequence(literal('{'), content, literal('}'));

export const gemmaValues: NestedMarkup = {
  key: new RegExp(`^${GEMMA_KEY}$`),
  text: textBetween(QUOTE, QUOTE),
  listed: (value) => literal(spellGemma(value)),
  scalar: (asJson) => asJson,
  object: (members) => inBraces(gemmaPairs(members)),
  map: (value) =>
    inBraces(repeated(sequence(matching(GEMMA_KEY), literal(':'), value), ',', {least: 0, most: undefined})),
  list: (item, length) => sequence(literal('['), repeated(item, ',', length), literal(']')),
  anything: anyGemma('value'),
  anyObject: anyGemma('object'),
  anyList: anyGemma('list'),
};

export const MINIMAX = ']<]minimax[>[';

/** Each value ends with the prefix of the tag behind it, because that is what ends a text. */
const closed = (content: TagContent): TagContent => sequence(content, literal(MINIMAX));

const element = (key: string, value: TagContent): TagContent =>
  sequence(literal(`${MINIMAX}<${key}>`), value, literal(`</${key}>`));

function spellMinimax(value: unknown): string {
  const spelled = (key: string, part: unknown) => `${MINIMAX}<${key}>${spellMinimax(part)}${MINIMAX}</${key}>`;
  if (Array.isArray(value)) return value.map((part) => spelled('item', part)).join('');
  if (isRecord(value))
    return Object.entries(value)
      .map(([key, part]) => spelled(key, part))
      .join('');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Objects and lists of no known parts are JSON. */
export const minimaxValues: NestedMarkup = {
  key: /^(?!invoke$)[^\s<>/]{1,64}$/,
  text: textBetween('', MINIMAX),
  listed: (value) => closed(literal(spellMinimax(value))),
  scalar: closed,
  object: (members) =>
    closed(
      sequence(
        literal(''),
        ...members.map(({key, value, isRequired}) =>
          isRequired ? element(key, value) : optional(element(key, value)),
        ),
      ),
    ),
  list: (item, length) => closed(repeated(element('item', item), '', length)),
  anything: textBetween('', MINIMAX),
  anyObject: closed(json({type: 'object'})),
  anyList: closed(json({type: 'array'})),
};
