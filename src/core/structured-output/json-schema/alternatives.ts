/**
 * A JSON schema as plain schemas one of which has to hold: references are put in, `allOf` is merged, `anyOf` gives several,
 * and what the remaining keywords say is put in terms of these. Their number is limited, because combinations multiply.
 */
import {type Automaton, takes} from '../automaton.ts';
import {isContradiction, mergedPlain} from './merge.ts';
import {negated, negationsOf} from './negate.ts';
import {areDisjoint} from './overlap.ts';
import {assertionsOf, type PlainSchema, readPlainSchema} from './plain-schema.ts';
import {arrayAt, type JsonSchema, jsonTypes, objectAt, refuse} from './schema-values.ts';
import {searchAutomaton} from './string-node.ts';

/** Schemas that go on into themselves without a value in between end here. */
const maxDepth = 64;
/** Pairs of schemas that may be put together for one request. */
const maxMerges = 20_000;

/** How each combining keyword is said in schemas of which, list by list, one has to hold. */
type Combination = (value: unknown, schema: JsonSchema, place: string) => unknown[][];

export class SchemaAlternatives {
  readonly #root: unknown;
  #numMerges = 0;
  readonly #automata = new Map<string, Automaton>();
  readonly #combinations: Readonly<Record<string, Combination>> = {
    $ref: (pointer, _, place) => [[this.resolve(String(pointer), place)]],
    allOf: (parts, _, place) => arrayAt(parts, `${place}/allOf`).map((part) => [part]),
    anyOf: (branches, _, place) => [branchesAt(branches, 'anyOf', place)],
    oneOf: (branches, _, place) => [this.exclusiveBranches(branchesAt(branches, 'oneOf', place), place)],
    not: (schema, _, place) => [this.#negationsAt(schema, `${place}/not`)],
    if: (condition, {then = true, else: otherwise = true}) => [
      [{allOf: [condition, then]}, {allOf: [negated(condition), otherwise]}],
    ],
    dependentRequired: (value, _, place) =>
      Object.entries(objectAt(value, `${place}/dependentRequired`)).map(([name, names]) =>
        dependent(name, {type: 'object', required: names}),
      ),
    dependentSchemas: (value, _, place) =>
      Object.entries(objectAt(value, `${place}/dependentSchemas`)).map(([name, schema]) => dependent(name, schema)),
    dependencies: (value, _, place) =>
      Object.entries(objectAt(value, `${place}/dependencies`)).map(([name, rule]) =>
        dependent(name, Array.isArray(rule) ? {type: 'object', required: rule} : rule),
      ),
  };

  /** @param root the document that references point into */
  constructor(root: unknown) {
    this.#root = root;
  }

  /** @returns none when no value can satisfy the schema */
  of(schema: unknown, place: string, depth = 0): PlainSchema[] {
    if (schema === true) return [readPlainSchema({}, place)];
    if (schema === false) return [];
    const stated = objectAt(schema, place);
    if (depth > maxDepth) refuse(place, 'the schema refers to itself without end');
    refuseUnsupported(stated, place);
    const {unevaluatedProperties, unevaluatedItems, ...evaluated} = stated;
    const own = readPlainSchema(evaluated, place);
    if (isContradiction(own)) return [];
    const lists = assertionsOf(stated).flatMap(
      (keyword) => this.#combinations[keyword]?.(stated[keyword], stated, place) ?? [],
    );
    const merged = lists.reduce<PlainSchema[]>((before, list) => this.#product(before, list, place, depth), [own]);
    if (unevaluatedProperties === undefined && unevaluatedItems === undefined) return merged;
    return merged.map((plain) => withUnevaluated(plain, unevaluatedProperties, unevaluatedItems));
  }

  /** Whether a pattern matches somewhere in a text, in time that is linear in the text. */
  readonly matches = (pattern: string, value: string): boolean => {
    const automaton = this.#automata.get(pattern) ?? searchAutomaton(pattern);
    this.#automata.set(pattern, automaton);
    return takes(automaton, value);
  };

  resolve(pointer: string, place: string): unknown {
    if (pointer !== '#' && !pointer.startsWith('#/')) {
      refuse(place, `only references within the schema (#/…) are supported, not ${JSON.stringify(pointer)}`);
    }
    let target: unknown = this.#root;
    for (const part of pointer.split('/').slice(1)) {
      const key = decodedPart(part, place).replaceAll('~1', '/').replaceAll('~0', '~');
      const holder = target as JsonSchema | null;
      if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) {
        refuse(place, `${JSON.stringify(pointer)} does not exist`);
      }
      target = holder[key];
    }
    return target;
  }

  /** Of `oneOf` exactly one branch may hold: those that might hold together exclude each other. */
  exclusiveBranches(branches: readonly unknown[], place: string): unknown[] {
    const known = branches.map((branch) => this.#expanded(branch, place));
    const resolve = (schema: unknown) => this.#expanded(schema, place);
    return branches.map((branch, index) => {
      const rivals = branches.filter(
        (_, other) => other !== index && !areDisjoint(known[index]!, known[other]!, resolve),
      );
      return rivals.length === 0 ? branch : {allOf: [branch, ...rivals.map((rival) => negated(rival))]};
    });
  }

  #product(merged: readonly PlainSchema[], list: readonly unknown[], place: string, depth: number): PlainSchema[] {
    if (merged.length === 0) return [];
    const options = list.flatMap((schema) => this.of(schema, place, depth + 1));
    this.#numMerges += merged.length * options.length;
    if (this.#numMerges > maxMerges) refuse(place, 'the schema combines too many alternatives');
    return merged.flatMap((a) =>
      options.map((b) => mergedPlain(a, b, place, this.matches)).filter((plain) => plain !== null),
    );
  }

  #negationsAt(schema: unknown, place: string): unknown[] {
    const target = this.#dereferenced(schema, place);
    const negations = negationsOf(target);
    if (negations.length === 0 && !excludesAll(target)) {
      refuse(place, 'no value can be told to break this schema');
    }
    return negations;
  }

  #dereferenced(schema: unknown, place: string, depth = 0): unknown {
    if (depth > maxDepth) refuse(place, 'the schema refers to itself without end');
    if (typeof schema !== 'object' || schema === null || !('$ref' in schema)) return schema;
    const {$ref, ...siblings} = schema as JsonSchema;
    const target = this.#dereferenced(this.resolve(String($ref), place), place, depth + 1);
    return assertionsOf(siblings).length === 0 ? target : {allOf: [target, siblings]};
  }

  /** The one plain schema that a schema is, in its own words; an empty one when it is more than that. */
  #expanded(schema: unknown, place: string): PlainSchema {
    const options = this.of(this.#dereferenced(schema, place), place);
    return options.length === 1 ? options[0]! : readPlainSchema({}, place);
  }
}

/** What the schema says of properties and items that none of its parts speaks of. */
const withUnevaluated = (plain: PlainSchema, properties: unknown, items: unknown): PlainSchema => ({
  ...plain,
  array: {...plain.array, items: plain.array.items ?? items},
  object: {...plain.object, additional: plain.object.additional ?? properties},
});

const decodedPart = (part: string, place: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return refuse(place, `${JSON.stringify(part)} is no part of a pointer`);
  }
};

/** A schema that takes everything, in so many words. */
const excludesAll = (schema: unknown): boolean =>
  schema === true || (typeof schema === 'object' && schema !== null && assertionsOf(schema as JsonSchema).length === 0);

function branchesAt(value: unknown, keyword: string, place: string): unknown[] {
  const branches = arrayAt(value, `${place}/${keyword}`);
  if (branches.length === 0) refuse(place, `"${keyword}" must not be empty`);
  return branches;
}

/** Either it is no object, or the property is not there, or the schema holds. */
const dependent = (name: string, schema: unknown): unknown[] => [
  {type: jsonTypes.filter((type) => type !== 'object')},
  {type: 'object', properties: Object.fromEntries([[name, false]])},
  {allOf: [{type: 'object', required: [name]}, schema]},
];

/** Keywords that would be dropped in silence. */
function refuseUnsupported(stated: JsonSchema, place: string): void {
  for (const keyword of ['$dynamicRef', '$recursiveRef']) {
    if (stated[keyword] !== undefined) refuse(place, `"${keyword}" is not supported`);
  }
}
