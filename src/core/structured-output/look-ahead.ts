/**
 * Look-ahead at the beginning of a regular expression, as rules for passwords and addresses have it: `^(?=.*\d)(?!admin)…`
 * says nothing else than that two more patterns must or must not match from the start. Elsewhere it is left in place, and
 * refused by the reader of regular expressions.
 */
export interface SplitPattern {
  /** What is left of the pattern. */
  rest: string;
  /** Patterns that have to match, too; anchored at the start. */
  required: string[];
  /** Patterns that must not match. */
  forbidden: string[];
}

export function splitLookAheads(pattern: string): SplitPattern {
  const split: SplitPattern = {rest: pattern, required: [], forbidden: []};
  let position = pattern.startsWith('^') ? 1 : 0;
  if (position === 0 || hasAlternatives(pattern)) return split;
  for (let kind = kindAt(pattern, position); kind !== null; kind = kindAt(pattern, position)) {
    const end = closingOf(pattern, position);
    if (end === -1) return split;
    const inner = pattern.slice(position + 3, end);
    split[kind].push(hasAlternatives(inner) ? `^(?:${inner})` : `^${inner}`);
    position = end + 1;
  }
  return {...split, rest: `^${pattern.slice(position)}`};
}

function kindAt(pattern: string, position: number): 'required' | 'forbidden' | null {
  if (pattern.startsWith('(?=', position)) return 'required';
  return pattern.startsWith('(?!', position) ? 'forbidden' : null;
}

/** Groups and classes of a pattern, as the depth of groups at each character that stands outside of classes. */
function* depths(pattern: string, start = 0): Generator<{position: number; character: string; depth: number}> {
  let depth = 0;
  let isInClass = false;
  for (let position = start; position < pattern.length; position++) {
    const character = pattern[position]!;
    if (character === '\\') position++;
    else if (isInClass) isInClass = character !== ']';
    else if (character === '[') isInClass = true;
    else {
      if (character === '(') depth++;
      if (character === ')') depth--;
      yield {position, character, depth};
    }
  }
}

const hasAlternatives = (pattern: string): boolean =>
  [...depths(pattern)].some(({character, depth}) => character === '|' && depth === 0);

/** Where the group that begins at a position ends; -1 = nowhere. */
const closingOf = (pattern: string, start: number): number =>
  [...depths(pattern, start)].find(({character, depth}) => character === ')' && depth === 0)?.position ?? -1;
