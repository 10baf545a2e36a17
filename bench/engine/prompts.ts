/**
 * Prompts of both sides: English words in a seeded order, so that every run, side and round gets the same ones and no
 * two share a beginning. Bare loops get token ids, servers get messages; both come from one text, tokenizer and template.
 */
import type {ModelFiles} from '../../src/core/model/resolve-model.ts';
import {loadTokenizer} from '../../src/core/model/tokenizer.ts';
import {parseChatCompletionRequest} from '../../src/core/protocol/openai/chat-completion.ts';
import {chooseTemplate, findChatTemplates} from '../../src/core/renderer/find-chat-template.ts';
import {createRenderer, type Renderer} from '../../src/core/renderer/render-chat.ts';
import {Random} from '../../src/core/sampling/random.ts';
import {assertInvariant} from '../../src/core/util/assert.ts';
import {mostStreams, type Workload} from './workload.ts';

export interface Message {
  role: 'user' | 'assistant';
  content: string;
}

/** Everything that is asked of a server in one round. */
export interface ServerPrompts {
  /** Number of streams -> bursts -> one conversation per stream. */
  bursts: Map<number, Message[][][]>;
  chats: Message[][];
  pauseStreams: Message[][];
  pauseArrival: Message[];
}

export interface BenchPrompts {
  /** A long plain text for bare loops; see `promptCutter`. */
  textTokenIds: number[];
  /** The last burst of the most streams, rendered as a server renders it. */
  burstTokenIds: number[][];
  server: ServerPrompts;
  /** Text of the model's chat template and of the tokens that it may use. */
  template: {text: string; variables: Record<string, string>};
}

const words =
  `time year people way day man thing woman life child world school state family student group country problem hand part
  place case week company system program question work government number night point home water room mother area money
  story fact month lot right study book eye job word business issue side kind head house service friend father power
  hour game line end member law car city community name president team minute idea body information back parent face
  others level office door health person art war history party result change morning reason research girl guy moment air
  teacher force education`.split(/\s+/);

/** Request of every conversation: the model has something to say for longer than any measurement. */
const instruction = 'Write a very long story about these words:';
/** The user's second message in a chat. */
export const secondQuestion = 'Now tell me which of these words you like best, and why.';

export async function createPrompts(files: ModelFiles, workload: Workload): Promise<BenchPrompts> {
  const tokenizer = await loadTokenizer(files);
  const templates = await findChatTemplates(files, null);
  const renderer = createRenderer({
    tokenizer,
    templates,
    contentFormat: 'auto',
    defaultTemplateKwargs: {},
    modelName: files.displayName,
    maxModelLen: Number.MAX_SAFE_INTEGER,
  });
  const server = await serverPrompts(renderer, workload);
  return {
    textTokenIds: await tokenizer.encode(longText(workload), {addSpecialTokens: false}),
    burstTokenIds: await Promise.all(lastBurst(server, workload).map((messages) => tokenIdsOf(renderer, messages))),
    server,
    template: {
      text: chooseTemplate(templates, {requested: null, hasTools: false}),
      variables: Object.fromEntries(tokenizer.specialTokens),
    },
  };
}

async function serverPrompts(renderer: Renderer, workload: Workload): Promise<ServerPrompts> {
  const random = Random.fromSeed(1n);
  const conversations = (count: number, numTokens: number) => inTurn(count, () => chatOf(renderer, random, numTokens));
  const bursts = new Map<number, Message[][][]>();
  for (const streams of workload.streams) {
    const repeats = workload.httpRepeats[streams];
    bursts.set(streams, await inTurn(repeats, () => conversations(streams, workload.httpPromptTokens)));
  }
  return {
    bursts,
    chats: await conversations(workload.chatRepeats, workload.chatPromptTokens),
    pauseStreams: await conversations(workload.pauseStreams, workload.httpPromptTokens),
    pauseArrival: await chatOf(renderer, random, workload.chatPromptTokens),
  };
}

function lastBurst({bursts}: ServerPrompts, workload: Workload): Message[][] {
  return bursts.get(mostStreams(workload))!.at(-1)!;
}

/** A user message with as many words as give the wished number of prompt tokens, or a few less. */
async function chatOf(renderer: Renderer, random: Random, numTokens: number): Promise<Message[]> {
  const text = randomWords(random, numTokens);
  for (let numWords = text.length; ; ) {
    const messages: Message[] = [{role: 'user', content: `${text.slice(0, numWords).join(' ')}. ${instruction}`}];
    const excess = (await tokenIdsOf(renderer, messages)).length - numTokens;
    if (excess <= 0) return messages;
    numWords -= Math.ceil(excess / 2);
  }
}

async function tokenIdsOf(renderer: Renderer, messages: Message[]): Promise<number[]> {
  const {tokenIds} = await renderer.renderChat(parseChatCompletionRequest({messages}));
  return tokenIds;
}

/** More than all tasks of one bare loop take together. */
function longText(workload: Workload): string {
  const numWords = 4 * mostStreams(workload) * Math.max(...workload.prefillLengths);
  return randomWords(Random.fromSeed(2n), numWords).join(' ');
}

/** @returns a function that cuts prompts from the text, one after the other, none twice */
export function promptCutter(textTokenIds: readonly number[]): (count: number, length: number) => number[][] {
  let next = 0;
  return (count, length) =>
    Array.from({length: count}, () => {
      next += length;
      assertInvariant(next <= textTokenIds.length, 'the text is long enough for all prompts');
      return textTokenIds.slice(next - length, next);
    });
}

function randomWords(random: Random, count: number): string[] {
  return Array.from({length: count}, () => words[Math.floor(random.nextUniform() * words.length)]);
}

async function inTurn<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let index = 0; index < count; index++) made.push(await make());
  return made;
}
