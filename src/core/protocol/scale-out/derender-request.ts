/**
 * The bodies of the derender routes: what another server generated, with the request that asked for it
 * (vllm/entrypoints/scale_out/token_in_token_out/protocol.py). Chunk by chunk is not offered: a stream that is to be read
 * here asks `/inference/v1/generate` for text.
 */
import type * as z from 'zod';
import {UnsupportedError, ValidationError} from '../../errors.ts';
import {isPlainObject} from '../../util/parse-json.ts';
import {
  laxDict,
  laxFloat,
  laxInt,
  laxList,
  laxLiteral,
  laxObject,
  laxString,
  laxUnion,
  nullable,
  orDefault,
} from '../openai/lax-types.ts';
import {parseWithSchema} from '../openai/schema-errors.ts';
import {logprobsOfPosition} from './wire-logprobs.ts';

/** Ends that the token route reports. */
const FINISH_REASONS = ['stop', 'length', 'abort', 'repetition'] as const;

const candidateShape = {token_id: laxInt({ge: 0}), logprob: laxFloat(), rank: nullable(laxInt())};

const positionSchema = laxObject({...candidateShape, top_logprobs: orDefault(laxList(laxObject(candidateShape)), [])});

const choiceSchema = laxObject({
  index: laxInt(),
  finish_reason: orDefault(laxLiteral(FINISH_REASONS), 'stop'),
  stop_reason: nullable(laxUnion([laxInt(), laxString()])),
  token_ids: orDefault(laxList(laxInt({ge: 0})), []),
  logprobs: nullable(laxObject({content: nullable(laxList(positionSchema))})),
});

const tokenIdsSchema = laxList(laxInt({ge: 0}));

const generatedSchema = laxObject({
  request_id: nullable(laxString()),
  output_mode: orDefault(laxLiteral(['tokens']), 'tokens'),
  prompt_token_ids: nullable(tokenIdsSchema),
  choices: laxList(choiceSchema),
});

export const derenderChatSchema = laxObject({
  model: nullable(laxString()),
  generate_response: generatedSchema,
  prompt_tokens: nullable(laxInt()),
  prompt_token_ids: nullable(tokenIdsSchema),
  chat_request: nullable(laxDict()),
});

export const derenderCompletionSchema = laxObject({
  model: nullable(laxString()),
  generate_responses: laxList(generatedSchema),
  prompt_tokens: nullable(laxList(laxInt())),
  prompt_token_ids: nullable(laxList(nullable(tokenIdsSchema))),
  completion_request: nullable(laxDict()),
});

/** Of one position: the token that stands there, then the candidates. */
type RecordedLogprobs = ReturnType<typeof logprobsOfPosition>;

/** One finished choice of another server. */
export interface RecordedChoice {
  index: number;
  tokenIds: number[];
  finishReason: (typeof FINISH_REASONS)[number];
  stopReason: string | number | null;
  logprobs: RecordedLogprobs[] | null;
}

/** One answer of the token route. */
export interface GeneratedAnswer {
  /** Null when the body does not say. */
  requestId: string | null;
  /** Empty when nobody says. */
  promptTokenIds: number[];
  promptTokens: number;
  choices: RecordedChoice[];
}

export interface DerenderRequest {
  model: string | null;
  answers: GeneratedAnswer[];
  /** The body of the request that was rendered; null = only text is wanted. */
  request: Record<string, unknown> | null;
}

/** @throws SchemaError, UnsupportedError */
export function parseDerenderChat(body: unknown): DerenderRequest {
  refuseStream(body);
  const {model, chat_request, generate_response, prompt_tokens, prompt_token_ids} = parseWithSchema(
    derenderChatSchema,
    body,
  );
  return {model, request: chat_request, answers: [toAnswer(generate_response, prompt_token_ids, prompt_tokens)]};
}

/** One answer for each prompt. @throws SchemaError, ValidationError, UnsupportedError */
export function parseDerenderCompletion(body: unknown): DerenderRequest {
  refuseStream(body);
  const fields = parseWithSchema(derenderCompletionSchema, body);
  const {model, completion_request, generate_responses, prompt_tokens, prompt_token_ids} = fields;
  checkSameLength('prompt_tokens', prompt_tokens, generate_responses);
  checkSameLength('prompt_token_ids', prompt_token_ids, generate_responses);
  const answers = generate_responses.map((generated, index) =>
    toAnswer(generated, prompt_token_ids?.[index] ?? null, prompt_tokens?.[index] ?? null),
  );
  return {model, request: completion_request, answers};
}

function refuseStream(body: unknown): void {
  if (!isPlainObject(body) || body.stream !== true) return;
  throw new UnsupportedError('Derendering chunk by chunk is not supported by this server.');
}

function checkSameLength(name: string, list: unknown[] | null, responses: unknown[]): void {
  if (list === null || list.length === responses.length) return;
  throw new ValidationError(
    `${name} length (${list.length}) must equal generate_responses length (${responses.length})`,
  );
}

function toAnswer(
  generated: z.output<typeof generatedSchema>,
  tokenIds: number[] | null,
  promptTokens: number | null,
): GeneratedAnswer {
  const promptTokenIds = tokenIds ?? generated.prompt_token_ids ?? [];
  return {
    requestId: generated.request_id,
    promptTokenIds,
    promptTokens: promptTokens ?? promptTokenIds.length,
    choices: generated.choices.map(toRecordedChoice),
  };
}

function toRecordedChoice(choice: z.output<typeof choiceSchema>): RecordedChoice {
  return {
    index: choice.index,
    tokenIds: choice.token_ids,
    finishReason: choice.finish_reason,
    stopReason: choice.stop_reason,
    logprobs: choice.logprobs?.content?.map(logprobsOfPosition) ?? null,
  };
}
