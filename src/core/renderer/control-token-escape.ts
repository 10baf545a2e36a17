/**
 * Control tokens that users write in messages stay text. Before the template runs, each one that stands in a message, a
 * tool or a document gets an invisible mark behind its first character, so that it is no control token any more and
 * survives the template; afterwards the marks say which stretches of the prompt must be encoded as plain text.
 *
 * In messages of the assistant only special tokens are marked: others, such as `<think>`, may be the model's own words.
 * See docs/control-tokens.md for what this does not do.
 */
import type {ControlToken} from '../model/control-tokens.ts';
import type {PromptPart} from '../model/prompt-parts.ts';
import {isPlainObject} from '../util/parse-json.ts';

/** Candidates for the mark: the last private characters of Unicode. The first that nobody wrote is taken. */
const lastMark = 0x10fffd;
const numMarks = 64;

export interface ControlTokenEscape {
  /** A copy of plain data with marks in all its texts, keys included. */
  protect<T>(value: T, writtenBy: 'user' | 'assistant'): T;
  /** The rendered text without marks, in parts; one marked part when nothing was protected. */
  toParts(rendered: string): PromptPart[];
}

/**
 * @param controlTokens all of the vocabulary
 * @param template its source: of the tokens that are not special only those that it uses matter
 * @param writtenText everything that the request brings; the mark does not occur in it
 */
export function createControlTokenEscape(
  controlTokens: readonly ControlToken[],
  {template, writtenText}: {template: string; writtenText: string},
): ControlTokenEscape {
  const steering = controlTokens.filter(({text, isSpecial}) => isSpecial || template.includes(text));
  const mark = unusedMark(writtenText + template);
  const marksByWriter = {
    user: createMarker(steering, mark),
    assistant: createMarker(
      steering.filter(({isSpecial}) => isSpecial),
      mark,
    ),
  };
  const cuts = cutPattern(controlTokens);
  return {
    protect: (value, writtenBy) => mapTexts(value, marksByWriter[writtenBy]),
    toParts: (rendered) => splitAtMarks(withoutEscapedMarks(rendered, mark), mark, cuts),
  };
}

function unusedMark(text: string): string {
  const candidates = Array.from({length: numMarks}, (_, index) => String.fromCodePoint(lastMark - index));
  // Whoever writes all of them gets a prompt without some of these characters.
  return candidates.find((candidate) => !text.includes(candidate)) ?? candidates[0]!;
}

type TextMapping = (text: string) => string;

/** Puts the mark behind the first character of each token, and of what may be the start of one at the end of a text. */
function createMarker(tokens: readonly ControlToken[], mark: string): TextMapping {
  if (tokens.length === 0) return (text) => text;
  const beginnings = new Set(tokens.flatMap(({text}) => properPrefixes(text)));
  const longest = Math.max(...tokens.map(({text}) => text.length));
  const pattern = new RegExp(alternatives(tokens), 'gu');
  const markFirst = (token: string) => {
    const [first = ''] = token;
    return first + mark + token.slice(first.length);
  };
  return (text) => {
    const start = startOfBeginning(text, beginnings, longest);
    return text.slice(0, start).replace(pattern, markFirst) + (start < text.length ? markFirst(text.slice(start)) : '');
  };
}

function properPrefixes(token: string): string[] {
  return Array.from({length: token.length - 1}, (_, index) => token.slice(0, index + 1));
}

/** Where an unfinished token opens at the end of a text; another text may follow that finishes it. */
function startOfBeginning(text: string, beginnings: ReadonlySet<string>, longest: number): number {
  for (let start = Math.max(0, text.length - longest + 1); start < text.length; start++) {
    if (beginnings.has(text.slice(start))) return start;
  }
  return text.length;
}

/** The longest token first, as the tokenizer matches. */
function alternatives(tokens: readonly ControlToken[]): string {
  const sorted = [...tokens].sort((one, other) => other.text.length - one.text.length);
  return sorted.map(({text}) => escapePattern(text)).join('|');
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

function mapTexts<T>(value: T, mapText: TextMapping): T;
function mapTexts(value: unknown, mapText: TextMapping): unknown {
  if (typeof value === 'string') return mapText(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, mapText));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [mapText(key), mapTexts(entry, mapText)]));
}

/** A template may write texts as JSON in ASCII, the mark among them. */
function withoutEscapedMarks(rendered: string, mark: string): string {
  const inAscii = [...mark.split('')].map((unit) => `\\\\u${unit.charCodeAt(0).toString(16)}`).join('');
  return rendered.replace(new RegExp(inAscii, 'gi'), mark);
}

/** Real control tokens, with the blanks that they take along: there the tokenizer cuts a text. */
function cutPattern(tokens: readonly ControlToken[]): RegExp | null {
  if (tokens.length === 0) return null;
  const sorted = [...tokens].sort((one, other) => other.text.length - one.text.length);
  const patterns = sorted.map(
    ({text, stripsLeft, stripsRight}) =>
      `${stripsLeft ? '\\s*' : ''}${escapePattern(text)}${stripsRight ? '\\s*' : ''}`,
  );
  return new RegExp(patterns.join('|'), 'gu');
}

/** Stretches between real control tokens: plain where a mark stands, together with their neighbours where none does. */
function splitAtMarks(rendered: string, mark: string, cuts: RegExp | null): PromptPart[] {
  if (!rendered.includes(mark)) return rendered === '' ? [] : [{kind: 'marked', text: rendered}];
  const parts: PromptPart[] = [];
  const add = (text: string, isControl: boolean) => {
    const kind = !isControl && text.includes(mark) ? 'plain' : 'marked';
    const last = parts.at(-1);
    if (last?.kind === 'marked' && kind === 'marked') last.text += text;
    else if (text !== '') parts.push({kind, text: text.replaceAll(mark, '')});
  };
  let end = 0;
  for (const match of cuts === null ? [] : rendered.matchAll(cuts)) {
    add(rendered.slice(end, match.index), false);
    add(match[0], true);
    end = match.index + match[0].length;
  }
  add(rendered.slice(end), false);
  return parts;
}
