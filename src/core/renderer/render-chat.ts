/**
 * A chat request to the prompt that the model gets: template chosen, messages normalized, template run, text tokenized
 * and checked against the context length. The order of the steps decides which error a bad request gets.
 */
import {ValidationError} from '../errors.ts';
import type {Tokenizer} from '../model/tokenizer.ts';
import type {ChatCompletionRequest} from '../protocol/openai/chat-completion.ts';
import {type ChatTemplate, ChatTemplateCache} from './chat-template.ts';
import type {ContentFormat} from './content-parts.ts';
import {renderOpenConversation} from './continue-final-message.ts';
import {encodePrompt, promptOffsets} from './encode-prompt.ts';
import {type ChatTemplates, chooseTemplate} from './find-chat-template.ts';
import {type ConversationMessage, normalizeMessages} from './normalize-messages.ts';
import {type TemplateRequest, templateKwargs, templateVariables} from './template-variables.ts';

/** The fields of a chat request that decide its prompt. */
export type RenderRequest = TemplateRequest &
  Pick<
    ChatCompletionRequest,
    | 'messages'
    | 'chat_template'
    | 'continue_final_message'
    | 'add_special_tokens'
    | 'truncate_prompt_tokens'
    | 'truncation_side'
    | 'max_tokens'
    | 'max_completion_tokens'
  > & {tool_choice?: ChatCompletionRequest['tool_choice']};

export interface RenderedPrompt {
  text: string;
  tokenIds: number[];
}

export interface RendererOptions {
  tokenizer: Tokenizer;
  templates: ChatTemplates;
  /** `auto` looks at how the template uses the content of messages. */
  contentFormat: ContentFormat | 'auto';
  /** Template variables that a request may override. */
  defaultTemplateKwargs: Readonly<Record<string, unknown>>;
  /** With tool choice `none` the template does not get the tools. */
  hidesUnusedTools?: boolean;
  /** First served name; errors show it. */
  modelName: string;
  maxModelLen: number;
}

export interface Renderer {
  /** @throws ValidationError, TemplateError */
  renderChat(request: RenderRequest): Promise<RenderedPrompt>;
  /**
   * The text alone, of any length.
   * @throws ValidationError, TemplateError
   */
  renderChatText(request: RenderRequest): string;
  /** The keyword arguments of the template, with the server's defaults. */
  templateKwargs(request: RenderRequest): Record<string, unknown>;
  /** Where the tokens of a rendered prompt stand in its text, `[start, end]` in code points. */
  tokenOffsets(request: RenderRequest, prompt: RenderedPrompt): Promise<[number, number][]>;
}

export function createRenderer(options: RendererOptions): Renderer {
  const cache = new ChatTemplateCache();
  const renderChatText = (request: RenderRequest) => renderText(withShownTools(request, options), options, cache);
  return {
    renderChatText,
    async renderChat(request) {
      const text = renderChatText(request);
      return {text, tokenIds: await encodePrompt(options.tokenizer, text, encodeOptions(request, options))};
    },
    templateKwargs: (request) => templateKwargs(request, options.defaultTemplateKwargs),
    tokenOffsets: (request, {text, tokenIds}) =>
      promptOffsets(options.tokenizer, text, {...encodeOptions(request, options), numTokens: tokenIds.length}),
  };
}

/** A request that wants no tool call may have its tools hidden from the template. */
function withShownTools(request: RenderRequest, {hidesUnusedTools}: RendererOptions): RenderRequest {
  return hidesUnusedTools && request.tool_choice === 'none' ? {...request, tools: null} : request;
}

function renderText(request: RenderRequest, options: RendererOptions, cache: ChatTemplateCache): string {
  if (request.messages.length === 0) {
    throw new ValidationError('Cannot apply chat template to an empty conversation. Provide at least one message.');
  }
  const source = chooseTemplate(options.templates, {
    requested: requestedTemplate(request, options.templates),
    hasTools: request.tools !== null,
  });
  const template = cache.get(source);
  const conversation = normalizeMessages(request.messages, {
    contentFormat: options.contentFormat === 'auto' ? template.contentFormat : options.contentFormat,
    template: template.source,
    modelName: options.modelName,
  });
  return runTemplate(template, conversation, request, options);
}

/**
 * A template that comes with the request; whether that is allowed was decided before. Empty counts as absent; one among
 * the template's variables gives way to the template of the server's command line.
 */
function requestedTemplate(request: RenderRequest, {override}: ChatTemplates): string | null {
  const fromKwargs = override === null ? request.chat_template_kwargs?.chat_template : null;
  return request.chat_template || (typeof fromKwargs === 'string' && fromKwargs) || null;
}

function runTemplate(
  template: ChatTemplate,
  conversation: readonly ConversationMessage[],
  request: RenderRequest,
  {defaultTemplateKwargs, tokenizer}: RendererOptions,
): string {
  const {specialTokens} = tokenizer;
  const variables = templateVariables(request, {kwargs: defaultTemplateKwargs, specialTokens});
  const render = (messages: readonly ConversationMessage[]) => template.render({messages, ...variables});
  if (!request.continue_final_message) return render(conversation);
  if (request.add_generation_prompt) {
    throw new ValidationError(
      'continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when you want ' +
        'the model to continue the final message, and add_generation_prompt when you want to add a header that will ' +
        'prompt it to start a new assistant message instead.',
    );
  }
  return renderOpenConversation(conversation, template.source, render);
}

function encodeOptions(request: RenderRequest, {maxModelLen}: RendererOptions) {
  return {
    maxModelLen,
    addSpecialTokens: request.add_special_tokens,
    keepTokens: tokensToKeep(request, maxModelLen),
    truncationSide: request.truncation_side,
  };
}

/** -1 leaves room for one token, unless the request wants none at all. */
export function tokensToKeep(
  request: Pick<RenderRequest, 'truncate_prompt_tokens' | 'max_completion_tokens' | 'max_tokens'>,
  maxModelLen: number,
): number | null {
  const {truncate_prompt_tokens: limit, max_completion_tokens, max_tokens} = request;
  if (limit !== -1) return limit;
  return (max_completion_tokens ?? max_tokens) === 0 ? maxModelLen : maxModelLen - 1;
}
