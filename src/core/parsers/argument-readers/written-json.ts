/** JSON that a model wrote, read without throwing, and what is asked of the values. */

import type {JsonSchema} from '../output-parser.ts';

/** Everything that JSON has, text included. */
export const ANY_JSON: JsonSchema = {type: ['null', 'integer', 'number', 'boolean', 'object', 'array', 'string']};

/** Undefined when the text is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const isJsonObject = (text: string): boolean => isRecord(parseJson(text));
