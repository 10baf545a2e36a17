/**
 * A chat request as the messages of Harmony, the format of gpt-oss: a system message with the settings, a developer
 * message with instructions and tools, then the conversation with its channels. Follows vLLM's
 * `vllm/entrypoints/openai/parser/harmony_utils.py`.
 */
import {ValidationError} from '../../errors.ts';
import type {ChatMessage} from '../../protocol/openai/messages.ts';
import {isPlainObject} from '../../util/parse-json.ts';
import {writeJson} from '../../util/write-json.ts';
import {formatContent} from '../content-parts.ts';
import type {TemplateRequest} from '../template-variables.ts';
import {toolsSection} from './tool-types.ts';

export interface HarmonyMessage {
  /** `user`, `assistant`, `functions.NAME`, … */
  author: string;
  /** Whom a tool call or its result goes to. */
  recipient?: string;
  channel?: 'analysis' | 'commentary' | 'final';
  contentType?: 'json';
  /** Tokenized one by one. */
  texts: readonly string[];
}

export type HarmonyRequest = Pick<TemplateRequest, 'tools' | 'reasoning_effort'> & {messages: readonly ChatMessage[]};

export interface HarmonySettings {
  /** `YYYY-MM-DD` */
  date: string;
  /** Instructions go into the system message, not into a developer message. */
  hasSystemInstructions: boolean;
  /** Named in errors about images and sounds. */
  modelName: string;
}

const identity = 'You are ChatGPT, a large language model trained by OpenAI.';
const knowledgeCutoff = '2024-06';
const channelsLine = '# Valid channels: analysis, commentary, final. Channel must be included for every message.';
const toolsLine = "Calls to these tools must go to the commentary channel: 'functions'.";
const efforts = ['high', 'medium', 'low'];
const instructionRoles = ['system', 'developer'];

/** @throws ValidationError */
export function toHarmonyMessages(request: HarmonyRequest, settings: HarmonySettings): HarmonyMessage[] {
  const {instructions, conversation} = splitInstructions(request.messages, settings);
  const messages = [
    systemMessage(request, instructions, settings),
    ...developerMessage(request, settings.hasSystemInstructions ? '' : instructions),
    ...conversationMessages(conversation, settings),
  ];
  return withoutOldAnalysis(messages);
}

function splitInstructions([first, ...others]: readonly ChatMessage[], settings: HarmonySettings) {
  if (first === undefined) return {instructions: '', conversation: []};
  if (!instructionRoles.includes(first.role)) return {instructions: '', conversation: [first, ...others]};
  return {instructions: textsOf(first, settings).join(''), conversation: others};
}

function systemMessage(request: HarmonyRequest, instructions: string, settings: HarmonySettings): HarmonyMessage {
  const opening = settings.hasSystemInstructions && instructions !== '' ? `${identity}\n${instructions}` : identity;
  const channels = request.tools?.length ? `${channelsLine}\n${toolsLine}` : channelsLine;
  const sections = [
    `${opening}\nKnowledge cutoff: ${knowledgeCutoff}\nCurrent date: ${settings.date}`,
    `Reasoning: ${checkedEffort(request.reasoning_effort)}`,
    channels,
  ];
  return {author: 'system', texts: [sections.join('\n\n')]};
}

function checkedEffort(effort: string | null): string {
  if (effort === null) return 'medium';
  if (efforts.includes(effort)) return effort;
  const text =
    effort === 'none'
      ? "Harmony does not support reasoning_effort='none'"
      : `reasoning_effort='${effort}' is not supported by Harmony. Supported values are: ${efforts.join(', ')}.`;
  throw new ValidationError(text, {param: 'reasoning_effort'});
}

/** Nothing without instructions and tools. */
function developerMessage({tools}: HarmonyRequest, instructions: string): HarmonyMessage[] {
  const sections = [
    ...(instructions === '' ? [] : [instructionsSection(instructions)]),
    ...(tools?.length ? [toolsSection(tools)] : []),
  ];
  return sections.length === 0 ? [] : [{author: 'developer', texts: [sections.join('\n\n')]}];
}

function instructionsSection(instructions: string): string {
  return `# Instructions\n\n${instructions}`;
}

function conversationMessages(messages: readonly ChatMessage[], settings: HarmonySettings): HarmonyMessage[] {
  const functionNames = new Map<unknown, string>();
  return messages.flatMap((message) => {
    for (const {id, name} of callsOf(message)) functionNames.set(id, name);
    return toMessages(message, functionNames, settings);
  });
}

function toMessages(
  message: ChatMessage,
  functionNames: ReadonlyMap<unknown, string>,
  settings: HarmonySettings,
): HarmonyMessage[] {
  const texts = textsOf(message, settings);
  switch (message.role) {
    case 'user':
      return [{author: 'user', texts}];
    case 'system':
    case 'developer':
      return [{author: 'developer', texts: [instructionsSection(texts.join(''))]}];
    case 'tool':
      return [toolResult(functionNames.get(message.tool_call_id) ?? '', texts.join(''))];
    case 'assistant':
      return assistantMessages(message, texts);
    default:
      throw new ValidationError(
        `Harmony knows no role '${message.role}'. Supported roles are: assistant, developer, system, tool, user.`,
        {param: 'messages'},
      );
  }
}

function toolResult(functionName: string, text: string): HarmonyMessage {
  return {author: `functions.${functionName}`, channel: 'commentary', recipient: 'assistant', texts: [text]};
}

/** Reasoning stands before an answer, but after what was said beside tool calls. */
function assistantMessages(message: ChatMessage, texts: readonly string[]): HarmonyMessage[] {
  const calls = callsOf(message);
  const reasoning = message.reasoning ?? message.reasoning_content;
  const hasText = texts.some((text) => text !== '');
  const analysis: HarmonyMessage[] =
    typeof reasoning === 'string' && reasoning !== ''
      ? [{author: 'assistant', channel: 'analysis', texts: [reasoning]}]
      : [];
  if (calls.length === 0) {
    return [...analysis, ...(hasText ? [{author: 'assistant', channel: 'final', texts} as const] : [])];
  }
  const beside = hasText ? [{author: 'assistant', channel: 'commentary', texts: [texts.join('')]} as const] : [];
  return [...beside, ...analysis, ...calls.map(toolCall)];
}

interface Call {
  id: unknown;
  name: string;
  arguments: string;
}

function toolCall({name, arguments: text}: Call): HarmonyMessage {
  return {
    author: 'assistant',
    recipient: `functions.${name}`,
    channel: 'commentary',
    contentType: 'json',
    texts: [text],
  };
}

/** @throws ValidationError */
function callsOf({role, tool_calls: calls}: ChatMessage): Call[] {
  if (role !== 'assistant' || calls === null || calls === undefined) return [];
  if (!Array.isArray(calls) || !calls.every(isPlainObject)) {
    throw new ValidationError('assistant tool_calls entries must be objects.', {param: 'tool_calls'});
  }
  return calls.map(({id, function: called}) => {
    const {name = '', arguments: given = ''} = isPlainObject(called) ? called : {};
    return {id, name: String(name), arguments: argumentsText(given)};
  });
}

/** The client's own text where it is one. */
function argumentsText(given: unknown): string {
  if (typeof given === 'string') return given;
  return given === null ? '' : writeJson(given);
}

/** At least one text. @throws ValidationError for images and sounds */
function textsOf({content}: ChatMessage, {modelName}: HarmonySettings): string[] {
  if (typeof content === 'string') return [content];
  const parts = formatContent(content, 'openai', modelName);
  const texts = Array.isArray(parts) ? parts.map((part) => String(part.text ?? part.name ?? '')) : [parts];
  return texts.length > 0 ? texts : [''];
}

/** What the model thought before its last answer is not shown to it again. */
function withoutOldAnalysis(messages: readonly HarmonyMessage[]): HarmonyMessage[] {
  const lastAnswer = messages.findLastIndex(({channel}) => channel === 'final');
  return messages.filter(({channel}, index) => channel !== 'analysis' || index > lastAnswer);
}
