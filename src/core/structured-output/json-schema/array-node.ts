/** Arrays as a schema wants them: counted items, items of their own kind at the beginning, items that have to be among them. */
import {choice, type GrammarNode, nothing, optional, repeat, rule, sequence, text} from '../grammar.ts';
import {braced, brackets, emptyBraces} from '../json-text.ts';
import {listedValues} from './listed-values.ts';
import type {ArrayRules} from './plain-schema.ts';
import type {SchemaReader} from './schema-reader.ts';
import {refuse, sortedJson} from './schema-values.ts';

/** Items of arrays with `contains` are counted one by one up to here. */
const maxCounted = 2000;
/** So many different values may stand in any order; more of them come in the order of the schema. */
const maxPermuted = 8;
const maxOrdered = 200;

/** @returns no option at all when no array is left */
export function arrayNode(rules: ArrayRules, reader: SchemaReader, place: string): GrammarNode {
  if (rules.max < rules.min) return impossible(reader, place, '"maxItems" is below "minItems"');
  if (rules.isUnique && rules.max > 1) return uniqueNode(rules, reader, place);
  if (rules.contains.length > 0) return containingNode(rules, reader, place);
  return plainArray(rules, reader, place);
}

function impossible(reader: SchemaReader, place: string, reason: string): GrammarNode {
  reader.noteImpossible(place, reason);
  return choice();
}

/** `[…]` around items that are set apart by commas already. */
function bracketed(items: GrammarNode, mayBeEmpty: boolean, {layout}: SchemaReader): GrammarNode {
  const filled = braced(brackets, items, layout);
  return mayBeEmpty ? choice(emptyBraces(brackets, layout), filled) : filled;
}

/** Without a word about them, there are no items behind those that have a place of their own. */
const restOf = ({items, prefix}: ArrayRules): unknown => items ?? prefix.length === 0;

const placeOf = (index: number, {prefix}: ArrayRules, place: string): string =>
  index < prefix.length ? `${place}/prefixItems/${index}` : `${place}/items`;

function plainArray(rules: ArrayRules, reader: SchemaReader, place: string): GrammarNode {
  const {min, max, prefix} = rules;
  const first = prefix.slice(0, max).map((item, index) => reader.read(item, placeOf(index, rules, place)));
  const restSchema = restOf(rules);
  const hasRest = restSchema !== false && max > first.length;
  const rest = hasRest ? reader.builder.add('item', reader.read(restSchema, `${place}/items`)) : null;
  if (first.length < min && rest === null) return impossible(reader, place, `the array cannot have ${min} items`);
  if (first.length === 0 && rest === null) return emptyBraces(brackets, reader.layout);
  return bracketed(listOf(first, rest, {min, max}, reader), min === 0, reader);
}

/** At least one item, however many may be left out. */
function listOf(
  first: readonly GrammarNode[],
  rest: GrammarNode | null,
  {min, max}: {min: number; max: number},
  {layout: {comma}}: SchemaReader,
): GrammarNode {
  const more = (least: number, most: number) =>
    rest === null ? nothing : repeat(sequence(comma, rest), Math.max(0, least), Math.max(0, most));
  if (first.length === 0) return sequence(rest!, more(min - 1, max - 1));
  let following = more(min - first.length, max - first.length);
  for (let index = first.length - 1; index > 0; index--) {
    const item = sequence(comma, first[index]!, following);
    following = min > index ? item : optional(item);
  }
  return sequence(first[0]!, following);
}

/** Up to where it matters how many there are. */
const countedOf = ({min, max}: {min: number; max: number}): number => (max === Number.POSITIVE_INFINITY ? min : max);

/** Counts the items, and those that match what has to be among them. */
function containingNode(rules: ArrayRules, reader: SchemaReader, place: string): GrammarNode {
  const [wanted, another] = rules.contains;
  if (another !== undefined) refuse(place, 'several rules of "contains" for one array are not supported');
  const {builder, layout} = reader;
  const lastCounted = Math.max(rules.prefix.length, countedOf(rules), 1);
  const isLimited = wanted!.max !== Number.POSITIVE_INFINITY;
  const lastMatch = isLimited ? wanted!.max : wanted!.min;
  if (lastCounted * (lastMatch + 1) > maxCounted) refuse(place, '"contains" next to so many items is not supported');
  const names = new Map<string, string>();
  const itemAt = (index: number, isMatch: boolean): GrammarNode => {
    const item = index < rules.prefix.length ? rules.prefix[index] : restOf(rules);
    const other = isLimited ? {not: wanted!.schema} : true;
    return named(`item ${Math.min(index, rules.prefix.length)} ${isMatch}`, () =>
      reader.read({allOf: [item, isMatch ? wanted!.schema : other]}, placeOf(index, rules, place)),
    );
  };
  const named = (key: string, make: () => GrammarNode): GrammarNode => {
    const known = names.get(key);
    if (known !== undefined) return rule(known);
    const name = builder.reserve('item');
    names.set(key, name);
    builder.define(name, make());
    return rule(name);
  };
  /** What may follow so many items and matches. */
  const after = (numItems: number, numMatches: number): GrammarNode =>
    named(`after ${numItems} ${numMatches}`, () => {
      const mayEnd = numItems >= rules.min && numMatches >= wanted!.min;
      const comma = numItems === 0 ? nothing : layout.comma;
      const step = (isMatch: boolean, matches: number) =>
        sequence(comma, itemAt(numItems, isMatch), after(Math.min(numItems + 1, lastCounted), matches));
      const steps = numItems >= rules.max ? [] : [step(false, numMatches)];
      if (numItems < rules.max && numMatches < lastMatch) steps.push(step(true, numMatches + 1));
      return choice(...(mayEnd && numItems > 0 ? [nothing] : []), ...steps);
    });
  return bracketed(after(0, 0), rules.min === 0 && wanted!.min === 0, reader);
}

/** Only where all values of the items are listed can none of them come twice. */
function uniqueNode(rules: ArrayRules, reader: SchemaReader, place: string): GrammarNode {
  const values = listedValues(rules.items ?? true, reader.alternatives, `${place}/items`);
  if (values === null || rules.prefix.length > 0 || rules.contains.length > 0) {
    return refuse(place, '"uniqueItems" is supported for items that are an enumeration only');
  }
  const distinct = [...new Map(values.map((value) => [sortedJson(value), value])).values()];
  if (distinct.length < rules.min) return impossible(reader, place, `there are no ${rules.min} different items`);
  if (distinct.length > maxOrdered) refuse(place, `"uniqueItems" is supported for at most ${maxOrdered} values`);
  if (distinct.length === 0) return emptyBraces(brackets, reader.layout);
  return bracketed(distinctItems(distinct, rules, reader), rules.min === 0, reader);
}

function distinctItems(values: readonly unknown[], rules: ArrayRules, {builder, layout}: SchemaReader): GrammarNode {
  const isPermuted = values.length <= maxPermuted;
  const written = values.map((value) => builder.add('value', text(JSON.stringify(value))));
  const lastCounted = Math.max(1, countedOf(rules));
  const names = new Map<string, string>();
  /** @param left indexes of the values that may still come */
  const after = (left: readonly number[], numItems: number): GrammarNode => {
    const key = `${isPermuted ? left.join() : left[0]} ${numItems}`;
    const known = names.get(key);
    if (known !== undefined) return rule(known);
    const name = builder.reserve('distinct');
    names.set(key, name);
    const mayEnd = numItems >= Math.max(1, rules.min);
    const steps = numItems >= rules.max ? [] : left.map((value) => step(value, left, numItems));
    builder.define(name, choice(...(mayEnd ? [nothing] : []), ...steps));
    return rule(name);
  };
  const step = (value: number, left: readonly number[], numItems: number): GrammarNode => {
    const comma = numItems === 0 ? nothing : layout.comma;
    const others = left.filter((other) => (isPermuted ? other !== value : other > value));
    return sequence(comma, written[value]!, after(others, Math.min(numItems + 1, lastCounted)));
  };
  return after([...values.keys()], 0);
}
