/**
 * The two ways to ask for structured output, `structured_outputs` and `response_format`: their schemas and the rules
 * about how many kinds of constraint one request may state (vllm/sampling_params.py, StructuredOutputsParams).
 */
import * as z from 'zod';
import {ValidationError} from '../../errors.ts';
import {writeJson} from '../../util/write-json.ts';
import {
  laxBool,
  laxDict,
  laxList,
  laxLiteral,
  laxObject,
  laxString,
  laxUnion,
  nullable,
  withDefault,
} from './lax-types.ts';
import {pythonRepr} from './python-repr.ts';

export const structuredOutputsSchema = laxObject({
  json: nullable(laxUnion([laxString(), laxDict()])),
  regex: nullable(laxString()),
  choice: nullable(laxList(laxString())),
  grammar: nullable(laxString()),
  json_object: nullable(laxBool()),
  disable_any_whitespace: withDefault(laxBool(), false),
  disable_additional_properties: withDefault(laxBool(), false),
  whitespace_pattern: nullable(laxString()),
  structural_tag: nullable(laxString()),
});

export type StructuredOutputs = z.output<typeof structuredOutputsSchema>;

const jsonSchemaFormat = laxObject({
  name: laxString(),
  description: nullable(laxString()),
  schema: nullable(laxDict()),
  strict: nullable(laxBool()),
});

/** The last three belong to a structural tag, in its new and its old form; a check before has looked at them. */
export const responseFormatSchema = laxObject({
  type: laxLiteral(['text', 'json_object', 'json_schema', 'structural_tag']),
  json_schema: nullable(jsonSchemaFormat),
  format: z.unknown().optional(),
  structures: z.unknown().optional(),
  triggers: z.unknown().optional(),
});

type ResponseFormat = z.output<typeof responseFormatSchema>;

const KINDS = ['json', 'regex', 'choice', 'grammar', 'json_object', 'structural_tag'] as const;

/** How the reference prints the fields of its dataclass. */
function describe(fields: Record<string, unknown>): string {
  return pythonRepr(fields);
}

/** The two fields that can state a constraint. */
export interface ConstraintFields {
  structured_outputs: StructuredOutputs | null;
  response_format: ResponseFormat | null;
}

/** The one constraint of a request, from either of its fields, in the form of `structured_outputs`; null = none. */
export function constraintOf({structured_outputs: given, response_format: format}: ConstraintFields) {
  const fromFormat = format === null ? null : formatConstraint(format);
  if (fromFormat === null) return given;
  return {...(given ?? structuredOutputsSchema.parse({})), ...fromFormat};
}

function formatConstraint({type, json_schema, ...tag}: ResponseFormat): Partial<StructuredOutputs> | null {
  if (type === 'json_object') return {json_object: true};
  if (type === 'json_schema') return {json: json_schema?.schema ?? null};
  return type === 'structural_tag' ? {structural_tag: writeJson({type, ...tag})} : null;
}

/**
 * Refuses a constraint of no kind or of several kinds.
 * @throws ValidationError
 */
export function checkStructuredOutputs(request: ConstraintFields): void {
  const {structured_outputs, response_format: format} = request;
  if (structured_outputs === null && (format === null || format.type === 'text')) return;
  const constraint = structured_outputs ?? structuredOutputsSchema.parse({});
  const given: string[] = KINDS.filter((kind) => constraint[kind] !== null);
  if (format !== null && formatIsConstraint(format)) given.push(format.type);
  if (given.length > 1) {
    throw new ValidationError(
      `You can only use one kind of structured outputs constraint but multiple are specified: ${describe(constraint)}`,
    );
  }
  if (given.length < 1) {
    throw new ValidationError(
      `You must use one kind of structured outputs constraint but none are specified: ${describe(constraint)}`,
    );
  }
}

/** A JSON schema format may lack its schema; it then asks for nothing. */
function formatIsConstraint({type, json_schema}: ResponseFormat): boolean {
  return type === 'json_schema' ? (json_schema?.schema ?? null) !== null : type !== 'text';
}
