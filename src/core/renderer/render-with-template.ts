/**
 * A chat request through a chat template: template chosen, messages normalized, variables collected, template run. The
 * templates of the server run here; one that comes with a request runs in another process, where it can hold nobody up.
 */
import {ValidationError} from '../errors.ts';
import type {PromptSource} from '../model/prompt-parts.ts';
import type {Tokenizer} from '../model/tokenizer.ts';
import {writeJson} from '../util/write-json.ts';
import {type ChatTemplate, ChatTemplateCache} from './chat-template.ts';
import type {ContentFormat} from './content-parts.ts';
import {openFinalMessage} from './continue-final-message.ts';
import {createControlTokenEscape} from './control-token-escape.ts';
import {type ChatTemplates, chooseTemplate} from './find-chat-template.ts';
import {type ConversationMessage, normalizeMessages} from './normalize-messages.ts';
import type {RendererOptions, RenderRequest} from './renderer-options.ts';
import {TemplateProcesses} from './template-process/template-processes.ts';
import {templateVariables} from './template-variables.ts';

/** A template of the server or of a request. */
export interface OpenTemplate {
  readonly source: string;
  readonly contentFormat: ContentFormat;
  render(variables: Readonly<Record<string, unknown>>): string | Promise<string>;
}

interface Conversation {
  messages: readonly ConversationMessage[];
  variables: Record<string, unknown>;
}

/** As in the reference (VLLM_CHAT_TEMPLATE_RENDER_TIMEOUT). */
const defaultTimeoutSeconds = 30;

/** @returns what makes a prompt of a request; it throws ValidationError, TemplateError, GenerationError */
export function createTemplateRenderer(options: RendererOptions): (request: RenderRequest) => Promise<PromptSource> {
  const {renderTimeoutSeconds: timeoutSeconds = defaultTimeoutSeconds} = options;
  const templates = new ChatTemplateCache();
  const processes = new TemplateProcesses({timeoutSeconds});
  return async (request) => {
    checkHasMessages(request);
    const {source, isForeign} = findTemplate(request, options.templates);
    const template = isForeign ? await processes.open(source) : ownTemplate(templates.get(source), timeoutSeconds);
    return renderRequest(request, template, options);
  };
}

function ownTemplate({source, contentFormat, render}: ChatTemplate, timeoutSeconds: number): OpenTemplate {
  const limits = {timeoutMs: timeoutSeconds * 1000};
  return {source, contentFormat, render: (variables) => render(variables, {limits})};
}

function checkHasMessages({messages}: RenderRequest): void {
  if (messages.length > 0) return;
  throw new ValidationError('Cannot apply chat template to an empty conversation. Provide at least one message.');
}

/** @returns `isForeign`: the text came with the request */
function findTemplate(request: RenderRequest, templates: ChatTemplates): {source: string; isForeign: boolean} {
  const requested = requestedTemplate(request, templates);
  const source = chooseTemplate(templates, {requested, hasTools: request.tools !== null});
  return {source, isForeign: source === requested && source !== templates.override};
}

/**
 * A template that comes with the request; whether that is allowed was decided before. Empty counts as absent; one among
 * the template's variables gives way to the template of the server's command line.
 */
function requestedTemplate(request: RenderRequest, {override}: ChatTemplates): string | null {
  const fromKwargs = override === null ? request.chat_template_kwargs?.chat_template : null;
  return request.chat_template || (typeof fromKwargs === 'string' && fromKwargs) || null;
}

/** What a rendering needs besides request and template. */
export type TemplateRenderOptions = Pick<
  RendererOptions,
  'contentFormat' | 'defaultTemplateKwargs' | 'escapesControlTokens' | 'modelName'
> & {tokenizer: Pick<Tokenizer, 'specialTokens' | 'controlTokens'>};

/** @throws ValidationError, TemplateError, GenerationError */
export async function renderRequest(
  request: RenderRequest,
  template: OpenTemplate,
  options: TemplateRenderOptions,
): Promise<PromptSource> {
  const conversation = readConversation(request, template, options);
  if (!options.escapesControlTokens) return runTemplate(template, conversation, request);
  const {controlTokens} = options.tokenizer;
  const writtenText = writeJson([conversation.messages, conversation.variables]);
  const escaping = createControlTokenEscape(controlTokens, {template: template.source, writtenText});
  const {tools, documents, ...others} = conversation.variables;
  const protectedConversation = {
    messages: conversation.messages.map((message) =>
      escaping.protect(message, message.role === 'assistant' ? 'assistant' : 'user'),
    ),
    variables: {...others, tools: escaping.protect(tools, 'user'), documents: escaping.protect(documents, 'user')},
  };
  return escaping.toParts(await runTemplate(template, protectedConversation, request));
}

function readConversation(
  request: RenderRequest,
  template: OpenTemplate,
  options: TemplateRenderOptions,
): Conversation {
  const {contentFormat, defaultTemplateKwargs: kwargs, modelName, tokenizer} = options;
  const messages = normalizeMessages(request.messages, {
    contentFormat: contentFormat === 'auto' ? template.contentFormat : contentFormat,
    template: template.source,
    modelName,
  });
  return {messages, variables: templateVariables(request, {kwargs, specialTokens: tokenizer.specialTokens})};
}

async function runTemplate(
  template: OpenTemplate,
  {messages, variables}: Conversation,
  request: RenderRequest,
): Promise<string> {
  const render = (shown: readonly ConversationMessage[]) => template.render({messages: shown, ...variables});
  if (!request.continue_final_message) return render(messages);
  if (request.add_generation_prompt) {
    throw new ValidationError(
      'continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when you want ' +
        'the model to continue the final message, and add_generation_prompt when you want to add a header that will ' +
        'prompt it to start a new assistant message instead.',
    );
  }
  const open = openFinalMessage(messages, template.source);
  return open.cut(await render(open.messages));
}
