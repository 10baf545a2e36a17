/**
 * `POST /v1/chat/completions`: body to request, request to a generation, its outputs in chat's form.
 */
import type {FastifyReply, FastifyRequest} from 'fastify';
import {OverloadedError} from '../../core/errors.ts';
import type {Generation} from '../../core/llm.ts';
import {
  type ChatCompletionRequest,
  type ChatRequestReader,
  createChatRequestReader,
  DEFAULT_MAX_STOP_STRINGS,
} from '../../core/protocol/openai/chat-completion.ts';
import {type AnswerForm, answerGeneration, SHUTDOWN_MESSAGE} from '../answer-generation.ts';
import {IgnoredFields} from '../ignored-fields.ts';
import type {AnswerContext} from '../openai/answer-context.ts';
import {ChatChunks} from '../openai/chat-chunks.ts';
import {WholeAnswer} from '../openai/chat-response.ts';
import {streamOptions} from '../openai/stream-options.ts';
import {answerId, readRequestBody, withHeaderPriority} from '../read-request.ts';
import {checkRequestPolicy} from '../request-policy.ts';
import type {RouteHandler, RouteTable} from '../route-table.ts';
import type {ServerOptions} from '../server-config.ts';
import type {ServerContext} from '../server-context.ts';
import {unixSeconds} from '../unix-seconds.ts';

export function registerChatCompletions(routes: RouteTable, context: ServerContext): void {
  routes.add('POST', '/v1/chat/completions', createChatHandler(context));
}

/** The handler by itself, for routes that behave like this one for some bodies. */
export function createChatHandler(context: ServerContext): RouteHandler {
  const readChat = createChatRequestReader({maxStopStrings: maxStopStrings()});
  const ignoredFields = new IgnoredFields(context.logger);
  return (request, reply) => {
    if (context.isStopping()) throw new OverloadedError(SHUTDOWN_MESSAGE);
    const chat = readChatRequest(request, readChat, ignoredFields);
    checkRequestPolicy(chat, context);
    return answerChat(request, reply, chat, context);
  };
}

function maxStopStrings(): number {
  return Number(process.env.VLLM_MAX_STOP_STRINGS) || DEFAULT_MAX_STOP_STRINGS;
}

function readChatRequest(
  request: FastifyRequest,
  readChat: ChatRequestReader,
  ignoredFields: IgnoredFields,
): ChatCompletionRequest {
  const body = readRequestBody(request);
  const chat = readChat(body);
  ignoredFields.report(body);
  return withHeaderPriority(chat, request);
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
      openForm: (generation) => chatForm(chat, answerContext(id, chat, generation, context), context),
    },
    context,
  );
}

function chatForm(chat: ChatCompletionRequest, answer: AnswerContext, {options}: ServerContext): AnswerForm {
  if (chat.stream) return {stream: new ChatChunks(answer, chat.n, streamOptions(chat, options))};
  const whole = new WholeAnswer(chat.n);
  const usageFormat = {withPromptDetails: options.enablePromptTokensDetails};
  return {
    whole: {
      push: (output) => whole.push(output),
      abort: () => whole.abort(),
      toResponse: (counts) => whole.toResponse(answer, counts, usageFormat),
    },
  };
}

function answerContext(
  id: string,
  chat: ChatCompletionRequest,
  {prompts}: Generation,
  {servedModelNames, systemFingerprint, options}: ServerContext,
): AnswerContext {
  return {
    id,
    created: unixSeconds(),
    model: servedModelNames[0],
    role: answerRole(chat, options),
    systemFingerprint,
    promptTokenIds: prompts[0]!.tokenIds,
    promptText: prompts[0]!.text,
    returnTokenIds: chat.return_token_ids,
    returnPromptText: chat.return_prompt_text,
    returnWeightVersions: chat.return_weight_versions,
  };
}

/** Without a generation prompt the model goes on in the role of the last message. */
function answerRole({add_generation_prompt, messages}: ChatCompletionRequest, {responseRole}: ServerOptions): string {
  return add_generation_prompt ? responseRole : (messages.at(-1)?.role ?? responseRole);
}
