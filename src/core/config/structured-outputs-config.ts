/**
 * `--structured-outputs-config`: the JSON object with vLLM's names (vllm/config/structured_outputs.py). All backends of vLLM
 * mean the one that this program has; what a request states and what the server states both count.
 */
import * as z from 'zod';

const configSchema = z.strictObject({
  backend: z.enum(['auto', 'xgrammar', 'guidance', 'outlines', 'lm-format-enforcer']).default('auto'),
  disable_any_whitespace: z.boolean().default(false),
  disable_additional_properties: z.boolean().default(false),
  enable_in_reasoning: z.boolean().default(false),
  /** Has a flag of its own here. */
  reasoning_parser: z.literal('', {error: 'is said by --reasoning-parser'}).optional(),
  reasoning_parser_plugin: z.literal('', {error: 'is said by --reasoning-parser-plugin'}).optional(),
  /** Nothing to fall back to. */
  disable_fallback: z.boolean().optional(),
});

/** A flag takes any object; what is wrong inside is told with the name of the key. */
export const structuredOutputsConfigSchema = z.record(z.string(), z.unknown()).transform((value, context) => {
  const {data, error} = configSchema.safeParse(value);
  if (data) return data;
  for (const {path, message} of error.issues) {
    context.addIssue(path.length === 0 ? message : `${path.join('.')}: ${message}`);
  }
  return z.NEVER;
});

export type StructuredOutputsConfig = Pick<
  z.infer<typeof configSchema>,
  'disable_any_whitespace' | 'disable_additional_properties' | 'enable_in_reasoning'
>;
