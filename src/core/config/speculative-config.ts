/**
 * `--speculative-config`: the JSON object with vLLM's names (vllm/config/speculative.py), and what the engine makes of it.
 * Drafts come from the text itself (method `ngram`); methods that need another model or other weights are refused.
 */
import * as z from 'zod';
import {jsonFlag} from './json-flag.ts';

/** Checking more at once costs more than it can win. */
const mostDraftTokens = 16;
/** What vLLM takes when neither length is given. */
const defaultLookup = 5;

const lookupLength = z.int().min(1).max(64).optional();

const ngramSchema = z
  .strictObject({
    method: z.literal('ngram', {error: 'only the method "ngram", which needs no second model'}),
    num_speculative_tokens: z.int().min(1).max(mostDraftTokens),
    prompt_lookup_max: lookupLength,
    prompt_lookup_min: lookupLength,
  })
  .refine(
    (lengths) => lookupRange(lengths).min <= lookupRange(lengths).max,
    'prompt_lookup_min of at most prompt_lookup_max',
  );

export const speculativeConfigSchema = jsonFlag(ngramSchema);

export type SpeculativeConfig = z.infer<typeof speculativeConfigSchema>;

/** How drafts are found. */
export interface Speculation {
  /** Most tokens of one draft. */
  maxDraftTokens: number;
  /** So many last tokens, at least and at most, must have occurred before. */
  minMatch: number;
  maxMatch: number;
}

export function toSpeculation(config: SpeculativeConfig | null): Speculation | null {
  if (config === null) return null;
  const {min, max} = lookupRange(config);
  return {maxDraftTokens: config.num_speculative_tokens, minMatch: min, maxMatch: max};
}

interface LookupLengths {
  prompt_lookup_min?: number | undefined;
  prompt_lookup_max?: number | undefined;
}

/** One length stands for both. */
function lookupRange({prompt_lookup_min: min, prompt_lookup_max: max}: LookupLengths): {min: number; max: number} {
  return {min: min ?? max ?? defaultLookup, max: max ?? min ?? defaultLookup};
}
