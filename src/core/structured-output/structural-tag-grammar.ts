/**
 * Structural tags: free text in which marked parts follow a schema, as tool calls do. The formats are xgrammar's; the older
 * form with `structures` and `triggers` becomes the newer one.
 */
import * as z from 'zod';
import {ValidationError} from '../errors.ts';
import {anyCodePoint} from './code-point-ranges.ts';
import {ebnfNode} from './ebnf-grammar.ts';
import {freeText} from './free-text.ts';
import {
  choice,
  type Grammar,
  GrammarBuilder,
  type GrammarNode,
  nothing,
  oneOf,
  optional,
  repeat,
  sequence,
  text,
} from './grammar.ts';
import {type JsonSchemaOptions, jsonSchemaNode, readSchemaText} from './json-schema/json-schema-grammar.ts';
import {regexGrammar} from './regex-grammar.ts';
import {xmlParametersNode} from './xml-parameters.ts';

interface TagFormat {
  type: 'tag';
  begin: string;
  content: TagContent;
  end: string | string[];
}

type TagContent =
  | TagFormat
  | {type: 'const_string'; value: string}
  | {type: 'json_schema'; json_schema: unknown}
  | {type: 'qwen_xml_parameter'; json_schema: unknown}
  | {type: 'regex'; pattern: string}
  | {type: 'grammar'; grammar: string}
  | {type: 'any_text'}
  | {type: 'sequence' | 'or'; elements: TagContent[]}
  | {type: 'triggered_tags'; triggers: string[]; tags: TagFormat[]; at_least_one: boolean; stop_after_first: boolean}
  | {
      type: 'tags_with_separator';
      tags: TagFormat[];
      separator: string;
      at_least_one: boolean;
      stop_after_first: boolean;
    };

const contentSchema: z.ZodType<TagContent> = z.lazy(() =>
  z.discriminatedUnion('type', [
    tagSchema,
    z.object({type: z.literal('const_string'), value: z.string()}),
    z.object({type: z.literal('json_schema'), json_schema: z.unknown()}),
    z.object({type: z.literal('qwen_xml_parameter'), json_schema: z.unknown()}),
    z.object({type: z.literal('regex'), pattern: z.string()}),
    z.object({type: z.literal('grammar'), grammar: z.string()}),
    z.object({type: z.literal('any_text')}),
    z.object({type: z.literal(['sequence', 'or']), elements: z.array(contentSchema).min(1)}),
    z.object({...listFields(), type: z.literal('triggered_tags'), triggers: z.array(z.string().min(1)).min(1)}),
    z.object({...listFields(), type: z.literal('tags_with_separator'), separator: z.string()}),
  ]),
) as z.ZodType<TagContent>;

const tagSchema = z.object({
  type: z.literal('tag'),
  begin: z.string(),
  get content() {
    return contentSchema;
  },
  end: z.union([z.string(), z.array(z.string()).min(1)]),
});

/** Tags of a list may leave out their type. */
function listFields() {
  const tag = z.preprocess(
    (value) => (typeof value === 'object' && value !== null ? {type: 'tag', ...value} : value),
    tagSchema,
  );
  return {
    tags: z.array(tag).min(1),
    at_least_one: z.boolean().default(false),
    stop_after_first: z.boolean().default(false),
  };
}

const legacySchema = z.object({
  structures: z.array(z.object({begin: z.string(), schema: z.unknown().optional(), end: z.string()})).min(1),
  triggers: z.array(z.string().min(1)).min(1),
});

/** @throws ValidationError with the place of what is wrong */
export function structuralTagGrammar(source: string, options: JsonSchemaOptions): Grammar {
  const builder = new GrammarBuilder();
  const content = readTag(readSchemaText(source));
  return builder.build(new TagReader(builder, options).read(content), {namesSpecialTokens: true});
}

function readTag(value: unknown): TagContent {
  const stated = (value ?? {}) as Record<string, unknown>;
  if ('structures' in stated) return fromLegacy(stated);
  return parsed(contentSchema, stated.format, 'format');
}

function fromLegacy(stated: Record<string, unknown>): TagContent {
  const {structures, triggers} = parsed(legacySchema, stated, '');
  const tags = structures.map(({begin, schema, end}): TagFormat => {
    const json_schema = typeof schema === 'string' ? readSchemaText(schema) : (schema ?? true);
    return {type: 'tag', begin, content: {type: 'json_schema', json_schema}, end};
  });
  return {type: 'triggered_tags', triggers, tags, at_least_one: false, stop_after_first: false};
}

function parsed<T>(schema: z.ZodType<T>, value: unknown, path: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [{path: inner, message}] = result.error.issues as [z.core.$ZodIssue];
  return refuse([path, ...inner].filter((part) => part !== '').join('.'), message);
}

function refuse(place: string, reason: string): never {
  throw new ValidationError(`Invalid structured outputs: structural tag, ${place}: ${reason}`);
}

class TagReader {
  readonly #builder: GrammarBuilder;
  readonly #options: JsonSchemaOptions;

  constructor(builder: GrammarBuilder, options: JsonSchemaOptions) {
    this.#builder = builder;
    this.#options = options;
  }

  read(content: TagContent): GrammarNode {
    switch (content.type) {
      case 'tag':
        return this.#builder.add('tag', sequence(text(content.begin), this.#readInside(content)));
      case 'const_string':
        return text(content.value);
      case 'json_schema':
        return this.#builder.add('json', jsonSchemaNode(content.json_schema, this.#builder, this.#options));
      case 'qwen_xml_parameter':
        return xmlParametersNode(content.json_schema, this.#builder, this.#options);
      case 'regex':
        return regexGrammar(content.pattern, {place: 'structural tag, pattern'});
      case 'grammar':
        return ebnfNode(content.grammar, this.#builder);
      case 'any_text':
        return repeat(oneOf(anyCodePoint), 0);
      case 'sequence':
        return sequence(...content.elements.map((element) => this.read(element)));
      case 'or':
        return choice(...content.elements.map((element) => this.read(element)));
      case 'triggered_tags':
        return this.#readTriggered(content);
      case 'tags_with_separator':
        return this.#readSeparated(content);
    }
  }

  /** Content and end. Free content goes as far as the first end. */
  #readInside({content, end}: TagFormat): GrammarNode {
    const ends = typeof end === 'string' ? [end] : end;
    const isFree = content.type === 'any_text' && !ends.includes('');
    if (!isFree) return sequence(this.read(content), choice(...ends.map(text)));
    return freeText({markers: new Map(ends.map((marker) => [marker, () => nothing])), mayEnd: false}, this.#builder);
  }

  /** Free text; a trigger that has been written goes on as one of the tags that begin with it. */
  #readTriggered(content: Extract<TagContent, {type: 'triggered_tags'}>): GrammarNode {
    const {triggers, tags, at_least_one: needsOne, stop_after_first: stops} = content;
    for (const {begin} of tags) {
      if (!triggers.some((trigger) => begin.startsWith(trigger)))
        refuse('tags', `no trigger begins ${JSON.stringify(begin)}`);
    }
    if (needsOne && stops) return choice(...tags.map((tag) => this.read(tag)));
    const restOf = (trigger: string, after: GrammarNode) =>
      choice(
        ...tags
          .filter(({begin}) => begin.startsWith(trigger))
          .map((tag) => sequence(text(tag.begin.slice(trigger.length)), this.#readInside(tag), after)),
      );
    const markers = new Map(
      triggers.map((trigger) => [trigger, (start: GrammarNode) => restOf(trigger, stops ? nothing : start)]),
    );
    const free = freeText({markers, mayEnd: true}, this.#builder);
    return needsOne ? sequence(choice(...tags.map((tag) => this.read(tag))), free) : free;
  }

  #readSeparated(content: Extract<TagContent, {type: 'tags_with_separator'}>): GrammarNode {
    const {tags, separator, at_least_one: needsOne, stop_after_first: stops} = content;
    const tag = this.#builder.add('tags', choice(...tags.map((each) => this.read(each))));
    const list = stops ? tag : sequence(tag, repeat(sequence(text(separator), tag), 0));
    return needsOne ? list : optional(list);
  }
}
