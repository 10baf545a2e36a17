/**
 * `POST /v1/chat/completions`: body to request, request to a generation, its outputs in chat's form.
 */
import type {FastifyReply, FastifyRequest} from 'fastify';
import type {Generation} from '../../core/llm.ts';
import {
  CHAT_FIELDS,
  type ChatCompletionRequest,
  createChatRequestReader,
} from '../../core/protocol/openai/chat-completion.ts';
import {type AnswerForm, answerGeneration} from '../answer-generation.ts';
import {endpointHandler, type GenerationEndpoint, schemaLimits} from '../generation-endpoint.ts';
import {IgnoredFields} from '../ignored-fields.ts';
import type {AnswerContext} from '../openai/answer-context.ts';
import {ChatChunks} from '../openai/chat-chunks.ts';
import {echoedText} from '../openai/chat-echo.ts';
import type {LogprobsFormat} from '../openai/chat-logprobs.ts';
import {WholeAnswer} from '../openai/chat-response.ts';
import {requestMetrics} from '../openai/request-metrics.ts';
import {streamOptions} from '../openai/stream-options.ts';
import {answerId, withHeaderPriority} from '../read-request.ts';
import {checkRequestPolicy} from '../request-policy.ts';
import type {RouteTable} from '../route-table.ts';
import type {ServerOptions} from '../server-config.ts';
import type {ServerContext} from '../server-context.ts';
import {unixSeconds} from '../unix-seconds.ts';

export function registerChatCompletions(routes: RouteTable, context: ServerContext): void {
  routes.add('POST', '/v1/chat/completions', endpointHandler(createChatEndpoint(context), context));
}

export function createChatEndpoint(context: ServerContext): GenerationEndpoint {
  const readChat = createChatRequestReader(schemaLimits());
  const ignoredFields = new IgnoredFields(context.logger, CHAT_FIELDS);
  return {
    open(body, request) {
      const chat = withHeaderPriority(readChat(body), request);
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
  generation: Generation,
  {servedModelNames, systemFingerprint, options}: ServerContext,
): AnswerContext {
  const prompt = generation.prompts[0]!;
  const role = answerRole(chat, options);
  return {
    id,
    created: unixSeconds(),
    model: servedModelNames[0],
    role,
    echo: echoedText(chat, role),
    systemFingerprint,
    promptTokenIds: prompt.tokenIds,
    promptText: prompt.text,
    returnTokenIds: chat.return_token_ids,
    returnPromptText: chat.return_prompt_text,
    returnWeightVersions: chat.return_weight_versions,
    logprobs: logprobsFormat(chat, options),
    end: () => ({
      promptLogprobs: generation.promptLogprobs(prompt),
      metrics: options.enablePerRequestMetrics ? requestMetrics(generation.timing()) : null,
    }),
  };
}

/** Candidates that were asked for by id are all shown. */
function logprobsFormat(chat: ChatCompletionRequest, {returnTokensAsTokenIds}: ServerOptions): LogprobsFormat | null {
  if (!chat.logprobs) return null;
  const showsAll = chat.top_logprobs === -1 || (chat.logprob_token_ids ?? []).length > 0;
  return {
    maxCandidates: showsAll ? Number.POSITIVE_INFINITY : chat.top_logprobs,
    asTokenIds: chat.return_tokens_as_token_ids ?? returnTokensAsTokenIds,
  };
}

/** Without a generation prompt the model goes on in the role of the last message. */
function answerRole({add_generation_prompt, messages}: ChatCompletionRequest, {responseRole}: ServerOptions): string {
  return add_generation_prompt ? responseRole : (messages.at(-1)?.role ?? responseRole);
}
