/** One streamed chat completion as a client sees it: when each chunk came, and what the server counted. */
import http from 'node:http';
import type {Message} from '../prompts.ts';

export interface ChatOptions {
  maxTokens: number;
  /** Called at each chunk with text, with the number of chunks so far. */
  onChunk?: (numChunks: number) => void;
}

/** Times are those of `performance.now()`. */
export interface StreamedAnswer {
  sentMs: number;
  /** Of the chunks with text; the first one is the first token. */
  chunkMs: number[];
  endMs: number;
  text: string;
  numPromptTokens: number;
  numOutputTokens: number;
}

interface Chunk {
  choices: {delta?: {content?: string | null}}[];
  usage?: {prompt_tokens: number; completion_tokens: number} | null;
  error?: {message: string};
}

/** @throws Error when the server does not answer with a whole stream */
export async function streamChat(url: string, messages: Message[], options: ChatOptions): Promise<StreamedAnswer> {
  const answer: StreamedAnswer = {
    sentMs: performance.now(),
    chunkMs: [],
    endMs: 0,
    text: '',
    numPromptTokens: 0,
    numOutputTokens: 0,
  };
  const response = await post(`${url}/v1/chat/completions`, {
    messages,
    max_tokens: options.maxTokens,
    temperature: 0,
    ignore_eos: true,
    stream: true,
    stream_options: {include_usage: true},
  });
  for await (const chunk of chunksOf(response)) addChunk(answer, chunk, options);
  if (answer.numOutputTokens === 0) throw new Error('The stream ended before its usage');
  if (answer.chunkMs.length === 0) throw new Error(`An answer of ${answer.numOutputTokens} tokens had no text`);
  return {...answer, endMs: performance.now()};
}

export function firstTokenMs({chunkMs, sentMs}: StreamedAnswer): number {
  return chunkMs[0] - sentMs;
}

function addChunk(answer: StreamedAnswer, {choices, usage, error}: Chunk, {onChunk}: ChatOptions): void {
  if (error) throw new Error(`The server answered: ${error.message}`);
  const text = choices[0]?.delta?.content;
  if (text) {
    answer.text += text;
    answer.chunkMs.push(performance.now());
    onChunk?.(answer.chunkMs.length);
  }
  if (usage && choices.length === 0) {
    answer.numPromptTokens = usage.prompt_tokens;
    answer.numOutputTokens = usage.completion_tokens;
  }
}

async function post(url: string, body: object): Promise<http.IncomingMessage> {
  const text = JSON.stringify(body);
  const headers = {'content-type': 'application/json', 'content-length': Buffer.byteLength(text)};
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    // A connection of its own: one that is kept may be closed by the server just when it is used again.
    const request = http.request(url, {method: 'POST', headers, agent: false}, resolve).on('error', reject);
    request.end(text);
  });
  if (response.statusCode !== 200)
    throw new Error(`HTTP ${response.statusCode}: ${(await response.toArray()).join('')}`);
  return response;
}

async function* chunksOf(response: http.IncomingMessage): AsyncGenerator<Chunk> {
  let rest = '';
  response.setEncoding('utf8');
  for await (const text of response) {
    const events = (rest + text).split('\n\n');
    rest = events.pop() as string;
    for (const event of events) {
      if (event.startsWith('data: ') && event !== 'data: [DONE]') yield JSON.parse(event.slice(6)) as Chunk;
    }
  }
}
