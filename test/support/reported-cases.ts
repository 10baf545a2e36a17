/**
 * What the cases from public reports share: the tools and replies they speak of, answers played in given pieces, and a
 * stream folded into what a client makes of it.
 */
import {answerFormats} from './answer-formats.ts';
import {embeddedTokenizer} from './embedded-model.ts';
import {playTokens, type ScriptedStep} from './scripted-engine-client.ts';
import {sseEvents} from './sse-transcript.ts';
import {openTestApp, type TestApp} from './test-app.ts';

export type Fields = Record<string, unknown>;

export interface Call {
  id: string;
  type: 'function';
  index?: number;
  function: {name: string; arguments: string};
}

export interface Delta {
  role?: string;
  content?: string | null;
  reasoning?: string;
  tool_calls?: (Partial<Call> & {index: number; function: {name?: string; arguments?: string}})[];
}

export interface Chunk {
  choices: {index: number; delta: Delta; finish_reason: string | null; stop_reason?: string | number | null}[];
  usage?: Fields;
}

export interface Answer {
  content: string | null;
  reasoning: string | null;
  calls: {id: string; name: string; arguments: string}[];
  finishReason: string | null;
  stopReason: string | number | null;
}

const cityOf = {type: 'object', properties: {city: {type: 'string'}}, required: ['city']};
const tool = (name: string, parameters: unknown = cityOf) => ({type: 'function', function: {name, parameters}});
export const tools = [tool('get_weather'), tool('get_time'), tool('ping', {type: 'object', properties: {}})];

export const callText = (json: string) => `<tool_call>\n${json}\n</tool_call>`;
export const weatherCall = callText('{"name":"get_weather","arguments":{"city":"Oslo"}}');

type Finish = 'stop' | 'length';

/** One engine output for each piece of text. */
export async function playPieces(pieces: readonly string[], finish: Finish = 'stop'): Promise<ScriptedStep[]> {
  const tokenizer = await embeddedTokenizer();
  const encode = async (text: string) => [...(await tokenizer.encode(text, {addSpecialTokens: false}))];
  const outputs = await Promise.all(pieces.map(async (text) => ({newTokenIds: await encode(text)})));
  return [...outputs, ...playTokens(finish === 'stop' ? [tokenizer.eosTokenId!] : [198], {finishReason: finish})];
}

export interface Played {
  pieces: readonly string[];
  finish?: Finish;
  tool?: string | null;
  reasoning?: string | null;
}

/** A server that answers every request with these pieces. */
export async function openPlaying({pieces, finish, tool = 'hermes', reasoning = null}: Played): Promise<TestApp> {
  const script = await playPieces(pieces, finish);
  const formats = await answerFormats(tool, reasoning);
  return openTestApp({script: () => script, ...(formats && {formats})});
}

/** Parts of a text, each of so many characters. */
export function cutEvery(length: number, text: string): string[] {
  const characters = [...text];
  const starts = Array.from({length: Math.ceil(characters.length / length)}, (_, part) => part * length);
  return starts.map((start) => characters.slice(start, start + length).join(''));
}

/** The same request whole and streamed. */
export async function askBoth(app: TestApp, fields: Fields) {
  const whole = await app.chat(fields);
  const streamed = await app.chat({...fields, stream: true});
  const chunks = sseEvents<Chunk>(streamed.text);
  return {whole: wholeAnswer(whole.body), streamed: foldAnswer(chunks), chunks, text: streamed.text};
}

function wholeAnswer(body: unknown, choice = 0): Answer {
  const {message, finish_reason, stop_reason} = (body as {choices: WholeChoice[]}).choices[choice]!;
  const calls = (message.tool_calls ?? []).map((call) => ({id: call.id, ...call.function}));
  return {
    content: message.content,
    reasoning: message.reasoning,
    calls,
    finishReason: finish_reason,
    stopReason: stop_reason,
  };
}

interface WholeChoice {
  message: {content: string | null; reasoning: string | null; tool_calls?: Call[]};
  finish_reason: string | null;
  stop_reason: string | number | null;
}

/** What a client has of one choice at the end of a stream. */
export function foldAnswer(chunks: readonly Chunk[], choice = 0): Answer {
  const answer: Answer = {content: null, reasoning: null, calls: [], finishReason: null, stopReason: null};
  for (const part of chunks.flatMap((chunk) => chunk.choices).filter(({index}) => index === choice)) {
    addDelta(answer, part.delta);
    answer.finishReason = part.finish_reason ?? answer.finishReason;
    answer.stopReason = part.stop_reason ?? answer.stopReason;
  }
  return answer;
}

function addDelta(answer: Answer, {content, reasoning, tool_calls: pieces}: Delta): void {
  if (content) answer.content = (answer.content ?? '') + content;
  if (reasoning) answer.reasoning = (answer.reasoning ?? '') + reasoning;
  for (const {index, id, function: piece} of pieces ?? []) {
    answer.calls[index] ??= {id: id!, name: piece.name!, arguments: ''};
    answer.calls[index].arguments += piece.arguments ?? '';
  }
}

/** Every piece of a call in a stream, in order. */
export const callPieces = (chunks: readonly Chunk[]) =>
  chunks.flatMap((chunk) => chunk.choices.flatMap(({delta}) => delta.tool_calls ?? []));
