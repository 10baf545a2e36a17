/** Two plain schemas that must both hold, as one. Contradictions that are easy to see give nothing, so that combinations stay few. */
import {
  type ArrayRules,
  assertionsOf,
  exceptKeyword,
  type NumberRules,
  type ObjectRules,
  type PlainSchema,
  readPlainSchema,
  type TextRules,
} from './plain-schema.ts';
import {isOfType, isSame, type JsonSchema, type JsonType, otherValues, refuse, sharedValues} from './schema-values.ts';

/** Whether a pattern matches somewhere in a text. */
export type MatchesPattern = (pattern: string, value: string) => boolean;

/** @returns null when no value can satisfy both */
export function mergedPlain(
  a: PlainSchema,
  b: PlainSchema,
  place: string,
  matches: MatchesPattern,
): PlainSchema | null {
  const merged = {
    types: commonTypes(a.types, b.types),
    values: commonValues(a.values, b.values),
    except: [...a.except, ...otherValues(b.except, a.except)],
    text: mergedText(a.text, b.text),
    number: mergedNumber(a.number, b.number),
    array: mergedArray(a.array, b.array),
    object: mergedObject(a.object, b.object, place, matches),
  };
  return isContradiction(merged) ? null : merged;
}

/** Whether it is plain to see that no value satisfies it. */
export function isContradiction({types, values, except, object}: PlainSchema): boolean {
  if (types?.length === 0) return true;
  if (values !== null && otherValues(values, except).length === 0) return true;
  const needsObject = types?.length === 1 && types[0] === 'object';
  return needsObject && object.required.some((name) => object.properties.get(name) === false);
}

/** `integer` and `number` have the integers in common. */
function commonTypes(a: readonly JsonType[] | null, b: readonly JsonType[] | null): readonly JsonType[] | null {
  if (a === null || b === null) return a ?? b;
  const isIn = (type: JsonType, types: readonly JsonType[]) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  return [...new Set([...a.filter((type) => isIn(type, b)), ...b.filter((type) => isIn(type, a))])];
}

function commonValues(a: readonly unknown[] | null, b: readonly unknown[] | null): readonly unknown[] | null {
  if (a === null || b === null) return a ?? b;
  return sharedValues(a, b);
}

const unique = <T>(...lists: (readonly T[])[]): T[] => [...new Set(lists.flat())];

const mergedText = (a: TextRules, b: TextRules): TextRules => ({
  patterns: unique(a.patterns, b.patterns),
  noPatterns: unique(a.noPatterns, b.noPatterns),
  formats: unique(a.formats, b.formats),
  min: Math.max(a.min, b.min),
  max: Math.min(a.max, b.max),
});

function mergedNumber(a: NumberRules, b: NumberRules): NumberRules {
  const either = (pick: (...values: number[]) => number, x: number | null, y: number | null) =>
    x === null || y === null ? (x ?? y) : pick(x, y);
  return {
    minimum: either(Math.max, a.minimum, b.minimum),
    exclusiveMinimum: either(Math.max, a.exclusiveMinimum, b.exclusiveMinimum),
    maximum: either(Math.min, a.maximum, b.maximum),
    exclusiveMaximum: either(Math.min, a.exclusiveMaximum, b.exclusiveMaximum),
    multipleOf: unique(a.multipleOf, b.multipleOf),
  };
}

function mergedArray(a: ArrayRules, b: ArrayRules): ArrayRules {
  const length = Math.max(a.prefix.length, b.prefix.length);
  const itemOf = (rules: ArrayRules, index: number) =>
    index < rules.prefix.length ? rules.prefix[index] : rules.items;
  return {
    prefix: Array.from({length}, (_, index) => both(itemOf(a, index), itemOf(b, index)) ?? true),
    items: both(a.items, b.items),
    min: Math.max(a.min, b.min),
    max: Math.min(a.max, b.max),
    contains: [...a.contains, ...b.contains],
    isUnique: a.isUnique || b.isUnique,
  };
}

/** What one side says about properties that it does not name counts for those that only the other one names. */
function mergedObject(a: ObjectRules, b: ObjectRules, place: string, matches: MatchesPattern): ObjectRules {
  refusePatternsNextToRest(a, b, place);
  refusePatternsNextToRest(b, a, place);
  const names = unique([...a.properties.keys()], [...b.properties.keys()]);
  const patterns = unique([...a.patterns.keys()], [...b.patterns.keys()]);
  return {
    properties: new Map(
      names.map((name) => [name, both(ruleFor(a, name, matches), ruleFor(b, name, matches)) ?? true]),
    ),
    patterns: new Map(patterns.map((pattern) => [pattern, both(a.patterns.get(pattern), b.patterns.get(pattern))])),
    additional: both(a.additional, b.additional),
    required: unique(a.required, b.required),
    names: [...a.names, ...otherValues(b.names, a.names)],
    min: Math.max(a.min, b.min),
    max: Math.min(a.max, b.max),
  };
}

/** Undefined = the rules say nothing about the name, and what they say of its pattern stays in force anyway. */
function ruleFor(rules: ObjectRules, name: string, matches: MatchesPattern): unknown {
  if (rules.properties.has(name)) return rules.properties.get(name);
  return [...rules.patterns.keys()].some((pattern) => matches(pattern, name)) ? undefined : rules.additional;
}

/** The names that match one side's patterns would have to satisfy the other side's rule for the rest. */
function refusePatternsNextToRest(patterned: ObjectRules, other: ObjectRules, place: string): void {
  const isTold = other.additional !== undefined && other.additional !== true;
  const isForeign = [...patterned.patterns.keys()].some((pattern) => !other.patterns.has(pattern));
  if (isTold && isForeign) {
    refuse(place, '"patternProperties" next to "additionalProperties" of another part is not supported');
  }
}

function both(a: unknown, b: unknown): unknown {
  if (a === undefined || a === true || b === false) return b ?? a;
  if (b === undefined || b === true || a === false) return a;
  if (isSame(a, b)) return a;
  return commonList(a as JsonSchema, b as JsonSchema) ?? {allOf: [a, b]};
}

/** Keywords that a list of values can be held against at once. */
const listKeywords: ReadonlySet<string> = new Set(['type', 'const', 'enum', exceptKeyword]);

/** The values that are left when one side lists them and both say nothing else; null = not such a case. */
function commonList(a: JsonSchema, b: JsonSchema): unknown {
  const isSimple = (schema: JsonSchema) => assertionsOf(schema).every((keyword) => listKeywords.has(keyword));
  if (typeof a !== 'object' || typeof b !== 'object' || !isSimple(a) || !isSimple(b)) return null;
  const [first, second] = [readPlainSchema(a, '#'), readPlainSchema(b, '#')];
  const listed = commonValues(first.values, second.values);
  if (listed === null) return null;
  const typed = listed.filter((value) => isOfTypes(value, first.types) && isOfTypes(value, second.types));
  const left = otherValues(typed, [...first.except, ...second.except]);
  return left.length === 0 ? false : {enum: left};
}

const isOfTypes = (value: unknown, types: readonly JsonType[] | null): boolean =>
  types === null || types.some((type) => isOfType(value, type));
