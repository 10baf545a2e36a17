/**
 * The `response_template` of a checkpoint: metadata of its tokenizer that says which markers surround thoughts, answers
 * and calls. Read and checked once, when the server starts; what our machine cannot run is refused with the reason.
 */

import {z} from 'zod';
import {ValidationError} from '../../errors.ts';
import {type FixedEnds, fixedEnds} from './pattern.ts';

const literals = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);

const valueParserSchema = z.object({name: z.string(), args: z.record(z.string(), z.unknown()).optional()});

const fieldSchema = z.strictObject({
  open: literals.optional(),
  open_pattern: z.string().min(1).optional(),
  close: literals.optional(),
  close_pattern: z.string().min(1).optional(),
  content: z.enum(['text', 'json', 'xml-inline', 'kv-lines', 'int', 'float', 'bool']).default('text'),
  content_args: z
    .looseObject({
      tag_pattern: z.string().optional(),
      value_parser: valueParserSchema.optional(),
      string_delims: z.array(z.tuple([z.string().min(1), z.string().min(1)])).optional(),
      line_sep: z.string().min(1).optional(),
      kv_sep: z.string().min(1).optional(),
    })
    .default({}),
  repeats: z.boolean().optional(),
  join: z.unknown().optional(),
  optional: z.boolean().optional(),
  transform: z.unknown().optional(),
  transform_each: z.boolean().optional(),
});

const templateSchema = z.strictObject({
  version: z.literal(1).default(1),
  start_anchor: literals.optional(),
  start_anchor_pattern: z.string().min(1).optional(),
  defaults: z.record(z.string(), z.unknown()).optional(),
  fields: z.record(z.string(), fieldSchema),
});

type WrittenField = z.infer<typeof fieldSchema>;

export interface TemplateField {
  name: string;
  /** Empty: the field takes what no other field has. */
  openers: readonly FixedEnds[];
  /** Empty: the field goes on to the end of the text. */
  closers: readonly string[];
  content: WrittenField['content'];
  contentArgs: WrittenField['content_args'];
  transform: unknown;
}

export interface ResponseTemplate {
  fields: readonly TemplateField[];
  /** Where the answer begins in a prompt; undefined: the whole prompt counts. */
  anchor: RegExp | undefined;
}

/** @throws ValidationError */
export function readResponseTemplate(written: unknown): ResponseTemplate {
  const checked = templateSchema.safeParse(written);
  if (!checked.success) throw invalid(checked.error.issues.map(wordIssue).join('; '));
  const template = checked.data;
  const anchors = literalList(template.start_anchor);
  const fields = Object.entries(template.fields).map(([name, field]) => readField(name, field, anchors));
  if (fields.length === 0) throw invalid('no fields');
  const unopened = fields.filter(({openers}) => openers.length === 0).map(({name}) => name);
  if (unopened.length > 1) throw invalid(`only one field may have no opener, not ${unopened.join(', ')}`);
  return {fields, anchor: readAnchor(anchors, template.start_anchor_pattern)};
}

function wordIssue({path, message}: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

/** The field of that name. */
export function fieldNamed(template: ResponseTemplate, name: string): TemplateField | undefined {
  return template.fields.find((field) => field.name === name);
}

function readField(name: string, field: WrittenField, anchors: readonly string[]): TemplateField {
  if (field.open !== undefined && field.open_pattern !== undefined) throw invalid(`${name} has two openers`);
  if (field.close !== undefined && field.close_pattern !== undefined) throw invalid(`${name} has two closers`);
  return {
    name,
    openers: [
      ...literalList(field.open).map((text) => ({prefix: text, suffix: undefined, whole: undefined})),
      ...patternList(field.open_pattern, `${name}.open_pattern`),
    ],
    closers: readClosers(name, field, anchors),
    content: field.content,
    contentArgs: field.content_args,
    transform: field.transform,
  };
}

/** A closer that ends in the anchor of the next turn also counts without it: the model stops there. */
function readClosers(name: string, field: WrittenField, anchors: readonly string[]): string[] {
  const patterns = patternList(field.close_pattern, `${name}.close_pattern`);
  if (patterns.some(({suffix}) => suffix !== undefined)) {
    throw invalid(`${name}.close_pattern must be fixed text, not '${field.close_pattern}'`);
  }
  const written = literalList(field.close).filter((text) => text !== END_OF_STREAM);
  const closers = [...written, ...patterns.map(({prefix}) => prefix)];
  const shortened = closers.flatMap((closer) =>
    anchors.filter((anchor) => closer.endsWith(anchor)).map((anchor) => closer.slice(0, -anchor.length)),
  );
  return [...closers, ...shortened.filter((closer) => closer !== '')];
}

/** A closer of that name is the end of the text. */
const END_OF_STREAM = 'eos';

function patternList(pattern: string | undefined, where: string): FixedEnds[] {
  if (pattern === undefined) return [];
  try {
    return fixedEnds(pattern);
  } catch (error) {
    throw invalid(`${where} '${pattern}': ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readAnchor(anchors: readonly string[], pattern: string | undefined): RegExp | undefined {
  if (anchors.length === 0 && pattern === undefined) return undefined;
  const literal = anchors.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  const source = [...literal, ...(pattern === undefined ? [] : [pattern.replaceAll('(?P<', '(?<')])].join('|');
  try {
    return new RegExp(source, 'gsu');
  } catch (error) {
    throw invalid(`start_anchor_pattern: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function literalList(written: string | readonly string[] | undefined): string[] {
  return written === undefined ? [] : [written].flat();
}

export function invalid(why: string): ValidationError {
  return new ValidationError(`Invalid response_template metadata: ${why}`);
}
