/**
 * The body of `POST /v1/completions`: prompts as text or token ids, and chat's sampling fields with a few defaults of
 * their own. Unknown keys are accepted and dropped.
 *
 * The fields stand in the order in which type errors are reported (vllm/entrypoints/openai/completion/protocol.py).
 */
import type * as z from 'zod';
import {type ChatSchemaLimits, chatCompletionShape, DEFAULT_MAX_STOP_STRINGS} from './chat-completion.ts';
import {checkCompletionBody} from './completion-before-checks.ts';
import {
  laxBool,
  laxInt,
  laxList,
  laxObject,
  laxString,
  laxUnion,
  nullable,
  orDefault,
  withDefault,
} from './lax-types.ts';
import {readGenerationBody} from './read-generation-body.ts';
import type {SamplingRequest} from './sampling-request.ts';

const DEFAULT_MAX_TOKENS = 16;

const tokenIds = laxList(laxInt({ge: 0}));
const promptSchema = laxUnion([tokenIds, laxList(tokenIds), laxString(), laxList(laxString())]);

function completionShape(limits: ChatSchemaLimits) {
  const chat = chatCompletionShape(limits);
  return {
    model: chat.model,
    prompt: nullable(promptSchema),
    echo: orDefault(laxBool(), false),
    frequency_penalty: chat.frequency_penalty,
    logit_bias: chat.logit_bias,
    logprobs: nullable(laxInt()),
    max_tokens: orDefault(laxInt(), DEFAULT_MAX_TOKENS),
    n: withDefault(laxInt(), 1),
    presence_penalty: chat.presence_penalty,
    seed: chat.seed,
    stop: chat.stop,
    stream: chat.stream,
    stream_options: chat.stream_options,
    suffix: nullable(laxString()),
    temperature: chat.temperature,
    top_p: chat.top_p,
    user: chat.user,
    use_beam_search: chat.use_beam_search,
    top_k: chat.top_k,
    min_p: chat.min_p,
    repetition_penalty: chat.repetition_penalty,
    watermarking: chat.watermarking,
    length_penalty: chat.length_penalty,
    stop_token_ids: chat.stop_token_ids,
    include_stop_str_in_output: chat.include_stop_str_in_output,
    ignore_eos: chat.ignore_eos,
    min_tokens: chat.min_tokens,
    skip_special_tokens: chat.skip_special_tokens,
    spaces_between_special_tokens: chat.spaces_between_special_tokens,
    truncate_prompt_tokens: chat.truncate_prompt_tokens,
    truncation_side: chat.truncation_side,
    allowed_token_ids: chat.allowed_token_ids,
    prompt_logprobs: chat.prompt_logprobs,
    logprob_token_ids: chat.logprob_token_ids,
    bad_words: chat.bad_words,
    thinking_token_budget: chat.thinking_token_budget,
    prompt_embeds: nullable(laxUnion([laxString(), laxList(laxString())])),
    add_special_tokens: withDefault(laxBool(), true),
    response_format: chat.response_format,
    structured_outputs: chat.structured_outputs,
    priority: chat.priority,
    request_id: chat.request_id,
    session_id: chat.session_id,
    return_tokens_as_token_ids: chat.return_tokens_as_token_ids,
    return_token_ids: chat.return_token_ids,
    routed_experts_prompt_start: chat.routed_experts_prompt_start,
    return_weight_versions: chat.return_weight_versions,
    cache_salt: chat.cache_salt,
    kv_transfer_params: chat.kv_transfer_params,
    ec_transfer_params: chat.ec_transfer_params,
    vllm_xargs: chat.vllm_xargs,
    repetition_detection: chat.repetition_detection,
    stream_interval: chat.stream_interval,
  };
}

export function completionSchema(limits: ChatSchemaLimits) {
  return laxObject(completionShape(limits));
}

/** Names of all known fields. */
export const COMPLETION_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(completionShape({maxStopStrings: DEFAULT_MAX_STOP_STRINGS})),
);

/** A completion request whose types are right. Null stands for "not given" where a server default may apply. */
export type CompletionRequest = z.output<ReturnType<typeof completionSchema>>;

/** Reads an unknown JSON value as a completion request. */
export type CompletionRequestReader = (body: unknown) => CompletionRequest;

/**
 * Builds the schema once; the reader then throws ValidationError when fields contradict each other (first fault only)
 * and SchemaError when types do not fit (all faults together).
 */
export function createCompletionRequestReader(limits: ChatSchemaLimits): CompletionRequestReader {
  const schema = completionSchema(limits);
  return (body) => readGenerationBody(schema, body, checkCompletionBody);
}

/** Reads a completion request with the usual limits. */
export const parseCompletionRequest = createCompletionRequestReader({maxStopStrings: DEFAULT_MAX_STOP_STRINGS});

/** A text, or token ids. */
export type CompletionPrompt = string | number[];

/** The prompts of a request, in order; none for an empty list. */
export function promptsOf({prompt}: Pick<CompletionRequest, 'prompt'>): CompletionPrompt[] {
  if (prompt === null) return [];
  if (typeof prompt === 'string') return [prompt];
  return isTokenIds(prompt) ? [prompt] : prompt;
}

/** An empty list counts as a list of prompts. */
function isTokenIds(prompt: number[] | number[][] | string[]): prompt is number[] {
  return typeof prompt[0] === 'number';
}

/** True when only the prompt is wanted back; the engine still makes one token. */
export function wantsPromptOnly({echo, max_tokens}: Pick<CompletionRequest, 'echo' | 'max_tokens'>): boolean {
  return echo && max_tokens === 0;
}

/**
 * The request in chat's terms. `echo` is about the form of the answer here, not about the sampling; with `logprobs` it
 * asks for those of the prompt.
 */
export function toSamplingRequest(request: CompletionRequest): SamplingRequest {
  const {logprobs, echo, prompt_logprobs} = request;
  return {
    ...request,
    logprobs: logprobs !== null,
    top_logprobs: logprobs ?? 0,
    prompt_logprobs: prompt_logprobs ?? (echo ? logprobs : null),
    max_tokens: wantsPromptOnly(request) ? 1 : request.max_tokens,
    max_completion_tokens: null,
    echo: false,
    kv_transfer_params: null,
  };
}
