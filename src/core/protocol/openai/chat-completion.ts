/**
 * The body of `POST /v1/chat/completions`: every field that the contract knows, with its lax type and its default, and
 * the way from unknown JSON to `ChatCompletionRequest`: checks across fields first (`chat-before-checks.ts`), then all
 * types together. Unknown keys are accepted and dropped; keys of messages are kept for the template.
 *
 * The fields stand in the order in which type errors are reported (vllm/entrypoints/openai/chat_completion/protocol.py).
 */
import type * as z from 'zod';
import {checkChatBody, prepareChatBody} from './chat-before-checks.ts';
import {chatMessageSchema} from './chat-message-schema.ts';
import {checkTransferParams} from './field-checks.ts';
import {
  laxBool,
  laxDict,
  laxFloat,
  laxInt,
  laxInt64,
  laxList,
  laxLiteral,
  laxMap,
  laxObject,
  laxString,
  laxUnion,
  laxWrittenFloat,
  laxWrittenInt,
  nullable,
  orDefault,
  withDefault,
} from './lax-types.ts';
import {readGenerationBody} from './read-generation-body.ts';
import {responseFormatSchema, structuredOutputsSchema} from './structured-outputs.ts';

/** Limit of stop strings unless `VLLM_MAX_STOP_STRINGS` says otherwise. */
export const DEFAULT_MAX_STOP_STRINGS = 4;

export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export function isReasoningEffort(text: string): boolean {
  return (REASONING_EFFORTS as readonly string[]).includes(text);
}

const functionSchema = laxObject({
  name: laxString(),
  description: nullable(laxString()),
  parameters: nullable(laxDict()),
  strict: nullable(laxBool()),
  defer_loading: nullable(laxBool()),
});

export const toolSchema = laxObject({
  type: withDefault(laxLiteral(['function']), 'function'),
  function: functionSchema,
  defer_loading: nullable(laxBool()),
});

export type ChatTool = z.output<typeof toolSchema>;

export const toolChoiceSchema = laxUnion([
  laxLiteral(['none']),
  laxLiteral(['auto']),
  laxLiteral(['required']),
  laxObject({
    type: withDefault(laxLiteral(['function']), 'function'),
    function: laxObject({name: laxString()}),
  }),
]);

export const streamOptionsSchema = laxObject({
  include_usage: orDefault(laxBool(), false),
  continuous_usage_stats: orDefault(laxBool(), false),
});

const extraScalars = [laxString(), laxWrittenInt(), laxWrittenFloat()] as const;
const extraArgumentSchema = laxUnion([...extraScalars, laxList(laxUnion(extraScalars))]);

export const repetitionDetectionSchema = laxObject({
  max_pattern_size: withDefault(laxInt(), 0),
  min_pattern_size: withDefault(laxInt(), 0),
  min_count: withDefault(laxInt(), 0),
});

/** Fields whose texts depend on settings of the process. */
export interface ChatSchemaLimits {
  maxStopStrings: number;
}

/** Other endpoints take their fields from here, in an order of their own. */
export function chatCompletionShape({maxStopStrings}: ChatSchemaLimits) {
  return {
    messages: laxList(chatMessageSchema),
    model: nullable(laxString()),
    frequency_penalty: nullable(laxFloat()),
    logit_bias: nullable(laxMap(laxFloat())),
    logprobs: orDefault(laxBool(), false),
    top_logprobs: orDefault(laxInt(), 0),
    max_tokens: nullable(laxInt()),
    max_completion_tokens: nullable(laxInt()),
    n: orDefault(laxInt(), 1),
    presence_penalty: nullable(laxFloat()),
    response_format: nullable(responseFormatSchema),
    seed: nullable(laxInt64()),
    stop: nullable(laxUnion([laxString(), laxList(laxString(), {max: maxStopStrings})])),
    stream: orDefault(laxBool(), false),
    stream_options: nullable(streamOptionsSchema),
    temperature: nullable(laxFloat()),
    top_p: nullable(laxFloat()),
    tools: nullable(laxList(toolSchema)),
    // Null is not `none`: with null the model may see the tools and its calls are dropped.
    tool_choice: toolChoiceSchema.nullable().default('none'),
    // Any text from here on: the server may put another in its place.
    reasoning_effort: nullable(laxLiteral(REASONING_EFFORTS).transform(String)),
    thinking_token_budget: nullable(laxInt()),
    include_reasoning: withDefault(laxBool(), true),
    parallel_tool_calls: orDefault(laxBool(), true),
    user: nullable(laxString()),
    use_beam_search: withDefault(laxBool(), false),
    top_k: nullable(laxInt()),
    min_p: nullable(laxFloat()),
    repetition_penalty: nullable(laxFloat()),
    watermarking: nullable(laxBool()),
    length_penalty: withDefault(laxFloat(), 1),
    stop_token_ids: orDefault(laxList(laxInt()), []),
    include_stop_str_in_output: withDefault(laxBool(), false),
    ignore_eos: withDefault(laxBool(), false),
    min_tokens: withDefault(laxInt(), 0),
    skip_special_tokens: nullable(laxBool()),
    spaces_between_special_tokens: withDefault(laxBool(), true),
    truncate_prompt_tokens: nullable(laxInt({ge: -1})),
    truncation_side: nullable(laxLiteral(['left', 'right'])),
    prompt_logprobs: nullable(laxInt()),
    logprob_token_ids: nullable(laxList(laxInt())),
    allowed_token_ids: nullable(laxList(laxInt())),
    bad_words: withDefault(laxList(laxString()), []),
    echo: withDefault(laxBool(), false),
    add_generation_prompt: withDefault(laxBool(), true),
    continue_final_message: withDefault(laxBool(), false),
    add_special_tokens: withDefault(laxBool(), false),
    documents: nullable(laxList(laxMap(laxString()))),
    chat_template: nullable(laxString()),
    chat_template_kwargs: nullable(laxDict()),
    media_io_kwargs: nullable(laxMap(laxDict())),
    mm_processor_kwargs: nullable(laxDict()),
    structured_outputs: nullable(structuredOutputsSchema),
    priority: withDefault(laxInt64().transform(Number), 0),
    request_id: laxString().optional(),
    session_id: nullable(laxString()),
    return_tokens_as_token_ids: nullable(laxBool()),
    return_token_ids: orDefault(laxBool(), false),
    routed_experts_prompt_start: withDefault(laxInt({ge: 0}), 0),
    return_token_offsets: orDefault(laxBool(), false),
    return_weight_versions: withDefault(laxBool(), false),
    return_prompt_text: orDefault(laxBool(), false),
    mm_payload: withDefault(laxLiteral(['tensors', 'none']), 'tensors'),
    cache_salt: nullable(laxString()),
    kv_transfer_params: nullable(laxDict()),
    ec_transfer_params: nullable(laxDict()),
    vllm_xargs: nullable(laxMap(extraArgumentSchema)),
    repetition_detection: nullable(repetitionDetectionSchema),
    stream_interval: nullable(laxInt({ge: 1})),
    // Ours: stop strings act on the answer only.
    stop_spares_reasoning: nullable(laxBool()),
  };
}

export function chatCompletionSchema(limits: ChatSchemaLimits) {
  return laxObject(chatCompletionShape(limits));
}

/** Names of all known fields. */
export const CHAT_FIELDS: ReadonlySet<string> = new Set(
  Object.keys(chatCompletionShape({maxStopStrings: DEFAULT_MAX_STOP_STRINGS})),
);

/** A chat request whose types are right. Null stands for "not given" where a server default may apply. */
export type ChatCompletionRequest = z.output<ReturnType<typeof chatCompletionSchema>>;

/** Reads an unknown JSON value as a chat request. */
export type ChatRequestReader = (body: unknown) => ChatCompletionRequest;

/**
 * Builds the schema once; the reader then throws ValidationError when fields contradict each other (first fault only)
 * and SchemaError when types do not fit (all faults together).
 */
export function createChatRequestReader(limits: ChatSchemaLimits): ChatRequestReader {
  const schema = chatCompletionSchema(limits);
  return (body) => {
    const request = readGenerationBody(schema, prepareChatBody(body), checkChatBody);
    checkTransferParams(request.kv_transfer_params);
    return {...request, prompt_logprobs: promptLogprobsOf(request)};
  };
}

/** Reads a chat request with the usual limits. */
export const parseChatCompletionRequest = createChatRequestReader({maxStopStrings: DEFAULT_MAX_STOP_STRINGS});

/** `echo` asks for the prompt's logprobs too (vllm/entrypoints/openai/chat_completion/protocol.py, to_sampling_params). */
function promptLogprobsOf({prompt_logprobs, echo, top_logprobs}: ChatCompletionRequest): number | null {
  return prompt_logprobs ?? (echo ? top_logprobs : null);
}

/** The stop strings of a request as a list. */
export function stopStringsOf(request: Pick<ChatCompletionRequest, 'stop'>): string[] {
  if (request.stop === null) return [];
  return typeof request.stop === 'string' ? [request.stop] : request.stop;
}
