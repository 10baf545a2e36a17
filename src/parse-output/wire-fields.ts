/** Tools and tool choices as requests write them, read leniently from files. */
import * as z from 'zod';
import {UsageError} from '../core/errors.ts';
import type {ParserToolChoice} from '../core/parsers/output-parser.ts';

const schemaOfArguments = z.union([z.record(z.string(), z.unknown()), z.boolean()]);

const toolSchema = z.object({
  function: z.object({name: z.string(), parameters: schemaOfArguments.nullish()}),
});

export const toolListSchema = z.array(toolSchema);

export const toolChoiceSchema = z.union([
  z.enum(['none', 'auto', 'required']),
  z.object({function: z.object({name: z.string()})}),
]);

export function toParserChoice(choice: z.infer<typeof toolChoiceSchema>): ParserToolChoice {
  return typeof choice === 'object' ? {name: choice.function.name} : choice;
}

/** JSON that somebody wrote. @param source for the message @throws UsageError */
export function readJsonText(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${source} is no JSON: ${(cause as Error).message}`, {cause});
  }
}

/** @throws UsageError with the place of the first fault */
export function readFields<T>(schema: z.ZodType<T>, value: unknown, source: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const place = issue?.path.length ? ` at ${issue.path.join('.')}` : '';
  throw new UsageError(`${source} is wrong${place}: ${issue?.message}`, {cause: result.error});
}
