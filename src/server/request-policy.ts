/**
 * What this server lets a well-formed chat request do, in the order of the reference: model name, engine and queue, then
 * features that are switched off or not there (steps 6 to 10 of the order of checks).
 */
import {EngineDeadError, NotFoundError, OverloadedError, ValidationError} from '../core/errors.ts';
import type {ChatCompletionRequest} from '../core/protocol/openai/chat-completion.ts';
import {refuseUnsupportedFields} from '../core/protocol/openai/unsupported-fields.ts';
import type {ServerContext} from './server-context.ts';

/** The texts of the reference; both queue limits answer before anything is rendered. */
const BUSY_MESSAGE =
  'The engine is currently busy and cannot accept new requests. Please try again later or on a different instance.';
const UNTRUSTED_TEMPLATE_MESSAGE =
  'Chat template is passed with request, but --trust-request-chat-template is not set. Refused request with untrusted chat template.';

/** Options that can run arbitrary amounts of media code; a text-only server never trusts them. */
const MEDIA_OPTIONS = [
  {param: 'media_io_kwargs', work: 'multimodal media loading'},
  {param: 'mm_processor_kwargs', work: 'multimodal preprocessing'},
] as const;

function checkModelName({model}: ChatCompletionRequest, {servedModelNames}: ServerContext): void {
  if (model === null || model === '' || servedModelNames.includes(model)) return;
  if (process.env.VLLM_SKIP_MODEL_NAME_VALIDATION === '1') return;
  throw new NotFoundError(`The model \`${model}\` does not exist. Valid aliases: ${servedModelNames.join(', ')}.`, {
    param: 'model',
    showsParameter: false,
  });
}

/** Every choice needs a place of its own. */
function checkCapacity({n}: ChatCompletionRequest, {llm, options}: ServerContext): void {
  if (!llm.isAlive()) throw new EngineDeadError('The engine is dead');
  const {maxNumQueuedReqs} = options;
  if (maxNumQueuedReqs !== null && llm.numOpenRequests() + n > maxNumQueuedReqs)
    throw new OverloadedError(BUSY_MESSAGE);
}

/** No tool parser can be configured yet, so a request that needs one gets the text about the missing flag. */
function checkToolAvailability({tool_choice: choice}: ChatCompletionRequest): void {
  if (choice === null || choice === 'none') return;
  if (choice === 'auto') {
    throw new ValidationError('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set');
  }
  const shown = choice === 'required' ? '"required"' : `function "${choice.function.name}"`;
  throw new ValidationError(`tool_choice=${shown} requires --tool-call-parser to be set`);
}

function checkTemplateTrust(request: ChatCompletionRequest, {options}: ServerContext): void {
  if (options.trustRequestChatTemplate) return;
  const hasTemplate = [request.chat_template, request.chat_template_kwargs?.chat_template].some(
    (template) => (template ?? null) !== null,
  );
  if (hasTemplate) throw new ValidationError(UNTRUSTED_TEMPLATE_MESSAGE);
}

function checkMediaOptions(request: ChatCompletionRequest): void {
  for (const {param, work} of MEDIA_OPTIONS) {
    if (Object.keys(request[param] ?? {}).length === 0) continue;
    throw new ValidationError(
      `Per-request ${param} are disabled by default because they can change ${work} resource usage. Start the server with --trust-request-mm-kwargs only when clients are trusted.`,
      {param},
    );
  }
}

/** @throws NotFoundError, EngineDeadError, OverloadedError, UnsupportedError, ValidationError */
export function checkRequestPolicy(request: ChatCompletionRequest, context: ServerContext): void {
  checkModelName(request, context);
  checkCapacity(request, context);
  checkToolAvailability(request);
  checkTemplateTrust(request, context);
  checkMediaOptions(request);
  refuseUnsupportedFields(request);
}
