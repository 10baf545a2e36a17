/**
 * `--structured-outputs-config`: the JSON object with vLLM's names (vllm/config/structured_outputs.py). All backends of vLLM
 * mean the one that this program has; what a request states and what the server states both count.
 */
import * as z from 'zod';
import {jsonFlag} from './json-flag.ts';

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

export const structuredOutputsConfigSchema = jsonFlag(configSchema);

export type StructuredOutputsConfig = Pick<
  z.infer<typeof configSchema>,
  'disable_any_whitespace' | 'disable_additional_properties' | 'enable_in_reasoning'
>;
