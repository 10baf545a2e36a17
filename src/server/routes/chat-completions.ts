/**
 * `POST /v1/chat/completions`: body to request, request to a generation, its outputs in chat's form.
 */
import type {FastifyReply, FastifyRequest} from 'fastify';
import type {Generation} from '../../core/llm.ts';
import {CHAT_FIELDS, type ChatCompletionRequest} from '../../core/protocol/openai/chat-completion.ts';
import {type AnswerForm, answerGeneration} from '../answer-generation.ts';
import {endpointHandler, type GenerationEndpoint} from '../generation-endpoint.ts';
import {IgnoredFields} from '../ignored-fields.ts';
import {ChatChunks} from '../openai/chat-chunks.ts';
import {chatContext} from '../openai/chat-context.ts';
import {WholeAnswer} from '../openai/chat-response.ts';
import {streamOptions} from '../openai/stream-options.ts';
import {createChatReader} from '../read-chat.ts';
import {answerId} from '../read-request.ts';
import {checkRequestPolicy} from '../request-policy.ts';
import type {RouteTable} from '../route-table.ts';
import type {ServerContext} from '../server-context.ts';

export function registerChatCompletions(routes: RouteTable, context: ServerContext): void {
  routes.add('POST', '/v1/chat/completions', endpointHandler(createChatEndpoint(context), context));
}

export function createChatEndpoint(context: ServerContext): GenerationEndpoint {
  const readChat = createChatReader(context);
  const ignoredFields = new IgnoredFields(context.logger, CHAT_FIELDS);
  return {
    open(body, request) {
      const chat = readChat(body, request);
      ignoredFields.report(body);
      return (reply) => {
        checkRequestPolicy(chat, context);
        return answerChat(request, reply, chat, context);
      };
    },
  };
}

function answerChat(
  request: FastifyRequest,
  reply: FastifyReply,
  chat: ChatCompletionRequest,
  context: ServerContext,
): Promise<FastifyReply> {
  const id = answerId('chatcmpl', request, chat);
  return answerGeneration(
    {
      request,
      reply,
      id,
      start: (options) => context.llm.startChat(chat, options),
      openForm: (generation) => chatForm(id, chat, generation, context),
    },
    context,
  );
}

function chatForm(id: string, chat: ChatCompletionRequest, generation: Generation, context: ServerContext): AnswerForm {
  const {options} = context;
  const answer = chatContext(id, chat, generation, context);
  if (chat.stream) return {stream: new ChatChunks(answer, chat.n, streamOptions(chat, options))};
  return {whole: new WholeAnswer(answer, chat.n, {withPromptDetails: options.enablePromptTokensDetails})};
}
