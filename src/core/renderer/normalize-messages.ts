/**
 * Messages of a request to the conversation that a template reads: plain objects with known keys in a fixed order,
 * content in the template's format, tool arguments as objects, developer messages rewritten for templates that do not
 * know them. Follows vLLM's `vllm/entrypoints/chat_utils.py`.
 */
import {ValidationError} from '../errors.ts';
import type {ChatMessage, ContentPart} from '../protocol/openai/messages.ts';
import {isPlainObject, parseJson} from '../util/parse-json.ts';
import {type ContentFormat, formatContent, joinParts, type TemplatePart} from './content-parts.ts';

/** A message as a template sees it. Its keys are printed in this order by templates that dump messages. */
export interface ConversationMessage {
  role: string;
  content: string | TemplatePart[];
  tool_calls?: Record<string, unknown>[];
  reasoning?: unknown;
  reasoning_content?: unknown;
  tool_call_id?: unknown;
  name?: string;
  task?: string;
  tools?: unknown;
}

export interface NormalizeOptions {
  contentFormat: ContentFormat;
  /** Source of the template; decides whether developer messages stay. */
  template: string;
  /** Named in the error for a part that is no text. */
  modelName: string;
}

const billingHeader = 'x-anthropic-billing-header';

/** @throws ValidationError */
export function normalizeMessages(messages: readonly ChatMessage[], options: NormalizeOptions): ConversationMessage[] {
  const conversation = messages.map((message) => normalizeMessage(message, options));
  return rewriteDeveloperMessages(conversation, options.template);
}

function normalizeMessage(message: ChatMessage, options: NormalizeOptions): ConversationMessage {
  const {role} = message;
  return {
    role,
    content: normalizeContent(message, options),
    ...(role === 'assistant' ? assistantKeys(message) : {}),
    ...(role === 'tool' && isGiven(message.tool_call_id) ? {tool_call_id: message.tool_call_id} : {}),
    ...(typeof message.name === 'string' ? {name: message.name} : {}),
    ...(typeof message.task === 'string' ? {task: message.task} : {}),
    ...(role === 'developer' ? {tools: message.tools ?? null} : {}),
  };
}

function normalizeContent({role, content}: ChatMessage, options: NormalizeOptions): string | TemplatePart[] {
  const cleaned = role === 'system' ? withoutBillingHeader(content) : content;
  const formatted = formatContent(cleaned, options.contentFormat, options.modelName);
  const joins = role === 'tool' && Array.isArray(formatted) && formatted.every(({type}) => type === 'text');
  return joins ? formatted.map((part) => part.text).join('\n') : formatted;
}

/** A system text that opens with the billing line loses that line; a part that is only that line disappears. */
function withoutBillingHeader(content: ChatMessage['content']): ChatMessage['content'] {
  if (typeof content === 'string') return withoutBillingLine(content) ?? '';
  return content?.map(partWithoutBillingLine).filter((part) => part !== null);
}

function partWithoutBillingLine(part: ContentPart | string): ContentPart | string | null {
  if (typeof part === 'string') return withoutBillingLine(part);
  if (part.type !== 'text' || typeof part.text !== 'string') return part;
  const text = withoutBillingLine(part.text);
  return text === null ? null : {...part, text};
}

function withoutBillingLine(text: string): string | null {
  if (!text.startsWith(billingHeader)) return text;
  const end = text.indexOf('\n');
  return end < 0 ? null : text.slice(end + 1);
}

/** The old name `reasoning_content` counts when the new one is not set; templates get the text under both. */
function assistantKeys(message: ChatMessage): Partial<ConversationMessage> {
  const reasoning = message.reasoning ?? message.reasoning_content;
  const toolCalls = normalizeToolCalls(message.tool_calls);
  return {
    ...(toolCalls.length > 0 ? {tool_calls: toolCalls} : {}),
    ...(isGiven(reasoning) ? {reasoning, reasoning_content: reasoning} : {}),
  };
}

function normalizeToolCalls(toolCalls: unknown): Record<string, unknown>[] {
  if (!isGiven(toolCalls)) return [];
  if (!Array.isArray(toolCalls) || !toolCalls.every(isPlainObject)) {
    throw new ValidationError('assistant tool_calls entries must be objects.', {param: 'tool_calls'});
  }
  return toolCalls.map(normalizeToolCall);
}

function normalizeToolCall(call: Record<string, unknown>): Record<string, unknown> {
  const {id, function: called, type, ...others} = call;
  if (!isPlainObject(called) || (isGiven(type) && type !== 'function')) {
    throw new ValidationError("chat completions only support assistant tool_calls of type 'function'.", {
      param: 'tool_calls',
    });
  }
  const {arguments: callArguments, name, ...otherKeys} = called;
  return {
    ...(isGiven(id) ? {id} : {}),
    function: {arguments: parseArguments(callArguments), name, ...otherKeys},
    type: 'function',
    ...others,
  };
}

/** Arguments that are no JSON object become an empty one: a broken old call must not block the conversation. */
function parseArguments(callArguments: unknown): Record<string, unknown> {
  const value = typeof callArguments === 'string' ? parseJsonOrNull(callArguments) : callArguments;
  return isPlainObject(value) ? value : {};
}

function parseJsonOrNull(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

/** A template that never mentions the role gets one system message at the front instead. */
function rewriteDeveloperMessages(conversation: ConversationMessage[], template: string): ConversationMessage[] {
  const isKnown = template.includes('"developer"') || template.includes("'developer'");
  if (isKnown || !conversation.some(({role}) => role === 'developer')) return conversation;
  return mergeSystemMessages(conversation.map(developerToSystem));
}

function developerToSystem(message: ConversationMessage): ConversationMessage {
  if (message.role !== 'developer') return message;
  const {tools: _tools, ...others} = message;
  return {...others, role: 'system'};
}

function mergeSystemMessages(conversation: ConversationMessage[]): ConversationMessage[] {
  const systemMessages = conversation.filter(({role}) => role === 'system');
  const isAlreadyFirst = systemMessages.length === 1 && conversation[0] === systemMessages[0];
  if (isAlreadyFirst) return conversation;
  const content = systemMessages
    .map((message) => (typeof message.content === 'string' ? message.content : joinParts(message.content)))
    .filter((text) => text !== '')
    .join('\n\n');
  return [{role: 'system', content}, ...conversation.filter(({role}) => role !== 'system')];
}

function isGiven(value: unknown): boolean {
  return value !== null && value !== undefined;
}
