/**
 * How each endpoint's request becomes prompts with resolved parameters: steps 11 to 15 of the reference's order of checks
 * (lengths, rendering, room left in the context, sampling parameters).
 */

import {AnswerReader, promptTail, toReadRequest} from './answer-reader.ts';
import {ValidationError} from './errors.ts';
import {
  type Generation,
  type GenerationOptions,
  type GenerationParts,
  type PreparedPrompt,
  resolvePrompt,
  startGeneration,
} from './generation.ts';
import type {ChatCompletionRequest} from './protocol/openai/chat-completion.ts';
import {type CompletionRequest, promptsOf, toSamplingRequest} from './protocol/openai/completion.ts';
import type {RenderedPrompt} from './renderer/render-chat.ts';
import {renderPrompt} from './renderer/render-prompt.ts';
import {transferredPrompt} from './renderer/transferred-prompt.ts';
import {checkRequestLengths} from './sampling/resolve-max-tokens.ts';

/** At least one conversation. */
export type ChatBatch = readonly [ChatCompletionRequest, ...ChatCompletionRequest[]];

/**
 * One conversation, or several with the same parameters.
 * @param requests they differ in their messages only
 * @throws ValidationError, TemplateError
 */
export async function prepareChat(
  requests: ChatBatch,
  parts: GenerationParts,
  options: GenerationOptions,
): Promise<Generation> {
  // As many as before, so at least one.
  const seen = requests.map(withoutUnseenLogprobs) as [ChatCompletionRequest, ...ChatCompletionRequest[]];
  return startGeneration(seen[0], await resolveChat(seen, parts), parts, options);
}

/** A chat stream has no place for the prompt's logprobs, and computing them would cost the reuse of its prefix. */
function withoutUnseenLogprobs(request: ChatCompletionRequest): ChatCompletionRequest {
  return request.stream ? {...request, prompt_logprobs: null} : request;
}

/** The prompts of conversations with their parameters, one for each. @throws ValidationError, TemplateError */
export async function resolveChat(requests: ChatBatch, parts: GenerationParts): Promise<PreparedPrompt[]> {
  checkRequestLengths(requests[0], parts.engine.info.maxModelLen);
  const prompts = await Promise.all(requests.map((request) => renderConversation(request, parts)));
  return prompts.map((prompt, index) => readPrompt(requests[index]!, resolvePrompt(requests[0], prompt, parts), parts));
}

/** The answers to a conversation go through the parsers of the server. */
function readPrompt(request: ChatCompletionRequest, prepared: PreparedPrompt, parts: GenerationParts): PreparedPrompt {
  const reader = createReader(request, prepared.prompt, parts);
  if (reader === null) return prepared;
  const {resolved} = prepared;
  return {...prepared, reader, resolved: {...resolved, text: reader.textParams(resolved.text, parts.tokenizer)}};
}

/** Null on a server that reads nothing out of its answers. */
export function createReader(
  request: ChatCompletionRequest,
  prompt: RenderedPrompt,
  {formats, renderer, tokenizer}: Pick<GenerationParts, 'formats' | 'renderer' | 'tokenizer'>,
): AnswerReader | null {
  if (!formats) return null;
  return new AnswerReader(
    formats,
    toReadRequest(request, renderer.templateKwargs(request)),
    promptTail(prompt, tokenizer),
    tokenizer,
  );
}

function renderConversation(request: ChatCompletionRequest, {renderer, tokenizer, engine}: GenerationParts) {
  const {vocabSize, maxModelLen} = engine.info;
  const tokenIds = transferredPrompt(request, vocabSize);
  if (tokenIds === null) return renderer.renderChat(request);
  const max_tokens = request.max_completion_tokens ?? request.max_tokens;
  return renderPrompt(tokenIds, {...request, max_tokens}, {tokenizer, maxModelLen});
}

/**
 * All prompts of a request.
 * @throws ValidationError
 */
export async function prepareCompletion(
  request: CompletionRequest,
  parts: GenerationParts,
  options: GenerationOptions,
): Promise<Generation> {
  return startGeneration(toSamplingRequest(request), await resolveCompletion(request, parts), parts, options);
}

/** The prompts of a request with their parameters. @throws ValidationError */
export async function resolveCompletion(request: CompletionRequest, parts: GenerationParts): Promise<PreparedPrompt[]> {
  const {tokenizer, engine} = parts;
  const {maxModelLen} = engine.info;
  const sampling = toSamplingRequest(request);
  const given = promptsOf(request);
  if (given.length === 0) throw new ValidationError('You must pass at least one prompt', {param: 'prompt'});
  checkRequestLengths(sampling, maxModelLen);
  const prompts = await Promise.all(given.map((prompt) => renderPrompt(prompt, request, {tokenizer, maxModelLen})));
  return prompts.map((prompt) => resolvePrompt(sampling, prompt, parts));
}
