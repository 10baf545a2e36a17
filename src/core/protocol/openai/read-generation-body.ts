/** The order in which chat and completion bodies are checked: across fields, fields with errors of their own, types. */
import type * as z from 'zod';
import {checkSelfCheckedFields} from './field-checks.ts';
import {parseWithSchema} from './schema-errors.ts';
import {type ConstraintFields, checkStructuredOutputs} from './structured-outputs.ts';

/**
 * @param checkBody what an endpoint checks of a raw body before its types
 * @throws ValidationError, SchemaError
 */
export function readGenerationBody<Request extends ConstraintFields>(
  schema: z.ZodType<Request>,
  body: unknown,
  checkBody: (body: unknown) => void,
): Request {
  checkBody(body);
  checkSelfCheckedFields(body);
  const request = parseWithSchema(schema, body);
  checkStructuredOutputs(request);
  return request;
}
