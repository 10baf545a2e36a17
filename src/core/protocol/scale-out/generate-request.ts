/**
 * The body of `POST /inference/v1/generate`: a prompt as token ids with the sampling parameters of an earlier render, and
 * the way from unknown JSON to it. The sampling fields come out in chat's form, so that the rest of the core knows one
 * form only (vllm/entrypoints/scale_out/token_in_token_out/protocol.py).
 */
import type * as z from 'zod';
import {isPlainObject} from '../../util/parse-json.ts';
import {
  type ChatCompletionRequest,
  parseChatCompletionRequest,
  repetitionDetectionSchema,
  streamOptionsSchema,
} from '../openai/chat-completion.ts';
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
  nullable,
  orDefault,
} from '../openai/lax-types.ts';
import {pythonRepr} from '../openai/python-repr.ts';
import {parseWithSchema, schemaError, valueFault} from '../openai/schema-errors.ts';
import {structuredOutputsSchema} from '../openai/structured-outputs.ts';

/** What the answer holds for each choice: ids, ids and text, or a chat message. */
const OUTPUT_MODES = ['tokens', 'text', 'derender'] as const;

export type OutputMode = (typeof OUTPUT_MODES)[number];

/** Where a field is absent, the default is that of the sampling parameters, not that of the server. */
const samplingParamsSchema = laxObject({
  n: orDefault(laxInt(), 1),
  presence_penalty: nullable(laxFloat()),
  frequency_penalty: nullable(laxFloat()),
  repetition_penalty: nullable(laxFloat()),
  temperature: nullable(laxFloat()),
  top_p: nullable(laxFloat()),
  top_k: nullable(laxInt()),
  min_p: nullable(laxFloat()),
  seed: nullable(laxInt64()),
  stop: nullable(laxUnion([laxString(), laxList(laxString())])),
  stop_token_ids: orDefault(laxList(laxInt()), []),
  ignore_eos: orDefault(laxBool(), false),
  max_tokens: nullable(laxInt()),
  min_tokens: orDefault(laxInt(), 0),
  logprobs: nullable(laxInt()),
  prompt_logprobs: nullable(laxInt()),
  logprob_token_ids: nullable(laxList(laxInt())),
  detokenize: orDefault(laxBool(), true),
  skip_special_tokens: orDefault(laxBool(), true),
  spaces_between_special_tokens: orDefault(laxBool(), true),
  include_stop_str_in_output: orDefault(laxBool(), false),
  stream_interval: nullable(laxInt({ge: 1})),
  structured_outputs: nullable(structuredOutputsSchema),
  logit_bias: nullable(laxMap(laxFloat())),
  allowed_token_ids: nullable(laxList(laxInt())),
  bad_words: orDefault(laxList(laxString()), []),
  thinking_token_budget: nullable(laxInt()),
  repetition_detection: nullable(repetitionDetectionSchema),
});

type GenerateSampling = z.output<typeof samplingParamsSchema>;

export const generateSchema = laxObject({
  request_id: laxString().optional(),
  token_ids: laxList(laxInt(), {min: 1}),
  sampling_params: samplingParamsSchema,
  model: nullable(laxString()),
  stream: orDefault(laxBool(), false),
  stream_options: nullable(streamOptionsSchema),
  output_mode: orDefault(laxLiteral(OUTPUT_MODES), 'tokens'),
  parse_context: nullable(laxDict()),
  reasoning_ended: nullable(laxBool()),
  return_token_ids: orDefault(laxBool(), false),
  cache_salt: nullable(laxString()),
  priority: orDefault(laxInt64().transform(Number), 0),
});

/** What the parsers of an answer need to know of the conversation. */
const PARSE_CONTEXT_KEYS = [
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'include_reasoning',
  'chat_template_kwargs',
  'history_tool_call_cnt',
];

export interface GenerateRequest {
  model: string | null;
  request_id: string | undefined;
  token_ids: number[];
  stream: boolean;
  stream_options: z.output<typeof streamOptionsSchema> | null;
  stream_interval: number | null;
  output_mode: OutputMode;
  parse_context: Record<string, unknown> | null;
  /** True: a constraint holds from the first token, whatever the parser of thoughts would say. */
  reasoning_ended: boolean | null;
  return_token_ids: boolean;
  priority: number;
  /** False: the tokens are not to be turned into text. */
  detokenize: boolean;
  /** The sampling parameters in chat's form. */
  sampling: ChatCompletionRequest;
}

/** Reads an unknown JSON value. @throws SchemaError, ValidationError */
export function parseGenerateRequest(body: unknown): GenerateRequest {
  checkTokenIds(body);
  const {sampling_params, cache_salt, ...fields} = parseWithSchema(generateSchema, body);
  checkParseContext(fields.output_mode, fields.parse_context);
  const shared = {cache_salt, priority: fields.priority, stream: fields.stream};
  return {
    ...fields,
    request_id: fields.request_id,
    stream_interval: sampling_params.stream_interval,
    detokenize: sampling_params.detokenize,
    sampling: {...toChatForm(sampling_params), ...shared},
  };
}

/** Negative ids are a fault of the list as a whole. */
function checkTokenIds(body: unknown): void {
  if (!isPlainObject(body) || !Array.isArray(body.token_ids)) return;
  const isNegative = (id: unknown) => typeof id === 'number' && id < 0;
  if (!body.token_ids.some(isNegative)) return;
  throw schemaError([valueFault(['token_ids'], body.token_ids, 'token_ids must not contain negative values')]);
}

/** Only the mode that parses the answer cares about keys that this version does not know. */
function checkParseContext(mode: OutputMode, context: Record<string, unknown> | null): void {
  if (mode !== 'derender' || context === null) return;
  const unknownKeys = Object.keys(context).filter((key) => !PARSE_CONTEXT_KEYS.includes(key));
  if (unknownKeys.length === 0) return;
  const message = `Unknown parse_context fields ${pythonRepr(unknownKeys)}; the render server is newer than this generate server`;
  throw schemaError([valueFault(['parse_context'], context, message)]);
}

/** Chat states logprobs as a switch and a count. */
function toChatForm({logprobs, detokenize: _always, ...sampling}: GenerateSampling): ChatCompletionRequest {
  return {
    ...parseChatCompletionRequest({messages: []}),
    ...sampling,
    logprobs: logprobs !== null,
    top_logprobs: logprobs ?? 0,
  };
}
