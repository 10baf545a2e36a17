/** The named schemas of the API description: bodies of requests as they are read, answers as they are written. */
import * as z from 'zod';
import {chatCompletionSchema, DEFAULT_MAX_STOP_STRINGS} from '../../core/protocol/openai/chat-completion.ts';
import {completionSchema} from '../../core/protocol/openai/completion.ts';
import {type JsonSchema, requestJsonSchema} from '../../core/protocol/openai/request-json-schema.ts';
import {detokenizeSchema, tokenizeChatSchema, tokenizePromptSchema} from '../../core/protocol/openai/tokenize.ts';
import {derenderChatSchema, derenderCompletionSchema} from '../../core/protocol/scale-out/derender-request.ts';
import {generateSchema} from '../../core/protocol/scale-out/generate-request.ts';
import {decisionsRequestSchema, systemOneRequestSchema} from '../routes/decisions.ts';
import * as answers from './answer-schemas.ts';

const limits = {maxStopStrings: DEFAULT_MAX_STOP_STRINGS};

/** Schemas of bodies, by the names of vLLM's classes. */
const REQUESTS = {
  ChatCompletionRequest: () => requestJsonSchema(chatCompletionSchema(limits)),
  BatchChatCompletionRequest: batchRequest,
  CompletionRequest: () => requestJsonSchema(completionSchema(limits)),
  TokenizeCompletionRequest: () => requestJsonSchema(tokenizePromptSchema),
  TokenizeChatRequest: () => requestJsonSchema(tokenizeChatSchema),
  DetokenizeRequest: () => requestJsonSchema(detokenizeSchema),
  GenerateRequest: () => requestJsonSchema(generateSchema),
  DerenderChatRequest: () => requestJsonSchema(derenderChatSchema),
  DerenderCompletionRequest: () => requestJsonSchema(derenderCompletionSchema),
  AbortRequestsRequest: (): JsonSchema => ({
    type: 'object',
    required: ['request_ids'],
    properties: {request_ids: {anyOf: [{type: 'string'}, {type: 'array', items: {type: 'string'}}]}},
  }),
  DecisionsRequest: () => requestJsonSchema(decisionsRequestSchema),
  SystemOneRequest: () => requestJsonSchema(systemOneRequestSchema),
};

const ANSWERS = {
  ChatCompletionResponse: answers.chatAnswer,
  ChatCompletionStreamResponse: answers.chatChunk,
  CompletionResponse: answers.completionAnswer,
  CompletionStreamResponse: answers.completionChunk,
  ModelList: answers.modelList,
  TokenizeResponse: answers.tokenizeAnswer,
  DetokenizeResponse: answers.detokenizeAnswer,
  GenerateResponse: answers.generateAnswer,
  RenderedRequest: answers.renderedRequest,
  RenderedRequests: answers.renderedRequest.array(),
  VersionResponse: answers.versionAnswer,
  LoadResponse: answers.loadAnswer,
  AnyObject: answers.anyObject,
  ErrorResponse: answers.errorAnswer,
  UnauthorizedResponse: answers.unauthorizedAnswer,
  FrameworkResponse: answers.frameworkAnswer,
};

export type RequestName = keyof typeof REQUESTS;
export type AnswerName = keyof typeof ANSWERS;

/** A chat request with a list of conversations. */
function batchRequest(): JsonSchema {
  const {properties, ...schema} = requestJsonSchema(chatCompletionSchema(limits));
  const messages: JsonSchema = {type: 'array', minItems: 1, items: properties?.messages ?? {}};
  return {...schema, properties: {...properties, messages}};
}

function answerJsonSchema(schema: z.ZodType): JsonSchema {
  const {$schema: _dialect, ...jsonSchema} = z.toJSONSchema(schema, {unrepresentable: 'any'});
  return jsonSchema;
}

/** All schemas by name, as `components.schemas` wants them. */
export function componentSchemas(): Record<string, JsonSchema> {
  const requests = Object.entries(REQUESTS).map(([name, describe]) => [name, describe()] as const);
  const answerEntries = Object.entries(ANSWERS).map(([name, schema]) => [name, answerJsonSchema(schema)] as const);
  return Object.fromEntries([...requests, ...answerEntries]);
}
