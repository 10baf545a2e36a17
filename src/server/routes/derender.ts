/**
 * `POST /v1/chat/completions/derender` and `/v1/completions/derender`: an answer of the token route, here or elsewhere,
 * as the answer of the request that was rendered for it.
 */
import type {FastifyReply, FastifyRequest} from 'fastify';
import type {Recording} from '../../core/llm.ts';
import {createCompletionRequestReader, toSamplingRequest} from '../../core/protocol/openai/completion.ts';
import {
  type DerenderRequest,
  type GeneratedAnswer,
  parseDerenderChat,
  parseDerenderCompletion,
} from '../../core/protocol/scale-out/derender-request.ts';
import type {WholeForm} from '../answer-generation.ts';
import {schemaLimits} from '../generation-endpoint.ts';
import {chatContext} from '../openai/chat-context.ts';
import {pushOutputs} from '../openai/chat-outputs.ts';
import {WholeAnswer} from '../openai/chat-response.ts';
import {completionContext} from '../openai/completion-context.ts';
import {WholeCompletion} from '../openai/completion-response.ts';
import {createChatReader} from '../read-chat.ts';
import {answerId, readRequestBody} from '../read-request.ts';
import {checkModelName} from '../request-policy.ts';
import type {RouteHandler, RouteTable} from '../route-table.ts';
import {addScaleOutRoute} from '../scale-out/scale-out-route.ts';
import {sendJson} from '../send-json.ts';
import type {ServerContext} from '../server-context.ts';

export function registerDerender(routes: RouteTable, context: ServerContext): void {
  addScaleOutRoute(routes, '/v1/chat/completions/derender', createChatDerender(context), context);
  addScaleOutRoute(routes, '/v1/completions/derender', createCompletionDerender(context), context);
}

/** Without the request everything is written as a request of nothing but its messages would have it. */
function createChatDerender(context: ServerContext): RouteHandler {
  const readChat = createChatReader(context);
  return async (request, reply) => {
    const derender = parseDerenderChat(readRequestBody(request));
    checkModelName(derender, context);
    const [{choices}] = derender.answers;
    const chat = {...readChat(derender.request ?? {messages: []}, request), n: Math.max(1, choices.length)};
    const generation = context.llm.replayChat(chat, recordingsOf(derender));
    const answer = chatContext(idOf('chatcmpl', request, derender), chat, generation, context);
    const form = new WholeAnswer(answer, choices.length, {withPromptDetails: false});
    return answerWhole(reply, generation.events, form, derender.answers);
  };
}

function createCompletionDerender(context: ServerContext): RouteHandler {
  const readCompletion = createCompletionRequestReader(schemaLimits());
  return async (request, reply) => {
    const derender = parseDerenderCompletion(readRequestBody(request));
    checkModelName(derender, context);
    const completion = readCompletion(derender.request ?? {prompt: ' '});
    const n = Math.max(1, ...derender.answers.map(({choices}) => choices.length));
    const asked = {...completion, n};
    const generation = context.llm.replay(toSamplingRequest(asked), recordingsOf(derender));
    const answer = completionContext(idOf('cmpl', request, derender), asked, generation, context);
    return answerWhole(
      reply,
      generation.events,
      new WholeCompletion(answer, {withPromptDetails: false}),
      derender.answers,
    );
  };
}

function recordingsOf({answers}: DerenderRequest): Recording[] {
  return answers.map(({promptTokenIds, choices}) => ({prompt: {text: '', tokenIds: promptTokenIds}, choices}));
}

/** The token route puts its own name before the id that it was asked with. */
function idOf(prefix: string, request: FastifyRequest, {answers}: DerenderRequest): string {
  const given = answers[0]?.requestId?.replace(/^generate-tokens-/, '');
  return given?.startsWith(`${prefix}-`) ? given : answerId(prefix, request, {request_id: given});
}

async function answerWhole(
  reply: FastifyReply,
  events: Parameters<typeof pushOutputs>[0],
  form: WholeForm,
  answers: readonly GeneratedAnswer[],
): Promise<FastifyReply> {
  await pushOutputs(events, form);
  const promptTokens = answers.reduce((sum, answer) => sum + answer.promptTokens, 0);
  return sendJson(reply, 200, form.toResponse({promptTokens, cachedTokens: 0}));
}
