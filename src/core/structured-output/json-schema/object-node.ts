/**
 * Objects as a schema wants them. Properties with a name come in the order of the schema; behind them those without one,
 * whose names must be none of the former. How many there are is counted where the schema limits it.
 */
import {
  type Automaton,
  automatonNode,
  automatonOf,
  complementAutomaton,
  intersected,
  lengthAutomaton,
  takesNothing,
  united,
} from '../automaton.ts';
import {choice, type GrammarNode, nothing, repeat, sequence, text} from '../grammar.ts';
import {braced, braces, emptyBraces, quoted, stringOf, stringOtherThan, writtenCharacter} from '../json-text.ts';
import {regexGrammar} from '../regex-grammar.ts';
import {listedValues} from './listed-values.ts';
import type {ObjectRules} from './plain-schema.ts';
import {satisfies, schemasOf} from './satisfies.ts';
import type {SchemaReader} from './schema-reader.ts';
import {pointerPart, refuse} from './schema-values.ts';
import {textAutomaton} from './string-node.ts';

/** Every set of patterns that a name may match is a kind of property of its own. */
const maxPatterns = 4;
/** Counts times properties. */
const maxCounted = 20_000;

interface Entry {
  node: GrammarNode;
  isRequired: boolean;
}

/** @returns no option at all when no object is left */
export function objectNode(stated: ObjectRules, reader: SchemaReader, place: string): GrammarNode {
  const rules = withListedNames(stated, reader, place);
  const names = namesOf(rules);
  const wrong = names.find((name) => rules.required.includes(name) && !isNameAllowed(name, rules, reader, place));
  if (wrong !== undefined) {
    reader.noteImpossible(place, `the required property "${wrong}" is not allowed`);
    return choice();
  }
  const entries = names
    .filter((name) => isNameAllowed(name, rules, reader, place))
    .map(
      (name): Entry => ({
        node: reader.builder.add('property', namedProperty(name, rules, reader, place)),
        isRequired: rules.required.includes(name),
      }),
    );
  return objectOf(entries, unnamedProperty(names, rules, reader, place), rules, reader, place);
}

/** The order of the schema; those that are only required come last. */
const namesOf = ({properties, required}: ObjectRules): string[] => [...new Set([...properties.keys(), ...required])];

/** Where the possible names are listed, they are properties like others. */
function withListedNames(rules: ObjectRules, {alternatives}: SchemaReader, place: string): ObjectRules {
  const [names, another] = rules.names;
  if (names === undefined || another !== undefined) return rules;
  const listed = listedValues(asText(names), alternatives, `${place}/propertyNames`);
  if (listed === null) return rules;
  const known = listed.filter((name) => typeof name === 'string');
  const properties = new Map(
    [...new Set([...rules.properties.keys(), ...known])]
      .filter((name) => known.includes(name))
      .map((name) => [name, {allOf: schemasOf(name, rules, alternatives)}]),
  );
  return {...rules, properties, patterns: new Map(), additional: false, names: []};
}

const asText = (schema: unknown): unknown => ({allOf: [{type: 'string'}, schema]});

function isNameAllowed(name: string, rules: ObjectRules, {alternatives}: SchemaReader, place: string): boolean {
  const isDescribed = !schemasOf(name, rules, alternatives).includes(false);
  return isDescribed && rules.names.every((schema) => satisfies(name, schema, alternatives, place));
}

function namedProperty(name: string, rules: ObjectRules, reader: SchemaReader, place: string): GrammarNode {
  const schemas = schemasOf(name, rules, reader.alternatives);
  const inner = `${place}/properties/${pointerPart(name)}`;
  const value = reader.read(schemas.length === 1 ? schemas[0] : {allOf: schemas}, inner);
  return sequence(text(JSON.stringify(name)), reader.layout.colon, value);
}

/** A property whose name the schema does not list; null = there are none. */
function unnamedProperty(
  names: readonly string[],
  rules: ObjectRules,
  reader: SchemaReader,
  place: string,
): GrammarNode | null {
  const {builder, layout} = reader;
  const additional = additionalOf(names, rules, reader);
  if (rules.patterns.size > 0 || rules.names.length > 0)
    return patternedProperty(names, additional, rules, reader, place);
  if (additional === false) return null;
  const key = names.length === 0 ? stringOf() : stringOtherThan(names, builder);
  return builder.add('pair', sequence(key, layout.colon, reader.read(additional, `${place}/additionalProperties`)));
}

/** Objects that name properties have no others unless they say so, as in vLLM. */
function additionalOf(
  names: readonly string[],
  {additional, patterns, properties}: ObjectRules,
  {isClosed}: SchemaReader,
) {
  if (additional !== undefined) return additional;
  const hasNames = names.some((name) => properties.get(name) !== false);
  return !hasNames && patterns.size === 0 && !isClosed;
}

function patternedProperty(
  names: readonly string[],
  additional: unknown,
  rules: ObjectRules,
  reader: SchemaReader,
  place: string,
): GrammarNode | null {
  const {builder, layout} = reader;
  const patterns = [...rules.patterns];
  if (patterns.length > maxPatterns) refuse(place, `more than ${maxPatterns} patterns in "patternProperties"`);
  const base = nameAutomaton(names, rules, reader, place);
  const automata = patterns.map(([pattern]) => {
    const inner = `JSON schema, ${place}/patternProperties/${pointerPart(pattern)}`;
    return automatonOf(regexGrammar(pattern, {mode: 'search', place: inner}));
  });
  const kinds = subsetsOf(patterns.length).flatMap((matched) => {
    const schemas = matched.length === 0 ? [additional] : matched.map((index) => patterns[index]![1]);
    if (schemas.includes(false)) return [];
    const key = automata.reduce(
      (left, automaton, index) =>
        intersected(left, matched.includes(index) ? automaton : complementAutomaton(automaton)),
      base,
    );
    if (takesNothing(key)) return [];
    const value = reader.read(
      schemas.length === 1 ? schemas[0] : {allOf: schemas},
      placeOfKind(matched, patterns, place),
    );
    return [sequence(quoted(automatonNode(key, builder, writtenCharacter)), layout.colon, value)];
  });
  return kinds.length === 0 ? null : builder.add('pair', choice(...kinds));
}

const placeOfKind = (matched: readonly number[], patterns: readonly (readonly [string, unknown])[], place: string) =>
  matched.length === 0
    ? `${place}/additionalProperties`
    : `${place}/patternProperties/${pointerPart(patterns[matched[0]!]![0])}`;

/** Names that are allowed and not listed. */
function nameAutomaton(names: readonly string[], rules: ObjectRules, reader: SchemaReader, place: string): Automaton {
  const all = lengthAutomaton(0, Number.POSITIVE_INFINITY);
  const inner = `${place}/propertyNames`;
  const allowed = rules.names.map((schema) =>
    reader.alternatives
      .of(asText(schema), inner)
      .map(({text: textRules, except, values}) => {
        const automaton = textAutomaton({text: textRules, except}, inner);
        const listed = values?.filter((value) => typeof value === 'string');
        return listed === undefined ? automaton : intersected(automaton, automatonOf(choice(...listed.map(text))));
      })
      .reduce(united, automatonOf(choice())),
  );
  const listed = complementAutomaton(automatonOf(choice(...names.map(text))));
  return [...allowed, listed].reduce(intersected, all);
}

/** All sets of indexes below a number. */
const subsetsOf = (length: number): number[][] =>
  Array.from({length: 2 ** length}, (_, bits) =>
    Array.from({length}, (_, index) => index).filter((index) => (bits >> index) % 2 === 1),
  );

/** Entries in their order, counted; commas stand between them. */
function objectOf(
  entries: readonly Entry[],
  extra: GrammarNode | null,
  {min, max}: ObjectRules,
  reader: SchemaReader,
  place: string,
): GrammarNode {
  const {builder, layout} = reader;
  const numRequired = entries.filter(({isRequired}) => isRequired).length;
  const isCounted = min > numRequired || max < entries.length || (extra !== null && max !== Number.POSITIVE_INFINITY);
  /** Otherwise it only matters whether one came before, because then a comma is due. */
  const lastCounted = isCounted ? (max === Number.POSITIVE_INFINITY ? Math.max(1, min) : max) : 1;
  if (lastCounted * entries.length > maxCounted) refuse(place, 'counts of so many properties are not supported');
  const least = isCounted ? min : 0;
  const most = isCounted ? max : Number.POSITIVE_INFINITY;
  if (least > entries.length + 1 && extra !== null) {
    refuse(place, `"minProperties" above ${entries.length + 1} is not supported: a name could come twice`);
  }
  const extras = (count: number): GrammarNode => {
    const missing = Math.max(0, least - count);
    if (extra === null || count >= most) return missing === 0 && count > 0 ? nothing : choice();
    // A name could come twice, so that only one more is sure.
    if (missing > 1) return choice();
    const more = (from: number, to: number) => repeat(sequence(layout.comma, extra), from, to);
    return count > 0 ? more(missing, most - count) : sequence(extra, more(0, most - 1));
  };
  /** What may follow so many entries, from an index of the schema on; an object that is empty so far gets its first. */
  let following = (count: number): GrammarNode => extras(count);
  for (const {node, isRequired} of entries.toReversed()) {
    const next = following;
    const rules = new Map<number, GrammarNode>();
    following = (count) => {
      const ready = rules.get(count);
      if (ready !== undefined) return ready;
      const comma = count === 0 ? nothing : layout.comma;
      const taken = count >= most ? [] : [sequence(comma, node, next(Math.min(count + 1, lastCounted)))];
      const made = builder.add('entries', choice(...taken, ...(isRequired ? [] : [next(count)])));
      rules.set(count, made);
      return made;
    };
  }
  const isEmptyAllowed = numRequired === 0 && min === 0;
  if (entries.length === 0 && (extra === null || max === 0)) {
    if (isEmptyAllowed) return emptyBraces(braces, layout);
    reader.noteImpossible(place, 'the object cannot have properties');
    return choice();
  }
  const filled = braced(braces, following(0), layout);
  return isEmptyAllowed ? choice(emptyBraces(braces, layout), filled) : filled;
}
