/**
 * A small server around llama.cpp, for comparison: node-llama-cpp ships the library but no server. Chat completions as
 * server-sent events, the model's own chat template, one context with a sequence for each stream, every forward pass
 * shared by all streams, and prefixes reused in the sequence that holds the longest. It does nothing else.
 */
import http from 'node:http';
import type {AddressInfo} from 'node:net';
import {Template} from '@huggingface/jinja';
import {type LlamaModel, type LlamaSequence, type LlamaSettings, loadLlamaModel, openSequences} from './llama-api.ts';
import {StepLoop} from './step-loop.ts';

export interface LlamaServerSettings extends LlamaSettings {
  /** Most requests at the same time; further ones wait. */
  sequences: number;
  /** Of one sequence, prompt and output together. */
  contextTokens: number;
  template: {text: string; variables: Record<string, string>};
}

/** The fields of a request that the benchmark sends. */
interface ChatBody {
  messages: {role: string; content: string}[];
  max_tokens: number;
  ignore_eos?: boolean;
}

class LlamaServer {
  readonly #model: LlamaModel;
  readonly #template: Template;
  readonly #variables: Record<string, string>;
  readonly #free: LlamaSequence[];
  readonly #waiting: (() => void)[] = [];
  readonly #steps = new StepLoop();

  constructor(model: LlamaModel, sequences: LlamaSequence[], {template}: LlamaServerSettings) {
    this.#model = model;
    this.#free = sequences;
    this.#template = new Template(template.text);
    this.#variables = template.variables;
  }

  async answer(body: ChatBody, response: http.ServerResponse): Promise<void> {
    const prompt = this.#promptOf(body);
    response.writeHead(200, {'content-type': 'text/event-stream'});
    send(response, {choices: [{index: 0, delta: {role: 'assistant', content: ''}, finish_reason: null}]});
    const sequence = await this.#takeSequence(prompt);
    try {
      const completionTokens = await this.#stream(sequence, prompt, body, response);
      send(response, {choices: [], usage: {prompt_tokens: prompt.length, completion_tokens: completionTokens}});
      response.end('data: [DONE]\n\n');
    } finally {
      this.#giveBack(sequence);
    }
  }

  #promptOf({messages}: ChatBody): number[] {
    const text = this.#template.render({messages, add_generation_prompt: true, ...this.#variables});
    return this.#model.tokenize(text, true);
  }

  /** @returns the number of output tokens */
  async #stream(
    sequence: LlamaSequence,
    prompt: number[],
    {max_tokens, ignore_eos = false}: ChatBody,
    response: http.ServerResponse,
  ): Promise<number> {
    const tokens = sequence.evaluate(await this.#reusePrefix(sequence, prompt), {
      temperature: 0,
      yieldEogToken: ignore_eos,
    });
    const text = new TextStream(this.#model);
    let count = 0;
    const finish = await this.#steps.run(tokens, (token) => {
      count++;
      sendText(response, text.push(token));
      return count < max_tokens && !response.destroyed;
    });
    send(response, {choices: [{index: 0, delta: {}, finish_reason: finish === 'ended' ? 'stop' : 'length'}]});
    return count;
  }

  /** Keeps what the sequence has in common with the prompt. @returns the tokens that are left to compute, at least one */
  async #reusePrefix(sequence: LlamaSequence, prompt: number[]): Promise<number[]> {
    const keep = Math.min(sequence.compareContextTokens(prompt).firstDifferentIndex, prompt.length - 1);
    if (keep < sequence.nextTokenIndex) {
      await sequence.eraseContextTokenRanges([{start: keep, end: sequence.nextTokenIndex}]);
    }
    return prompt.slice(sequence.nextTokenIndex);
  }

  /** The free sequence that holds the longest beginning of the prompt. */
  async #takeSequence(prompt: number[]): Promise<LlamaSequence> {
    while (this.#free.length === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const common = this.#free.map((sequence) => sequence.compareContextTokens(prompt).firstDifferentIndex);
    return this.#free.splice(common.indexOf(Math.max(...common)), 1)[0];
  }

  #giveBack(sequence: LlamaSequence): void {
    this.#free.push(sequence);
    this.#waiting.shift()?.();
  }
}

/** Tokens to text; bytes of an unfinished character wait for the next token. */
class TextStream {
  readonly #model: LlamaModel;
  #pending: number[] = [];

  constructor(model: LlamaModel) {
    this.#model = model;
  }

  push(token: number): string {
    this.#pending.push(token);
    const text = this.#model.detokenize(this.#pending, false);
    if (text.endsWith('\uFFFD') && this.#pending.length < 4) return '';
    this.#pending = [];
    return text;
  }
}

function sendText(response: http.ServerResponse, content: string): void {
  send(response, {choices: [{index: 0, delta: {content}, finish_reason: null}]});
}

function send(response: http.ServerResponse, chunk: object): void {
  response.write(`data: ${JSON.stringify({object: 'chat.completion.chunk', ...chunk})}\n\n`);
}

async function readBody(request: http.IncomingMessage): Promise<ChatBody> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatBody;
}

async function main(settings: LlamaServerSettings): Promise<void> {
  const model = await loadLlamaModel(settings);
  const {sequences, contextTokens, threads} = settings;
  const opened = await openSequences(model, {sequences, contextSize: contextTokens, threads});
  const llama = new LlamaServer(model, opened, settings);
  const server = http.createServer(async (request, response) => {
    try {
      await llama.answer(await readBody(request), response);
    } catch (error) {
      process.stderr.write(`${(error as Error).stack}\n`);
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
  });
  process.on('disconnect', () => process.exit());
}

await main(JSON.parse(process.argv[2]) as LlamaServerSettings);
