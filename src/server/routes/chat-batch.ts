/** `POST /v1/chat/completions/batch`: one chat answer with a choice for each conversation. Never a stream. */
import type {FastifyReply, FastifyRequest} from 'fastify';
import type {Generation} from '../../core/llm.ts';
import {type ChatBatchRequest, createChatBatchReader} from '../../core/protocol/openai/chat-batch.ts';
import {CHAT_FIELDS} from '../../core/protocol/openai/chat-completion.ts';
import {answerGeneration, type WholeForm} from '../answer-generation.ts';
import {endpointHandler, type GenerationEndpoint, schemaLimits} from '../generation-endpoint.ts';
import {IgnoredFields} from '../ignored-fields.ts';
import {chatContext} from '../openai/chat-context.ts';
import {WholeAnswer} from '../openai/chat-response.ts';
import {withServerFields} from '../read-chat.ts';
import {answerId} from '../read-request.ts';
import {checkCapacity, checkRequestPolicy} from '../request-policy.ts';
import type {RouteTable} from '../route-table.ts';
import type {ServerContext} from '../server-context.ts';

export function registerChatBatch(routes: RouteTable, context: ServerContext): void {
  routes.add('POST', '/v1/chat/completions/batch', endpointHandler(createBatchEndpoint(context), context));
}

function createBatchEndpoint(context: ServerContext): GenerationEndpoint {
  const readBatch = createChatBatchReader(schemaLimits());
  const ignoredFields = new IgnoredFields(context.logger, CHAT_FIELDS);
  return {
    open(body, request) {
      const conversations = readBatch(body);
      ignoredFields.report(body);
      // As many as before, so at least one.
      const batch = conversations.map((chat) => withServerFields(chat, request, context.options)) as ChatBatchRequest;
      return (reply) => {
        checkRequestPolicy(batch[0], context);
        checkCapacity({n: batch.length}, context);
        return answerBatch(request, reply, batch, context);
      };
    },
  };
}

function answerBatch(
  request: FastifyRequest,
  reply: FastifyReply,
  batch: ChatBatchRequest,
  context: ServerContext,
): Promise<FastifyReply> {
  const id = answerId('chatcmpl', request, batch[0]);
  return answerGeneration(
    {
      request,
      reply,
      id,
      start: (options) => context.llm.startChatBatch(batch, options),
      openForm: (generation) => ({whole: batchForm(id, batch, generation, context)}),
    },
    context,
  );
}

/** There is no one prompt that the answer could show. */
function batchForm(id: string, batch: ChatBatchRequest, generation: Generation, context: ServerContext): WholeForm {
  const answer = chatContext(id, batch[0], generation, context);
  const whole = new WholeAnswer(answer, batch.length, {withPromptDetails: context.options.enablePromptTokensDetails});
  return {
    push: (output) => whole.push(output),
    abort: () => whole.abort(),
    toResponse: (counts) => ({
      ...whole.toResponse(counts),
      prompt_logprobs: null,
      prompt_token_ids: null,
      prompt_text: null,
    }),
  };
}
