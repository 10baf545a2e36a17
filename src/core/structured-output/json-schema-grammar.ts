/**
 * A JSON schema as the grammar of JSON texts that satisfy it. Every text of the grammar is valid; not every valid text is in
 * the grammar: properties come in the order of the schema, objects that name their properties have no others unless the
 * schema says so, and of `oneOf` only branches that cannot overlap are taken. What cannot be kept is refused with its place.
 */
import {parseJson, toPlainJson} from '../util/parse-json.ts';
import {
  choice,
  type Grammar,
  GrammarBuilder,
  type GrammarNode,
  optional,
  repeat,
  rule,
  sequence,
  text,
} from './grammar.ts';
import {formatPatterns} from './json-formats.ts';
import {bigMax, bigMin, fractionDigitsOf, multiplesOf, numbersBetween, scaled} from './json-numbers.ts';
import {annotations, isSame, type JsonSchema, listOf, mergeSchemas, refuse} from './json-schema-merge.ts';
import {areDisjoint} from './json-schema-overlap.ts';
import {
  type AnyJson,
  addAnyJson,
  anyInteger,
  anyNumber,
  braced,
  braces,
  brackets,
  emptyBraces,
  type JsonLayout,
  quoted,
  stringOf,
  stringOtherThan,
  writtenCharacter,
} from './json-text.ts';
import {regexGrammar} from './regex-grammar.ts';

export interface JsonSchemaOptions {
  layout: JsonLayout;
  /** Objects that name no properties are empty unless their schema says otherwise. */
  disablesAdditionalProperties: boolean;
}

/** Schemas that go on into themselves without a value in between end here. */
const maxMergeDepth = 64;
const maxDivisor = 1000;

const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
type JsonType = (typeof types)[number];

/** Keywords that would be dropped in silence. */
const unsupportedKeywords = [
  'not',
  'if',
  'then',
  'else',
  'contains',
  'minContains',
  'maxContains',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedItems',
  '$dynamicRef',
  '$recursiveRef',
];

/** Keywords that speak of one type; a schema without a type that uses them means that type. */
const keywordsOfType: readonly (readonly [JsonType, readonly string[]])[] = [
  [
    'object',
    [
      'properties',
      'required',
      'additionalProperties',
      'patternProperties',
      'propertyNames',
      'minProperties',
      'maxProperties',
    ],
  ],
  ['array', ['items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems', 'uniqueItems']],
  ['string', ['pattern', 'format', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

/** @throws ValidationError with the place of what is not supported */
export function jsonSchemaGrammar(schema: unknown, options: JsonSchemaOptions): Grammar {
  const builder = new GrammarBuilder();
  return builder.build(jsonSchemaNode(schema, builder, options));
}

/** The same as a part of a larger grammar. */
export function jsonSchemaNode(schema: unknown, builder: GrammarBuilder, options: JsonSchemaOptions): GrammarNode {
  return new SchemaReader(schema, builder, options).readRoot();
}

/** Any object, as `json_object` asks for. */
export function jsonObjectGrammar(layout: JsonLayout): Grammar {
  const builder = new GrammarBuilder();
  return builder.build(addAnyJson(builder, layout).object);
}

class SchemaReader {
  readonly #root: unknown;
  readonly #builder: GrammarBuilder;
  readonly #layout: JsonLayout;
  readonly #isClosed: boolean;
  /** Rule of each reference, by pointer. */
  readonly #referred = new Map<string, string>();
  #anyJson: AnyJson | null = null;

  constructor(root: unknown, builder: GrammarBuilder, {layout, disablesAdditionalProperties}: JsonSchemaOptions) {
    this.#root = root;
    this.#builder = builder;
    this.#layout = layout;
    this.#isClosed = disablesAdditionalProperties;
  }

  readRoot(): GrammarNode {
    return this.#read(this.#root, '#');
  }

  get #any(): AnyJson {
    this.#anyJson ??= addAnyJson(this.#builder, this.#layout);
    return this.#anyJson;
  }

  #read(schema: unknown, place: string, depth = 0): GrammarNode {
    if (schema === true) return this.#any.value;
    if (schema === false) refuse(place, 'no value can satisfy `false`');
    const stated = objectAt(schema, place);
    if (depth > maxMergeDepth) refuse(place, 'the schema refers to itself without end');
    if (typeof stated.$ref === 'string') return this.#readReference(stated, stated.$ref, place, depth);
    if (stated.allOf !== undefined) return this.#read(this.#mergeAll(stated, place), place, depth + 1);
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      if (stated[keyword] !== undefined) return this.#readBranches(stated, keyword, place, depth);
    }
    return this.#readPlain(stated, place);
  }

  /** References become rules, so that a schema may contain itself. */
  #readReference(stated: JsonSchema, pointer: string, place: string, depth: number): GrammarNode {
    const {$ref: _, ...siblings} = stated;
    const target = this.#resolve(pointer, place);
    if (Object.keys(siblings).some((keyword) => !annotations.has(keyword))) {
      return this.#read({allOf: [target, siblings]}, place, depth + 1);
    }
    const known = this.#referred.get(pointer);
    if (known !== undefined) return rule(known);
    const name = this.#builder.reserve(pointer);
    this.#referred.set(pointer, name);
    this.#builder.define(name, this.#read(target, pointer, depth + 1));
    return rule(name);
  }

  #resolve(pointer: string, place: string): unknown {
    if (pointer !== '#' && !pointer.startsWith('#/')) {
      refuse(place, `only references within the schema (#/…) are supported, not ${JSON.stringify(pointer)}`);
    }
    let target: unknown = this.#root;
    for (const part of pointer.split('/').slice(1)) {
      const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
      const holder = target as JsonSchema | null;
      if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) {
        refuse(place, `${JSON.stringify(pointer)} does not exist`);
      }
      target = holder[key];
    }
    return target;
  }

  #mergeAll({allOf, ...siblings}: JsonSchema, place: string): unknown {
    return arrayAt(allOf, `${place}/allOf`).reduce((merged, part) => this.#merge(merged, part, place), siblings);
  }

  /** @returns one schema for two that must both hold */
  #merge(a: unknown, b: unknown, place: string): unknown {
    if (a === true || b === false) return b;
    if (b === true || a === false) return a;
    return mergeSchemas(this.#expanded(a, place), this.#expanded(b, place), place);
  }

  /** With the reference or the parts at its top put in. */
  #expanded(schema: unknown, place: string, depth = 0): JsonSchema {
    const stated = objectAt(schema, place);
    if (depth > maxMergeDepth) refuse(place, 'the schema refers to itself without end');
    if (typeof stated.$ref === 'string') {
      const {$ref, ...siblings} = stated;
      return this.#expanded({allOf: [this.#resolve($ref as string, place), siblings]}, place, depth + 1);
    }
    if (stated.allOf === undefined) return stated;
    return this.#expanded(this.#mergeAll(stated, place), place, depth + 1);
  }

  #readBranches(stated: JsonSchema, keyword: 'anyOf' | 'oneOf', place: string, depth: number): GrammarNode {
    const {[keyword]: given, ...siblings} = stated;
    const branches = arrayAt(given, `${place}/${keyword}`);
    if (branches.length === 0) refuse(place, `"${keyword}" must not be empty`);
    if (keyword === 'oneOf') this.#refuseOverlap(branches, `${place}/oneOf`);
    const hasSiblings = Object.keys(siblings).some((name) => !annotations.has(name));
    const options = branches.map((branch, index) => {
      const branchPlace = `${place}/${keyword}/${index}`;
      return this.#read(hasSiblings ? {allOf: [siblings, branch]} : branch, branchPlace, depth + 1);
    });
    return choice(...options);
  }

  /** Of `oneOf` exactly one branch may hold; a grammar cannot look at the others. */
  #refuseOverlap(branches: unknown[], place: string): void {
    const expanded = branches.map((branch, index) =>
      typeof branch === 'boolean' ? {} : this.#expanded(branch, `${place}/${index}`),
    );
    const resolve = (schema: unknown) => (typeof schema === 'boolean' ? {} : this.#expanded(schema, place));
    expanded.forEach((branch, index) => {
      const other = expanded.slice(0, index).findIndex((earlier) => !areDisjoint(earlier, branch, resolve));
      if (other !== -1) {
        refuse(
          place,
          `branches ${other} and ${index} may both hold; use "anyOf", or tell them apart by a required property with "const"`,
        );
      }
    });
  }

  #readPlain(stated: JsonSchema, place: string): GrammarNode {
    for (const keyword of unsupportedKeywords) {
      if (stated[keyword] !== undefined) refuse(place, `"${keyword}" is not supported`);
    }
    const allowed = typesOf(stated, place);
    if ('const' in stated || 'enum' in stated) return this.#readValues(stated, allowed, place);
    if (allowed === null) return this.#any.value;
    if (allowed.length === 0) refuse(place, 'no type is left that a value could have');
    return choice(...allowed.map((type) => this.#readType(type, stated, place)));
  }

  #readValues(stated: JsonSchema, allowed: readonly JsonType[] | null, place: string): GrammarNode {
    const foreign = Object.keys(stated).find(
      (name) => !annotations.has(name) && !['const', 'enum', 'type'].includes(name),
    );
    if (foreign !== undefined) refuse(place, `"${foreign}" next to "const" or "enum" is not supported`);
    const listed = 'enum' in stated ? arrayAt(stated.enum, `${place}/enum`) : [stated.const];
    const values = listed.filter((value) => {
      const isConst = !('const' in stated) || isSame(value, stated.const);
      return isConst && (allowed === null || allowed.some((type) => isOfType(value, type)));
    });
    if (values.length === 0) refuse(place, 'no value is left');
    return choice(...values.map((value) => text(JSON.stringify(value))));
  }

  #readType(type: JsonType, stated: JsonSchema, place: string): GrammarNode {
    switch (type) {
      case 'object':
        return this.#readObject(stated, place);
      case 'array':
        return this.#readArray(stated, place);
      case 'string':
        return this.#readString(stated, place);
      case 'number':
        return this.#readNumber(stated, place);
      case 'integer':
        return this.#readInteger(stated, place);
      case 'boolean':
        return choice(text('true'), text('false'));
      case 'null':
        return text('null');
    }
  }

  #readString({pattern, format, minLength, maxLength}: JsonSchema, place: string): GrammarNode {
    const min = countAt(minLength, `${place}/minLength`) ?? 0;
    const max = countAt(maxLength, `${place}/maxLength`) ?? Number.POSITIVE_INFINITY;
    if (max < min) refuse(place, '"maxLength" is below "minLength"');
    if (pattern === undefined && format === undefined) return stringOf(min, max);
    if (pattern !== undefined && format !== undefined)
      refuse(place, '"pattern" and "format" together are not supported');
    if (min > 0 || max !== Number.POSITIVE_INFINITY) {
      refuse(
        place,
        `a length next to "${pattern === undefined ? 'format' : 'pattern'}" is not supported; put it into the pattern`,
      );
    }
    if (format !== undefined) return this.#readFormat(String(format), place);
    const options = {write: writtenCharacter, place: `JSON schema, ${place}/pattern`, mode: 'search'} as const;
    return quoted(regexGrammar(stringAt(pattern, `${place}/pattern`), options));
  }

  #readFormat(format: string, place: string): GrammarNode {
    const pattern = formatPatterns[format];
    if (pattern === undefined) {
      refuse(
        place,
        `format ${JSON.stringify(format)} is not supported; known are ${Object.keys(formatPatterns).join(', ')}`,
      );
    }
    return quoted(regexGrammar(pattern, {write: writtenCharacter}));
  }

  #readInteger(stated: JsonSchema, place: string): GrammarNode {
    const {least, most, isBounded} = boundsOf(stated, 0, place);
    if (stated.multipleOf === undefined || stated.multipleOf === 1) {
      return isBounded ? checked(numbersBetween({least, most}), place) : anyInteger;
    }
    return this.#readMultiple(stated.multipleOf, isBounded, place);
  }

  #readMultiple(multipleOf: unknown, isBounded: boolean, place: string): GrammarNode {
    if (isBounded) refuse(place, '"multipleOf" next to a bound is not supported');
    const divisor = Number(multipleOf);
    if (!Number.isInteger(divisor) || divisor < 1 || divisor > maxDivisor) {
      refuse(place, `"multipleOf" must be an integer from 1 to ${maxDivisor}`);
    }
    return multiplesOf(divisor, this.#builder);
  }

  #readNumber(stated: JsonSchema, place: string): GrammarNode {
    if (stated.multipleOf !== undefined) return this.#readInteger(stated, place);
    const limits = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].flatMap((name) =>
      typeof stated[name] === 'number' ? [stated[name] as number] : [],
    );
    if (limits.length === 0) return anyNumber;
    const fractionDigits = Math.max(2, ...limits.map(fractionDigitsOf));
    const whole = boundsOf(stated, 0, place);
    const fine = boundsOf(stated, fractionDigits, place);
    return checked(choice(numbersBetween(whole), numbersBetween(fine, fractionDigits)), place);
  }

  #readArray(stated: JsonSchema, place: string): GrammarNode {
    if (stated.uniqueItems === true) refuse(place, '"uniqueItems" is not supported');
    const min = countAt(stated.minItems, `${place}/minItems`) ?? 0;
    const max = countAt(stated.maxItems, `${place}/maxItems`) ?? Number.POSITIVE_INFINITY;
    if (max < min) refuse(place, '"maxItems" is below "minItems"');
    const {first, rest} = this.#readItems(stated, max, place);
    if (first.length < min && rest === null) refuse(place, `the array cannot have ${min} items`);
    if (first.length === 0 && (rest === null || max === 0)) return emptyBraces(brackets, this.#layout);
    return this.#listOf(first, rest, {min, max});
  }

  #readItems(stated: JsonSchema, max: number, place: string): {first: GrammarNode[]; rest: GrammarNode | null} {
    const isOld = Array.isArray(stated.items);
    const firstKeyword = isOld ? 'items' : 'prefixItems';
    const prefix = stated[firstKeyword] === undefined ? [] : arrayAt(stated[firstKeyword], `${place}/${firstKeyword}`);
    const restKeyword = isOld ? 'additionalItems' : 'items';
    const first = prefix.slice(0, max).map((item, index) => this.#read(item, `${place}/${firstKeyword}/${index}`));
    const restSchema = stated[restKeyword] ?? prefix.length === 0;
    const rest = restSchema === false || max <= first.length ? null : this.#read(restSchema, `${place}/${restKeyword}`);
    return {first, rest: rest === null ? null : this.#builder.add('item', rest)};
  }

  #listOf(first: GrammarNode[], rest: GrammarNode | null, {min, max}: {min: number; max: number}): GrammarNode {
    const {comma} = this.#layout;
    const numFirst = first.length;
    const more = (least: number, most: number) =>
      rest === null ? text('') : repeat(sequence(comma, rest), Math.max(0, least), Math.max(0, most));
    if (numFirst === 0) {
      const items = braced(brackets, sequence(rest!, more(min - 1, max - 1)), this.#layout);
      return min === 0 ? choice(emptyBraces(brackets, this.#layout), items) : items;
    }
    let following = more(min - numFirst, max - numFirst);
    for (let index = numFirst - 1; index > 0; index--) {
      const item = sequence(comma, first[index]!, following);
      following = min > index ? item : optional(item);
    }
    const items = braced(brackets, sequence(first[0]!, following), this.#layout);
    return min === 0 ? choice(emptyBraces(brackets, this.#layout), items) : items;
  }

  #readObject(stated: JsonSchema, place: string): GrammarNode {
    const properties = stated.properties === undefined ? {} : objectAt(stated.properties, `${place}/properties`);
    const required = (stated.required === undefined ? [] : arrayAt(stated.required, `${place}/required`)).map(String);
    const names = [...new Set([...Object.keys(properties), ...required])];
    const additional = this.#additionalSchema(stated, names, place);
    if (names.length === 0) return this.#readMap(stated, additional, place);
    this.#checkNamedObject(stated, {names, required, isOpen: additional !== false}, place);
    const entries = names.map((name) => {
      const schema = Object.hasOwn(properties, name)
        ? properties[name]
        : unnamedSchema(stated, name, additional, place);
      const value = this.#read(schema, `${place}/properties/${pointerPart(name)}`);
      return {
        entry: sequence(text(JSON.stringify(name)), this.#layout.colon, value),
        isRequired: required.includes(name),
      };
    });
    const extra = additional === false ? null : this.#extraEntry(names, additional, place);
    return this.#objectOf(entries, extra);
  }

  /** What properties without a name in the schema have to satisfy; false = there are none. */
  #additionalSchema(stated: JsonSchema, names: readonly string[], place: string): unknown {
    const {patternProperties} = stated;
    const given = stated.additionalProperties ?? stated.unevaluatedProperties;
    if (patternProperties === undefined) return given ?? (names.length === 0 && !this.#isClosed);
    const patterns = Object.keys(objectAt(patternProperties, `${place}/patternProperties`));
    const overlap = names.find((name) => patterns.some((pattern) => new RegExp(pattern, 'u').test(name)));
    if (overlap !== undefined) refuse(place, `property "${overlap}" also matches a pattern of "patternProperties"`);
    if (given !== undefined && given !== false) {
      refuse(place, '"patternProperties" next to "additionalProperties" is not supported');
    }
    return false;
  }

  #checkNamedObject(
    stated: JsonSchema,
    {names, required, isOpen}: {names: string[]; required: string[]; isOpen: boolean},
    place: string,
  ): void {
    if (stated.propertyNames !== undefined) refuse(place, '"propertyNames" next to "properties" is not supported');
    const min = countAt(stated.minProperties, `${place}/minProperties`) ?? 0;
    const max = countAt(stated.maxProperties, `${place}/maxProperties`) ?? Number.POSITIVE_INFINITY;
    if (min > required.length || max < names.length || (isOpen && max !== Number.POSITIVE_INFINITY)) {
      refuse(place, '"minProperties" and "maxProperties" next to "properties" are not supported');
    }
  }

  #extraEntry(names: readonly string[], additional: unknown, place: string): GrammarNode {
    const key = stringOtherThan(names, this.#builder);
    return sequence(key, this.#layout.colon, this.#read(additional, `${place}/additionalProperties`));
  }

  /** Entries in their order; each knows whether one came before it, because then a comma is due. */
  #objectOf(entries: {entry: GrammarNode; isRequired: boolean}[], extra: GrammarNode | null): GrammarNode {
    const {comma} = this.#layout;
    const none = '';
    const extras = extra === null ? null : this.#builder.add('extra', extra);
    let afterOne: GrammarNode = extras === null ? text(none) : repeat(sequence(comma, extras), 0);
    /** Null = an object that begins here would be empty. */
    let asFirst: GrammarNode | null = extras === null ? null : sequence(extras, afterOne);
    let mayBeEmpty = true;
    for (const {entry, isRequired} of entries.toReversed()) {
      const here = this.#builder.add('entry', sequence(entry, afterOne));
      asFirst = isRequired || asFirst === null ? here : this.#builder.add('first', choice(here, asFirst));
      const following = sequence(comma, here);
      afterOne = this.#builder.add('next', isRequired ? following : choice(following, afterOne));
      mayBeEmpty &&= !isRequired;
    }
    const filled = braced(braces, asFirst!, this.#layout);
    return mayBeEmpty ? choice(emptyBraces(braces, this.#layout), filled) : filled;
  }

  /** An object whose properties have no names in the schema. */
  #readMap(stated: JsonSchema, additional: unknown, place: string): GrammarNode {
    const min = countAt(stated.minProperties, `${place}/minProperties`) ?? 0;
    const max = countAt(stated.maxProperties, `${place}/maxProperties`) ?? Number.POSITIVE_INFINITY;
    if (min > 1) refuse(place, '"minProperties" above 1 is not supported: a name could come twice');
    const entry = this.#mapEntry(stated, additional, place);
    const empty = emptyBraces(braces, this.#layout);
    if (entry === null || max === 0) return min > 0 ? refuse(place, 'the object cannot have properties') : empty;
    const entries = sequence(entry, repeat(sequence(this.#layout.comma, entry), 0, max - 1));
    const filled = braced(braces, entries, this.#layout);
    return min === 0 ? choice(empty, filled) : filled;
  }

  #mapEntry(stated: JsonSchema, additional: unknown, place: string): GrammarNode | null {
    const {patternProperties, propertyNames} = stated;
    if (patternProperties !== undefined) return this.#patternEntry(objectAt(patternProperties, place), stated, place);
    if (additional === false) return null;
    if (propertyNames === undefined && additional === true)
      return this.#builder.add('pair', sequence(stringOf(), this.#layout.colon, this.#any.value));
    const key = propertyNames === undefined ? stringOf() : this.#readName(propertyNames, `${place}/propertyNames`);
    const value = this.#read(additional, `${place}/additionalProperties`);
    return this.#builder.add('pair', sequence(key, this.#layout.colon, value));
  }

  #readName(schema: unknown, place: string): GrammarNode {
    const stated = this.#expanded(schema === true ? {} : schema, place);
    return this.#read({...stated, type: 'string'}, place);
  }

  #patternEntry(patterns: JsonSchema, stated: JsonSchema, place: string): GrammarNode {
    const [[pattern, schema] = refuse(place, '"patternProperties" is empty'), another] = Object.entries(patterns);
    if (another !== undefined || stated.propertyNames !== undefined) {
      refuse(place, 'several patterns for the names of properties are not supported');
    }
    const inner = `${place}/patternProperties/${pointerPart(pattern)}`;
    const options = {write: writtenCharacter, place: `JSON schema, ${inner}`, mode: 'search'} as const;
    const value = this.#read(schema, inner);
    return this.#builder.add('pair', sequence(quoted(regexGrammar(pattern, options)), this.#layout.colon, value));
  }
}

/** Null = any type. */
function typesOf(stated: JsonSchema, place: string): readonly JsonType[] | null {
  if (stated.type !== undefined) {
    const unknownType = listOf(stated.type).find((type) => !types.some((known) => known === type));
    if (unknownType !== undefined) refuse(place, `unsupported type ${JSON.stringify(unknownType)}`);
    return listOf(stated.type) as JsonType[];
  }
  const meant = keywordsOfType
    .filter(([, keywords]) => keywords.some((keyword) => keyword in stated))
    .map(([type]) => type);
  return meant.length === 0 ? null : meant;
}

function isOfType(value: unknown, type: JsonType): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/** Bounds in units of the last of so many digits behind the point. */
function boundsOf(stated: JsonSchema, fractionDigits: number, place: string) {
  const bound = (name: string, round: 'up' | 'down', step: bigint): bigint | null => {
    const value = stated[name];
    if (value === undefined) return null;
    if (typeof value !== 'number' || !Number.isFinite(value)) refuse(`${place}/${name}`, 'must be a number');
    const isExact = scaled(value, fractionDigits, 'up') === scaled(value, fractionDigits, 'down');
    return scaled(value, fractionDigits, round) + (isExact ? step : 0n);
  };
  const lows = [bound('minimum', 'up', 0n), bound('exclusiveMinimum', 'up', 1n)].filter((value) => value !== null);
  const highs = [bound('maximum', 'down', 0n), bound('exclusiveMaximum', 'down', -1n)].filter(
    (value) => value !== null,
  );
  return {
    least: lows.length === 0 ? null : lows.reduce(bigMax),
    most: highs.length === 0 ? null : highs.reduce(bigMin),
    isBounded: lows.length + highs.length > 0,
  };
}

/** What a property has to satisfy that is required and not described. */
function unnamedSchema(stated: JsonSchema, name: string, additional: unknown, place: string): unknown {
  if (stated.additionalProperties === false) refuse(place, `the required property "${name}" is not allowed`);
  return additional === false ? true : additional;
}

/** A choice of nothing means that the bounds exclude each other. */
function checked(node: GrammarNode, place: string): GrammarNode {
  if (isImpossible(node)) refuse(place, 'the bounds leave no number');
  return node;
}

const isImpossible = (node: GrammarNode): boolean => node.type === 'choice' && node.options.every(isImpossible);

function objectAt(value: unknown, place: string): JsonSchema {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonSchema;
  return refuse(place, `must be an object, not ${JSON.stringify(value)}`);
}

function arrayAt(value: unknown, place: string): unknown[] {
  return Array.isArray(value) ? value : refuse(place, `must be an array, not ${JSON.stringify(value)}`);
}

function stringAt(value: unknown, place: string): string {
  return typeof value === 'string' ? value : refuse(place, `must be a string, not ${JSON.stringify(value)}`);
}

function countAt(value: unknown, place: string): number | null {
  if (value === undefined) return null;
  return Number.isInteger(value) && Number(value) >= 0 ? Number(value) : refuse(place, 'must be a whole number');
}

const pointerPart = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Reads the text of a schema as JavaScript's plain values. */
export function readSchemaText(schemaText: string): unknown {
  return toPlainJson(parseJson(schemaText));
}
