/**
 * What is to be rendered, from files and flags to one chat request that has passed the checks of the server. Flags count
 * more than what a request file says.
 */
import {ServingError, UsageError} from '../core/errors.ts';
import {type ChatCompletionRequest, parseChatCompletionRequest} from '../core/protocol/openai/chat-completion.ts';
import {isPlainObject, JsonSyntaxError, parseJson} from '../core/util/parse-json.ts';
import type {RenderTemplateOptions} from './options.ts';

/** @param name a path, or `-` for stdin */
export type ReadText = (name: string) => Promise<string>;

type Body = Record<string, unknown>;

/** Rendered when nobody says anything. */
const sampleMessages = [
  {role: 'system', content: 'You are a helpful assistant.'},
  {role: 'user', content: 'What is the capital of Norway?'},
  {role: 'assistant', content: 'Oslo.'},
  {role: 'user', content: 'And of Iceland?'},
];

/** @throws UsageError for files and flags that cannot be read, and for requests that the server would refuse */
export async function readRequest(options: RenderTemplateOptions, readText: ReadText): Promise<ChatCompletionRequest> {
  const body =
    options.messages === null ? {} : bodyOf(await readJsonFile(options.messages, readText), options.messages);
  const [tools, documents] = await Promise.all([
    readListFile('tools', options.tools, readText),
    readListFile('documents', options.documents, readText),
  ]);
  const request = {
    ...body,
    messages: messagesOf(body, options),
    ...(tools === null ? {} : {tools}),
    ...(documents === null ? {} : {documents}),
    ...kwargsOf(body, options),
    ...generationFields(body, options),
  };
  try {
    return parseChatCompletionRequest(request);
  } catch (error) {
    if (!(error instanceof ServingError)) throw error;
    throw new UsageError(`The request cannot be rendered: ${error.message}`, {cause: error});
  }
}

/** A list of messages, or an object with them. */
function bodyOf(value: unknown, name: string): Body {
  if (Array.isArray(value)) return {messages: value};
  if (isPlainObject(value) && Array.isArray(value.messages)) return value;
  throw new UsageError(`${name} holds no messages\nallowed: a JSON list of messages, or an object with "messages"`);
}

function messagesOf(body: Body, {message, system}: RenderTemplateOptions): unknown[] {
  const given = [...((body.messages as unknown[] | undefined) ?? []), ...message.map(readMessage)];
  const messages = given.length > 0 || system !== null ? given : sampleMessages;
  return system === null ? messages : [{role: 'system', content: system}, ...messages];
}

/** `user=Hello` or `user: Hello` */
function readMessage(text: string): {role: string; content: string} {
  const [, role, content] = /^\s*([\w-]+)(?:=|:\s?)([\s\S]*)$/.exec(text) ?? [];
  if (role === undefined) throw new UsageError(`--message cannot be ${text}\nallowed: ROLE=TEXT, such as user=Hello`);
  return {role, content: content!};
}

function kwargsOf(body: Body, {chatTemplateKwargs}: RenderTemplateOptions): Body {
  if (chatTemplateKwargs === null) return {};
  return {chat_template_kwargs: {...(body.chat_template_kwargs as object | undefined), ...chatTemplateKwargs}};
}

/** A message that is continued opens no new turn. */
function generationFields(body: Body, {addGenerationPrompt, continueFinalMessage}: RenderTemplateOptions): Body {
  const continues = continueFinalMessage || body.continue_final_message === true;
  return {
    ...(continues ? {continue_final_message: true, add_generation_prompt: false} : {}),
    ...(addGenerationPrompt ? {} : {add_generation_prompt: false}),
  };
}

async function readListFile(what: string, name: string | null, readText: ReadText): Promise<unknown[] | null> {
  if (name === null) return null;
  const value = await readJsonFile(name, readText);
  const list = isPlainObject(value) ? value[what] : value;
  if (Array.isArray(list)) return list;
  throw new UsageError(`--${what} ${name} holds no JSON list`);
}

async function readJsonFile(name: string, readText: ReadText): Promise<unknown> {
  const text = await readText(name);
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    const before = text.slice(0, error.position).split('\n');
    const place = `line ${before.length}, column ${before.at(-1)!.length + 1}`;
    throw new UsageError(`${name === '-' ? 'stdin' : name} is no JSON: ${error.message} (${place})`, {cause: error});
  }
}
