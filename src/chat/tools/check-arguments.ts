/** Whether the arguments of a call fit the schema of its tool: types, required keys, allowed values. */
import * as z from 'zod';

export type CheckedArguments = {value: Record<string, unknown>} | {fault: string};

export function checkArguments(text: string, schema: Record<string, unknown>): CheckedArguments {
  const parsed = parseObject(text);
  if ('fault' in parsed) return parsed;
  const validator = toValidator(schema);
  const result = validator?.safeParse(parsed.value);
  if (!result || result.success) return parsed;
  const faults = result.error.issues.map(({path, message}) => `${path.join('.') || 'arguments'}: ${message}`);
  return {fault: `The arguments do not fit the schema of the tool. ${faults.join('; ')}`};
}

/** No text at all stands for no arguments. */
function parseObject(text: string): CheckedArguments {
  try {
    const value: unknown = JSON.parse(text.trim() === '' ? '{}' : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return {value: value as Record<string, unknown>};
    }
    return {fault: 'The arguments must be a JSON object.'};
  } catch (error) {
    return {fault: `The arguments are no JSON: ${(error as Error).message}`};
  }
}

/** Schemas of others may use what zod cannot read; the tool has to look for itself then. */
function toValidator(schema: Record<string, unknown>): z.ZodType | null {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return null;
  }
}
