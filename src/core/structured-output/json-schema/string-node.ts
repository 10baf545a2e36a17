/**
 * Strings as a schema wants them. One pattern, or a length, is a grammar by itself, however long; several rules for the same
 * text are put together as automata.
 */
import {
  type Automaton,
  automatonNode,
  automatonOf,
  complementAutomaton,
  intersected,
  lengthAutomaton,
} from '../automaton.ts';
import {choice, type GrammarBuilder, type GrammarNode, lengthsOf, text} from '../grammar.ts';
import {quoted, stringOf, writtenCharacter} from '../json-text.ts';
import {splitLookAheads} from '../look-ahead.ts';
import {regexGrammar} from '../regex-grammar.ts';
import {formatPattern, isKnownFormat} from './formats.ts';
import {anyText, type TextRules} from './plain-schema.ts';

interface StringRules {
  text: TextRules;
  /** Values that are left out; those that are no texts do not count. */
  except: readonly unknown[];
}

/** @returns no option at all when nothing is left */
export function stringNode({text: rules, except}: StringRules, builder: GrammarBuilder, place: string): GrammarNode {
  const {min, max} = rules;
  const left = except.filter((value) => typeof value === 'string');
  const parts = readRules(rules, place, false);
  if (max < min) return choice();
  if (parts.length === 0 && left.length === 0) return stringOf(min, max);
  const [only] = parts;
  if (parts.length === 1 && left.length === 0 && !only!.isForbidden && staysWithin(only!, min, max)) {
    return quoted(regexGrammar(only!.pattern, {...only!, write: writtenCharacter}));
  }
  const automaton = textAutomaton({text: rules, except}, place);
  const node = automatonNode(automaton, builder, writtenCharacter);
  return node.type === 'choice' ? node : quoted(node);
}

/** Whether all texts of a pattern have a length in these bounds anyway. */
function staysWithin(part: PatternPart, min: number, max: number): boolean {
  const lengths = lengthsOf(regexGrammar(part.pattern, part));
  return lengths.min >= min && lengths.max <= max;
}

/** All texts that the rules allow, as automaton over their characters. */
export function textAutomaton({text: rules, except}: StringRules, place: string): Automaton {
  const left = except.filter((value) => typeof value === 'string');
  const parts = readRules(rules, place, true);
  const automata = parts.map((part) => {
    const automaton = automatonOf(regexGrammar(part.pattern, part));
    return part.isForbidden ? complementAutomaton(automaton) : automaton;
  });
  if (left.length > 0) automata.push(complementAutomaton(automatonOf(choice(...left.map(text)))));
  const {min, max} = rules;
  const hasLength = !parts.some((part) => !part.isForbidden && staysWithin(part, min, max));
  const length = hasLength
    ? lengthAutomaton(Math.min(min, max + 1), max)
    : lengthAutomaton(0, Number.POSITIVE_INFINITY);
  return [...automata, length].reduce(intersected);
}

/** Texts in which a pattern matches somewhere. */
export const searchAutomaton = (pattern: string): Automaton =>
  textAutomaton({text: {...anyText, patterns: [pattern]}, except: []}, '#');

interface PatternPart {
  pattern: string;
  mode: 'whole' | 'search';
  isForbidden: boolean;
  place: string;
}

/** @param isCompact formats in their shorter forms */
function readRules({patterns, noPatterns, formats}: TextRules, place: string, isCompact: boolean): PatternPart[] {
  const part = (pattern: string, keyword: string, isForbidden: boolean, mode: 'whole' | 'search' = 'search') => ({
    pattern,
    isForbidden,
    mode,
    place: `JSON schema, ${place}/${keyword}`,
  });
  const required = patterns.flatMap((pattern) => {
    const split = splitLookAheads(pattern);
    return [
      part(split.rest, 'pattern', false),
      ...split.required.map((each) => part(each, 'pattern', false)),
      ...split.forbidden.map((each) => part(each, 'pattern', true)),
    ];
  });
  return [
    ...required,
    ...noPatterns.map((pattern) => part(pattern, 'not/pattern', true)),
    // Next to a pattern, which says what it means, a format may have any name.
    ...(patterns.length > 0 ? formats.filter(isKnownFormat) : formats).flatMap((format) => {
      const pattern = formatPattern(format, place, isCompact);
      return pattern === null ? [] : [part(pattern, 'format', false, 'whole')];
    }),
  ];
}
