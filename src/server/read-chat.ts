/**
 * How every chat route reads its conversation: the body's fields, then what the headers and the server's options put in
 * their place.
 */
import type {FastifyRequest} from 'fastify';
import {type ChatCompletionRequest, createChatRequestReader} from '../core/protocol/openai/chat-completion.ts';
import {schemaLimits} from './generation-endpoint.ts';
import {withHeaderPriority} from './read-request.ts';
import type {ServerOptions} from './server-config.ts';
import type {ServerContext} from './server-context.ts';

/** @throws SchemaError, ValidationError */
export type ChatReader = (body: unknown, request: FastifyRequest) => ChatCompletionRequest;

export function createChatReader({options}: ServerContext): ChatReader {
  const readChat = createChatRequestReader(schemaLimits());
  return (body, request) => withServerFields(readChat(body), request, options);
}

/** The priority of the header, and the reasoning effort that the server has for the one of the request. */
export function withServerFields(
  chat: ChatCompletionRequest,
  request: FastifyRequest,
  {reasoningEffortMap}: Pick<ServerOptions, 'reasoningEffortMap'>,
): ChatCompletionRequest {
  return withHeaderPriority(withMappedEffort(chat, reasoningEffortMap), request);
}

/** An effort that is no key stays (vllm/entrypoints/openai/chat_completion/serving.py). */
function withMappedEffort(
  chat: ChatCompletionRequest,
  map: ServerOptions['reasoningEffortMap'],
): ChatCompletionRequest {
  const {reasoning_effort: effort} = chat;
  if (map === null || effort === null || !Object.hasOwn(map, effort)) return chat;
  // The options were checked: every value is a text.
  return {...chat, reasoning_effort: map[effort] as string};
}
