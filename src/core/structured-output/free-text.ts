/**
 * Text that is free until a marker comes. A grammar that only says "anything, then the marker" could read past a marker;
 * here every position knows how much of which marker has just been written (Aho and Corasick's automaton, as rules).
 */
import {anyCodePoint, charactersOf, without} from './code-point-ranges.ts';
import {choice, type GrammarBuilder, type GrammarNode, nothing, oneOf, rule, sequence} from './grammar.ts';

export interface FreeText {
  /** What has to follow each marker once it is complete; may go back to `start`. None of them begins another. */
  markers: ReadonlyMap<string, (start: GrammarNode) => GrammarNode>;
  /** The text may end without a marker. */
  mayEnd: boolean;
}

/** Free text and, with each marker, what follows it. */
export function freeText({markers, mayEnd}: FreeText, builder: GrammarBuilder): GrammarNode {
  const prefixes = new Map<string, string>();
  for (const marker of markers.keys()) {
    const characters = [...marker];
    for (let length = 0; length < characters.length; length++) {
      const prefix = characters.slice(0, length).join('');
      if (!prefixes.has(prefix)) prefixes.set(prefix, builder.reserve('free'));
    }
  }
  const start = rule(prefixes.get('')!);
  const after = new Map([...markers].map(([marker, follow]) => [marker, builder.add('marked', follow(start))]));
  const characters = [...new Set([...markers.keys()].flatMap((marker) => [...marker]))];
  const others = oneOf(without(anyCodePoint, charactersOf(characters.join(''))));
  for (const [prefix, name] of prefixes) {
    const steps = characters.map((character) => {
      const target = longestKnown(prefix + character, prefixes, after);
      return sequence(oneOf(charactersOf(character)), after.get(target) ?? rule(prefixes.get(target)!));
    });
    builder.define(name, choice(...(mayEnd ? [nothing] : []), sequence(others, start), ...steps));
  }
  return start;
}

/** The longest end of a text that is a marker or the beginning of one. */
function longestKnown(
  written: string,
  prefixes: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, GrammarNode>,
): string {
  const characters = [...written];
  const ends = characters.map((_, index) => characters.slice(index).join(''));
  return ends.find((end) => after.has(end) || prefixes.has(end)) ?? '';
}
