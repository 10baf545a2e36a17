/**
 * What the reference checks of a constraint when its engine takes the request, before any backend compiles it: empty
 * texts, characters that no backend takes, nesting (vllm/v1/structured_output). Pure: a constraint in, an error out.
 */
import {ValidationError} from '../../errors.ts';
import {JsonSyntaxError, parseJson} from '../../util/parse-json.ts';
import {type ConstraintFields, constraintOf, type StructuredOutputs} from './structured-outputs.ts';

/** Objects and arrays of a schema may nest this deep. */
const MAX_SCHEMA_DEPTH = 64;

interface ConstraintRule {
  isBroken: (constraint: StructuredOutputs) => boolean;
  message: string;
}

/** The first broken rule answers; a constraint is of one kind, so at most one kind of rule applies. */
const CONSTRAINT_RULES: ConstraintRule[] = [
  {isBroken: ({choice}) => choice?.length === 0, message: "Choice '[]' cannot be an empty list"},
  {
    isBroken: ({grammar}) => grammar?.trim() === '',
    message: 'structured_outputs.grammar cannot be an empty string',
  },
  {
    isBroken: ({json}) => typeof json === 'string' && json.trim() === '',
    message: 'structured_outputs.json cannot be an empty string',
  },
  {
    isBroken: ({json_object}) => json_object === false,
    message:
      'structured_outputs.json_object must be True if set; omit structured_outputs to disable structured outputs',
  },
  {
    isBroken: ({regex}) => regex?.includes('\0') ?? false,
    message: "structured_outputs.regex must not contain a NUL character ('\\x00')",
  },
  {
    isBroken: ({json}) => typeof json === 'string' && readSchema(json) === undefined,
    message: 'Invalid JSON grammar specification.',
  },
  {
    isBroken: ({json}) => nestsDeeper(typeof json === 'string' ? readSchema(json) : json, MAX_SCHEMA_DEPTH),
    message: `The JSON schema is nested too deeply: objects and arrays may nest at most ${MAX_SCHEMA_DEPTH} levels`,
  },
];

/**
 * Part of the engine check: for a streamed request the error is the first event.
 * @throws ValidationError
 */
export function checkConstraint(request: ConstraintFields): void {
  const fault = constraintFault(request);
  if (fault !== null) throw new ValidationError(fault);
}

/** What is wrong with the constraint of a request; null when nothing is, or when it has none. */
function constraintFault(request: ConstraintFields): string | null {
  const constraint = constraintOf(request);
  if (constraint === null) return null;
  return CONSTRAINT_RULES.find(({isBroken}) => isBroken(constraint))?.message ?? null;
}

/** Undefined when the text is no JSON. */
function readSchema(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** Looks no deeper than it has to. */
function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => nestsDeeper(inner, levels - 1));
}
