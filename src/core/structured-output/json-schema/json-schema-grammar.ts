/**
 * A JSON schema as the grammar of JSON texts that satisfy it. Every text of the grammar is valid; not every valid text is in
 * the grammar: properties come in the order of the schema, objects that name their properties have no others unless the
 * schema says so, and what breaks a schema is known only as far as a schema can say it. What cannot be kept is refused with
 * its place.
 */
import {parseJson, toPlainJson} from '../../util/parse-json.ts';
import {choice, type Grammar, GrammarBuilder, type GrammarNode, rule, text} from '../grammar.ts';
import {type AnyJson, addAnyJson, type JsonLayout} from '../json-text.ts';
import {SchemaAlternatives} from './alternatives.ts';
import {arrayNode} from './array-node.ts';
import {numberNode} from './number-node.ts';
import {objectNode} from './object-node.ts';
import {allowedTypes, assertionsOf, combiningKeywords, keyOf, type PlainSchema, saysNothing} from './plain-schema.ts';
import {listedValuesOf} from './satisfies.ts';
import type {SchemaReader} from './schema-reader.ts';
import {arrayAt, type JsonSchema, type JsonType, objectAt, refuse} from './schema-values.ts';
import {stringNode} from './string-node.ts';

export interface JsonSchemaOptions {
  layout: JsonLayout;
  /** Objects that name no properties are empty unless their schema says otherwise. */
  disablesAdditionalProperties: boolean;
}

/** Rules that may be made of one schema; schemas that contain themselves in ever new combinations end here. */
const maxRules = 20_000;

/** @throws ValidationError with the place of what is not supported */
export function jsonSchemaGrammar(schema: unknown, options: JsonSchemaOptions): Grammar {
  const builder = new GrammarBuilder();
  return builder.build(jsonSchemaNode(schema, builder, options));
}

/** The same as a part of a larger grammar. */
export function jsonSchemaNode(schema: unknown, builder: GrammarBuilder, options: JsonSchemaOptions): GrammarNode {
  return new GrammarOfSchema(schema, builder, options).readRoot();
}

/** Any object, as `json_object` asks for. */
export function jsonObjectGrammar(layout: JsonLayout): Grammar {
  const builder = new GrammarBuilder();
  return builder.build(addAnyJson(builder, layout).object);
}

/** Reads the text of a schema as JavaScript's plain values. */
export function readSchemaText(schemaText: string): unknown {
  return toPlainJson(parseJson(schemaText));
}

class GrammarOfSchema implements SchemaReader {
  readonly builder: GrammarBuilder;
  readonly layout: JsonLayout;
  readonly isClosed: boolean;
  readonly alternatives: SchemaAlternatives;
  readonly #root: unknown;
  /** Rules by what they stand for: a pointer, or a plain schema that was put together. */
  readonly #rules = new Map<string, string>();
  /** Rules are read one after the other, so that long chains of references need no stack. */
  readonly #later: (() => void)[] = [];
  #anyJson: AnyJson | null = null;

  constructor(root: unknown, builder: GrammarBuilder, {layout, disablesAdditionalProperties}: JsonSchemaOptions) {
    this.#root = root;
    this.builder = builder;
    this.layout = layout;
    this.isClosed = disablesAdditionalProperties;
    this.alternatives = new SchemaAlternatives(root);
  }

  readRoot(): GrammarNode {
    const node = this.read(this.#root, '#');
    for (let next = this.#later.pop(); next !== undefined; next = this.#later.pop()) next();
    return node;
  }

  get any(): AnyJson {
    this.#anyJson ??= addAnyJson(this.builder, this.layout);
    return this.#anyJson;
  }

  noteImpossible(place: string, reason: string): void {
    this.builder.emptyReason ??= `JSON schema, ${place}: ${reason}`;
  }

  read(schema: unknown, place: string): GrammarNode {
    if (schema === true) return this.any.value;
    if (schema === false) return this.#nothingAt(place, 'no value can satisfy `false`');
    const stated = objectAt(schema, place);
    const combining = assertionsOf(stated).filter((keyword) => combiningKeywords.has(keyword));
    if (combining.length === 0) return this.#readOne(stated, place);
    return this.#readAlone(stated, place) ?? this.#readCombined(stated, place);
  }

  /** A reference, or branches with nothing next to them, stay what they are; null = it is something else. */
  #readAlone(stated: JsonSchema, place: string): GrammarNode | null {
    const [keyword, another] = assertionsOf(stated);
    if (another !== undefined) return null;
    if (keyword === '$ref') return this.#readReference(String(stated.$ref), place);
    if (keyword !== 'anyOf' && keyword !== 'oneOf') return null;
    const branches = arrayAt(stated[keyword], `${place}/${keyword}`);
    if (branches.length === 0) refuse(place, `"${keyword}" must not be empty`);
    const exclusive = keyword === 'oneOf' ? this.alternatives.exclusiveBranches(branches, place) : branches;
    return choice(...exclusive.map((branch, index) => this.read(branch, `${place}/${keyword}/${index}`)));
  }

  #readReference(pointer: string, place: string): GrammarNode {
    const target = this.alternatives.resolve(pointer, place);
    return this.#ruleFor(pointer, place, () => this.read(target, pointer));
  }

  #readOne(stated: JsonSchema, place: string): GrammarNode {
    const [plain] = this.alternatives.of(stated, place);
    if (plain === undefined) return this.#nothingAt(place, 'no value is left');
    return this.#readPlain(plain, place);
  }

  #readCombined(stated: JsonSchema, place: string): GrammarNode {
    const options = this.alternatives.of(stated, place);
    if (options.length === 0) return this.#nothingAt(place, 'no value is left');
    return choice(
      ...options.map((plain) => this.#ruleFor(`\0${keyOf(plain)}`, place, () => this.#readPlain(plain, place))),
    );
  }

  #ruleFor(key: string, place: string, make: () => GrammarNode): GrammarNode {
    const known = this.#rules.get(key);
    if (known !== undefined) return rule(known);
    if (this.#rules.size >= maxRules) refuse(place, 'the schema refers to itself in too many combinations');
    const name = this.builder.reserve('schema');
    this.#rules.set(key, name);
    this.#later.push(() => this.builder.define(name, make()));
    return rule(name);
  }

  #readPlain(plain: PlainSchema, place: string): GrammarNode {
    if (saysNothing(plain)) return this.any.value;
    if (plain.values !== null) return this.#readValues(plain, place);
    const types = allowedTypes(plain).filter((type, _, all) => type !== 'integer' || !all.includes('number'));
    if (types.length === 0) return this.#nothingAt(place, 'no type is left that a value could have');
    return choice(...types.map((type) => this.#readType(type, plain, place)));
  }

  #readValues(plain: PlainSchema, place: string): GrammarNode {
    const left = listedValuesOf(plain, this.alternatives, place);
    if (left.length === 0) return this.#nothingAt(place, 'no value is left');
    return choice(...left.map((value) => text(JSON.stringify(value))));
  }

  #readType(type: JsonType, plain: PlainSchema, place: string): GrammarNode {
    const {except} = plain;
    switch (type) {
      case 'object':
        return hasValue(except, isObject) ? choice() : objectNode(plain.object, this, place);
      case 'array':
        return hasValue(except, Array.isArray) ? choice() : arrayNode(plain.array, this, place);
      case 'string':
        return this.#noted(stringNode(plain, this.builder, place), place, 'the rules leave no text');
      case 'number':
      case 'integer': {
        const rules = {number: plain.number, except, isInteger: type === 'integer'};
        return this.#noted(numberNode(rules, this.builder, place), place, 'the bounds leave no number');
      }
      case 'boolean':
        return choice(...[true, false].filter((value) => !except.includes(value)).map((value) => text(String(value))));
      case 'null':
        return except.includes(null) ? choice() : text('null');
    }
  }

  #nothingAt(place: string, reason: string): GrammarNode {
    this.noteImpossible(place, reason);
    return choice();
  }

  #noted(node: GrammarNode, place: string, reason: string): GrammarNode {
    if (isImpossible(node)) this.noteImpossible(place, reason);
    return node;
  }
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** All values but one object or array cannot be said, so none of them is. */
const hasValue = (values: readonly unknown[], isOne: (value: unknown) => boolean): boolean => values.some(isOne);

const isImpossible = (node: GrammarNode): boolean => node.type === 'choice' && node.options.every(isImpossible);
