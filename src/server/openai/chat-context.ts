/** The facts of a chat answer, from its request and the server. */
import type {AnswerReader, Generation} from '../../core/llm.ts';
import type {ChatCompletionRequest} from '../../core/protocol/openai/chat-completion.ts';
import type {ServerOptions} from '../server-config.ts';
import type {ServerContext} from '../server-context.ts';
import {unixSeconds} from '../unix-seconds.ts';
import type {AnswerContext} from './answer-context.ts';
import type {ReadingForm} from './answer-reading.ts';
import {echoedText} from './chat-echo.ts';
import type {LogprobsFormat} from './chat-logprobs.ts';
import {requestMetrics} from './request-metrics.ts';

export function chatContext(
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
    returnWeightVersions: chat.return_weight_versions && !chat.use_beam_search,
    logprobs: logprobsFormat(chat, options),
    reading: readingForm(generation.reader(prompt), options),
    end: () => ({
      promptLogprobs: generation.promptLogprobs(prompt),
      metrics: options.enablePerRequestMetrics ? requestMetrics(generation.timing()) : null,
    }),
  };
}

export function readingForm(
  reader: AnswerReader | null,
  {reasoningContent}: Pick<ServerOptions, 'reasoningContent'>,
): ReadingForm | null {
  if (reader === null) return null;
  const {toolChoice, includeReasoning} = reader.context;
  const isNamed = typeof toolChoice === 'object';
  return {
    countsReasoning: reader.readsReasoning,
    hidesReasoning: reader.readsReasoning && !includeReasoning,
    repeatsReasoning: reasoningContent,
    calls: reader.readsForcedJson ? (isNamed ? 'named-json' : 'required-json') : 'markup',
    forcesCalls: isNamed || toolChoice === 'required',
    readWithoutCalls: (text) => reader.readWithoutCalls(text),
  };
}

/** Candidates that were asked for by id are all shown. */
function logprobsFormat(chat: ChatCompletionRequest, {returnTokensAsTokenIds}: ServerOptions): LogprobsFormat | null {
  if (!chat.logprobs) return null;
  const showsAll = chat.top_logprobs === -1 || (chat.logprob_token_ids ?? []).length > 0;
  return {
    maxCandidates: showsAll ? Number.POSITIVE_INFINITY : chat.top_logprobs,
    asTokenIds: chat.return_tokens_as_token_ids ?? returnTokensAsTokenIds,
    hidesBytes: chat.use_beam_search,
  };
}

/** Without a generation prompt the model goes on in the role of the last message. */
function answerRole({add_generation_prompt, messages}: ChatCompletionRequest, {responseRole}: ServerOptions): string {
  return add_generation_prompt ? responseRole : (messages.at(-1)?.role ?? responseRole);
}
