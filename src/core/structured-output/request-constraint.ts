/** From the fields of a request to the constraint that the engine gets, and the proof that it can be used. */
import type {StructuredOutputs} from '../protocol/openai/structured-outputs.ts';
import type {ConstraintBeginning, ConstraintKind, OutputConstraint} from '../sampling/output-constraint.ts';
import {writeJson} from '../util/write-json.ts';
import {constraintProgram} from './constraint-program.ts';

/** How the text of each kind is made of the fields. The first kind that is given counts; a check before sees to it that there is one. */
const textOfKind: Readonly<Record<ConstraintKind, (fields: StructuredOutputs) => string | null>> = {
  json: ({json}) => (typeof json === 'object' && json !== null ? writeJson(json) : json),
  regex: ({regex}) => regex,
  choice: ({choice}) => (choice === null ? null : JSON.stringify(choice)),
  grammar: ({grammar}) => grammar,
  json_object: ({json_object: isAsked}) => (isAsked ? '' : null),
  structural_tag: ({structural_tag: tag}) => tag,
};

const kinds = Object.keys(textOfKind) as ConstraintKind[];

/**
 * @param fields null = the request has none
 * @param beginning where in the answer it begins
 */
export function toOutputConstraint(
  fields: StructuredOutputs | null,
  beginning: ConstraintBeginning,
): OutputConstraint | null {
  if (fields === null) return null;
  for (const kind of kinds) {
    const text = textOfKind[kind](fields);
    if (text === null) continue;
    return {
      kind,
      text,
      disablesAnyWhitespace: fields.disable_any_whitespace,
      whitespacePattern: fields.whitespace_pattern,
      disablesAdditionalProperties: fields.disable_additional_properties,
      ...beginning,
    };
  }
  return null;
}

/**
 * Does once what the engine will do, so that nothing runs for a constraint that cannot be used.
 * @throws ValidationError with the place of what is wrong
 */
export function checkConstraintCompiles(constraint: OutputConstraint): void {
  constraintProgram(constraint);
}
