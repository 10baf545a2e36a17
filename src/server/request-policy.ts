/**
 * What this server lets a well-formed request do, in the order of the reference: model name, engine and queue, then
 * features that are switched off or not there (steps 6 to 10 of the order of checks).
 */
import {EngineDeadError, NotFoundError, OverloadedError, ValidationError} from '../core/errors.ts';
import type {ChatCompletionRequest} from '../core/protocol/openai/chat-completion.ts';
import {type CompletionRequest, promptsOf} from '../core/protocol/openai/completion.ts';
import type {ServerContext} from './server-context.ts';

/** The texts of the reference; both queue limits answer before anything is rendered. */
const BACKLOG_MESSAGE =
  'The engine has reached its prefill token backlog limit. Please try again later or on a different instance.';
const BUSY_MESSAGE =
  'The engine is currently busy and cannot accept new requests. Please try again later or on a different instance.';
const UNTRUSTED_TEMPLATE_MESSAGE =
  'Chat template is passed with request, but --trust-request-chat-template is not set. Refused request with untrusted chat template.';

/** Options that can run arbitrary amounts of media code. */
const MEDIA_OPTIONS = [
  {param: 'media_io_kwargs', work: 'multimodal media loading'},
  {param: 'mm_processor_kwargs', work: 'multimodal preprocessing'},
] as const;

/** @throws NotFoundError */
export function checkModelName({model}: {model: string | null}, {servedModelNames}: ServerContext): void {
  if (model === null || model === '' || servedModelNames.includes(model)) return;
  if (process.env.VLLM_SKIP_MODEL_NAME_VALIDATION === '1') return;
  throw new NotFoundError(`The model \`${model}\` does not exist. Valid aliases: ${servedModelNames.join(', ')}.`, {
    param: 'model',
    showsParameter: false,
  });
}

/** @param n every choice needs a place of its own @throws EngineDeadError, OverloadedError */
export function checkCapacity({n}: {n: number}, {llm, options, rejections}: ServerContext): void {
  if (!llm.isAlive()) throw new EngineDeadError('The engine is dead');
  const {maxNumQueuedReqs, maxNumQueuedTokens} = options;
  if (maxNumQueuedReqs !== null && llm.numOpenRequests() + n > maxNumQueuedReqs) {
    rejections.tell('max_num_queued_reqs');
    throw new OverloadedError(BUSY_MESSAGE);
  }
  if (maxNumQueuedTokens !== null && llm.numBacklogTokens() >= maxNumQueuedTokens) {
    rejections.tell('max_num_queued_tokens');
    throw new OverloadedError(BACKLOG_MESSAGE);
  }
}

/** A request that may call tools needs a parser of calls. */
function checkToolAvailability({tool_choice: choice}: ChatCompletionRequest, {llm}: ServerContext): void {
  if (choice === null || choice === 'none' || llm.readsToolCalls) return;
  if (choice === 'auto') {
    throw new ValidationError('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set');
  }
  const shown = choice === 'required' ? '"required"' : `function "${choice.function.name}"`;
  throw new ValidationError(`tool_choice=${shown} requires --tool-call-parser to be set`);
}

/** Null counts as absent, an empty text does not. @throws ValidationError */
export function checkTemplateTrust(
  request: Pick<ChatCompletionRequest, 'chat_template' | 'chat_template_kwargs'>,
  {options}: ServerContext,
): void {
  if (options.trustRequestChatTemplate) return;
  const hasTemplate = [request.chat_template, request.chat_template_kwargs?.chat_template].some(
    (template) => (template ?? null) !== null,
  );
  if (hasTemplate) throw new ValidationError(UNTRUSTED_TEMPLATE_MESSAGE);
}

/** @throws ValidationError */
export function checkMediaOptions(
  request: Pick<ChatCompletionRequest, 'media_io_kwargs' | 'mm_processor_kwargs'>,
  {options}: ServerContext,
): void {
  if (options.trustRequestMmKwargs) return;
  for (const {param, work} of MEDIA_OPTIONS) {
    if (Object.keys(request[param] ?? {}).length === 0) continue;
    throw new ValidationError(
      `Per-request ${param} are disabled by default because they can change ${work} resource usage. Start the server with --trust-request-mm-kwargs only when clients are trusted.`,
      {param},
    );
  }
}

/** @throws NotFoundError, EngineDeadError, OverloadedError, ValidationError */
export function checkRequestPolicy(request: ChatCompletionRequest, context: ServerContext): void {
  checkModelName(request, context);
  checkCapacity(request, context);
  checkChatOptions(request, context);
}

function checkChatOptions(request: ChatCompletionRequest, context: ServerContext): void {
  checkToolAvailability(request, context);
  checkTemplateTrust(request, context);
  checkMediaOptions(request, context);
}

/** For a chat request that is only rendered: the engine and what it can do do not matter. */
export function checkRenderPolicy(request: ChatCompletionRequest, context: ServerContext): void {
  checkModelName(request, context);
  checkChatOptions(request, context);
}

/** The same for a completion request. */
export function checkCompletionPolicy(request: CompletionRequest, context: ServerContext): void {
  checkModelName(request, context);
  checkCapacity({n: request.n * promptsOf(request).length}, context);
  checkCompletionOptions(request);
  if (request.stream && request.use_beam_search) {
    throw new ValidationError('Streaming is not currently supported with beam search');
  }
}

/** For a completion request that is only rendered. */
export function checkCompletionRenderPolicy(request: CompletionRequest, context: ServerContext): void {
  checkModelName(request, context);
  checkCompletionOptions(request);
}

function checkCompletionOptions(request: CompletionRequest): void {
  checkSuffix(request);
  if (request.prompt_embeds !== null) {
    throw new ValidationError('You must set `--enable-prompt-embeds` to input `prompt_embeds`.', {
      param: 'prompt_embeds',
    });
  }
}

/** No model that this server runs was trained to fill in the middle. */
function checkSuffix({suffix, echo}: CompletionRequest): void {
  if (suffix === null) return;
  const message = echo
    ? 'Echo is unsupported with suffix.'
    : 'suffix is only supported for models with FIM completion rendering';
  throw new ValidationError(message, {param: 'suffix', showsParameter: false});
}
