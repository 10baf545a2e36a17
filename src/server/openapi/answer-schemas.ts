/**
 * The answers of the API as schemas, for its description. They describe what the answer builders of `server/openai`
 * write, exactly: a test reads recorded and own answers with them.
 */
import * as z from 'zod';

const integer = z.int();
const text = z.string();
const tokenIds = z.array(integer);
/** Keys of the reference that this server always answers with null. */
const empty = z.null();

export const errorAnswer = z.strictObject({
  error: z.strictObject({
    message: text,
    type: text.meta({description: 'Kind of the error, e.g. BadRequestError'}),
    param: text.nullable().meta({description: 'The field at fault'}),
    code: integer.meta({description: 'The HTTP status'}),
  }),
});

export const unauthorizedAnswer = z.strictObject({error: z.literal('Unauthorized')});

const usage = z.strictObject({
  prompt_tokens: integer,
  total_tokens: integer,
  completion_tokens: integer.meta({description: 'Over all choices, end tokens and hidden stop text included'}),
  prompt_tokens_details: z
    .strictObject({
      cached_tokens: integer,
      created_cache_tokens: integer.nullable(),
      multimodal_tokens: empty,
    })
    .nullable(),
  completion_tokens_details: z.strictObject({reasoning_tokens: integer}).nullable(),
});

const chunkUsage = z.strictObject({
  ...usage.omit({prompt_tokens_details: true, completion_tokens_details: true}).shape,
  prompt_tokens_details: z.strictObject({cached_tokens: integer, created_cache_tokens: integer.optional()}).optional(),
  completion_tokens_details: z.strictObject({reasoning_tokens: integer}).nullable().optional(),
});

const chatCandidate = z.strictObject({token: text, logprob: z.number(), bytes: z.array(integer).nullable()});

const chatLogprobs = z.strictObject({
  content: z.array(z.strictObject({...chatCandidate.shape, top_logprobs: z.array(chatCandidate)})),
});

const promptLogprobs = z.array(
  z
    .record(text, z.strictObject({logprob: z.number(), rank: integer.nullable(), decoded_token: text.nullable()}))
    .nullable(),
);

const weightVersions = z.array(z.strictObject({version: text, start: integer, end: integer}));

const requestMetrics = z.strictObject({
  time_to_first_token_ms: z.number().nullable(),
  generation_time_ms: z.number().nullable(),
  queue_time_ms: z.number().nullable(),
  mean_itl_ms: z.number().nullable(),
  tokens_per_second: z.number().nullable(),
  speculative_decoding: empty,
});

const toolCall = z.strictObject({
  id: text,
  type: z.literal('function'),
  function: z.strictObject({name: text, arguments: text.meta({description: 'JSON'})}),
});

const chatMessage = z.strictObject({
  role: text,
  content: text.nullable(),
  refusal: empty,
  annotations: empty,
  audio: empty,
  function_call: empty,
  tool_calls: z.array(toolCall).optional(),
  reasoning: text.nullable(),
});

/** How a choice ended. */
const ending = {
  finish_reason: text.nullable().meta({description: 'stop, length, tool_calls, repetition, abort or error'}),
  stop_reason: z.union([text, integer]).nullable().meta({description: 'The stop string or stop token id'}),
};

export const chatAnswer = z.strictObject({
  id: text,
  object: z.literal('chat.completion'),
  created: integer.meta({description: 'Unix time in seconds'}),
  model: text,
  choices: z.array(
    z.strictObject({
      index: integer,
      message: chatMessage,
      logprobs: chatLogprobs.nullable(),
      ...ending,
      token_ids: tokenIds.nullable(),
      routed_experts: empty,
      weight_versions: weightVersions.nullable(),
    }),
  ),
  service_tier: empty,
  system_fingerprint: text.nullable(),
  usage,
  prompt_logprobs: promptLogprobs.nullable(),
  prompt_token_ids: tokenIds.nullable(),
  prompt_text: text.nullable(),
  kv_transfer_params: empty,
  ec_transfer_params: empty,
  metrics: requestMetrics.nullable(),
});

const toolCallDelta = z.strictObject({
  id: text.nullable().optional(),
  type: z.literal('function').optional(),
  index: integer,
  function: z.strictObject({name: text.nullable().optional(), arguments: text.nullable().optional()}),
});

export const chatChunk = z.strictObject({
  id: text,
  object: z.literal('chat.completion.chunk'),
  created: integer,
  model: text,
  choices: z.array(
    z.strictObject({
      index: integer,
      delta: z.strictObject({
        role: text.optional(),
        content: text.nullable().optional(),
        reasoning: text.nullable().optional(),
        tool_calls: z.array(toolCallDelta).optional(),
      }),
      logprobs: chatLogprobs.nullable(),
      finish_reason: text.nullable(),
      stop_reason: z.union([text, integer]).nullable().optional(),
      token_ids: tokenIds.nullable().optional(),
      weight_versions: weightVersions.nullable().optional(),
    }),
  ),
  usage: chunkUsage.optional(),
  system_fingerprint: text.optional(),
  prompt_token_ids: tokenIds.nullable().optional(),
  prompt_text: text.nullable().optional(),
  metrics: requestMetrics.optional(),
});

const completionLogprobs = z.strictObject({
  text_offset: z.array(integer),
  token_logprobs: z.array(z.number().nullable()),
  tokens: z.array(text),
  top_logprobs: z.array(z.record(text, z.number()).nullable()),
});

export const completionAnswer = z.strictObject({
  id: text,
  object: z.literal('text_completion'),
  created: integer,
  model: text,
  choices: z.array(
    z.strictObject({
      index: integer,
      text,
      logprobs: completionLogprobs.nullable(),
      ...ending,
      token_ids: tokenIds.nullable(),
      prompt_logprobs: promptLogprobs.nullable(),
      prompt_token_ids: tokenIds.nullable(),
      routed_experts: empty,
      weight_versions: weightVersions.nullable(),
    }),
  ),
  service_tier: empty,
  system_fingerprint: text.nullable(),
  usage,
  kv_transfer_params: empty,
  ec_transfer_params: empty,
  metrics: requestMetrics.nullable(),
});

export const completionChunk = z.strictObject({
  id: text,
  object: z.literal('text_completion'),
  created: integer,
  model: text,
  choices: z.array(
    z.strictObject({
      index: integer,
      text,
      logprobs: completionLogprobs.nullable(),
      finish_reason: text.nullable(),
      stop_reason: z.union([text, integer]).nullable().optional(),
      prompt_token_ids: tokenIds.nullable().optional(),
      token_ids: tokenIds.nullable().optional(),
      weight_versions: weightVersions.nullable().optional(),
    }),
  ),
  usage: chunkUsage.nullable().optional(),
  system_fingerprint: text.optional(),
  metrics: requestMetrics.optional(),
});

const permission = z.strictObject({
  id: text,
  object: z.literal('model_permission'),
  created: integer,
  allow_create_engine: z.boolean(),
  allow_sampling: z.boolean(),
  allow_logprobs: z.boolean(),
  allow_search_indices: z.boolean(),
  allow_view: z.boolean(),
  allow_fine_tuning: z.boolean(),
  organization: text,
  group: empty,
  is_blocking: z.boolean(),
});

export const modelList = z.strictObject({
  object: z.literal('list'),
  data: z.array(
    z.strictObject({
      id: text,
      object: z.literal('model'),
      created: integer,
      owned_by: text,
      root: text,
      parent: empty,
      max_model_len: integer,
      permission: z.array(permission),
    }),
  ),
});

export const tokenizeAnswer = z.strictObject({
  count: integer,
  max_model_len: integer,
  tokens: tokenIds,
  token_strs: z.array(text).nullable().meta({description: 'Entries of the vocabulary, not decoded text'}),
});

export const detokenizeAnswer = z.strictObject({prompt: text});

const generateCandidate = z.strictObject({token_id: integer, logprob: z.number(), rank: integer.nullable()});

export const generateAnswer = z.strictObject({
  request_id: text,
  model: text,
  created: integer,
  usage,
  prompt_logprobs: promptLogprobs.nullable(),
  prompt_token_id_logprobs: z.unknown(),
  prompt_token_ids: tokenIds.nullable(),
  mm_placeholders: empty,
  metrics: requestMetrics.nullable(),
  kv_transfer_params: empty,
  ec_transfer_params: empty,
  output_mode: z.enum(['tokens', 'text', 'derender']),
  choices: z.array(
    z.strictObject({
      index: integer,
      ...ending,
      token_ids: tokenIds.nullable(),
      routed_experts: empty,
      sampling_mask: empty,
      weight_versions: weightVersions.nullable(),
      text: text.optional(),
      message: chatMessage.optional(),
      logprobs: z
        .union([
          z.strictObject({
            content: z.array(z.strictObject({...generateCandidate.shape, top_logprobs: z.array(generateCandidate)})),
          }),
          chatLogprobs,
        ])
        .nullable(),
    }),
  ),
});

export const renderedRequest = z.strictObject({
  request_id: text,
  token_ids: tokenIds,
  token_offsets: z.array(z.array(integer).length(2)).nullable(),
  features: empty,
  content_parts: empty,
  sampling_params: z.record(text, z.unknown()),
  model: text.nullable(),
  reasoning_ended: z.boolean().nullable(),
  reasoning_parser_kwargs: z.record(text, z.unknown()).nullable(),
  return_token_ids: z.boolean().nullable(),
  output_mode: text,
  parse_context: z.record(text, z.unknown()).nullable(),
  stream: z.boolean().nullable(),
  stream_options: z.record(text, z.unknown()).nullable(),
  cache_salt: text.nullable(),
  priority: integer,
  kv_transfer_params: z.record(text, z.unknown()).nullable(),
  ec_transfer_params: z.record(text, z.unknown()).nullable(),
});

export const versionAnswer = z.strictObject({version: text});
export const loadAnswer = z.strictObject({server_load: integer});
export const frameworkAnswer = z.strictObject({detail: text});
export const anyObject = z.record(text, z.unknown());
