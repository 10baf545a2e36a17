/**
 * Any server with OpenAI's API. An address with and without `/v1` means the same server; nothing but the person ends an
 * answer that takes long.
 */
import {createParser} from 'eventsource-parser';
import {Agent, type Dispatcher} from 'undici';
import * as z from 'zod';
import {ServingError, UsageError} from '../../core/errors.ts';
import {jsonOrNull} from '../../core/util/json-or-null.ts';
import type {AnswerEvent} from '../conversation/answer-event.ts';
import type {WireMessage} from '../conversation/messages.ts';
import type {BackendFacts, ChatBackend, ChatRequestBody} from './backend.ts';
import {ChunkReader} from './chunk-reader.ts';
import {brokenAnswer, noAnswer, refusal} from './http-errors.ts';
import {withVersion} from './server-address.ts';

export interface HttpBackendOptions {
  url: string;
  /** Null = the first of the server's list. */
  modelName: string | null;
  apiKey: string | null;
}

/** What small requests beside the answer may take. */
const smallRequestMs = 10_000;

const modelListSchema = z.looseObject({
  data: z.array(z.looseObject({id: z.string(), max_model_len: z.number().nullish()})),
});
const tokenizeSchema = z.looseObject({tokens: z.array(z.number()), count: z.number().optional()});
const detokenizeSchema = z.looseObject({prompt: z.string()});

export class HttpBackend implements ChatBackend {
  readonly #agent = new Agent({headersTimeout: 0, bodyTimeout: 0, connect: {timeout: smallRequestMs / 2}});
  readonly #options: HttpBackendOptions;
  #baseUrl: string;
  #modelName: string | null;
  #connecting: Promise<BackendFacts> | null = null;

  constructor(options: HttpBackendOptions) {
    this.#options = options;
    this.#modelName = options.modelName;
    this.#baseUrl = withVersion(options.url);
  }

  ready(): Promise<BackendFacts> {
    this.#connecting ??= this.#connect();
    // A server that is not there yet may be there at the next question.
    this.#connecting.catch(() => (this.#connecting = null));
    return this.#connecting;
  }

  async #connect(): Promise<BackendFacts> {
    const models = await this.#models();
    const found = models.find(({id}) => id === this.#modelName) ?? (this.#modelName === null ? models[0] : undefined);
    this.#modelName ??= found?.id ?? null;
    if (this.#modelName === null) {
      throw new ServingError(`${this.#baseUrl}/models names no model. Say which one to ask with --model-name.`);
    }
    return {modelName: this.#modelName, maxModelLen: found?.max_model_len ?? null, readsToolCalls: null};
  }

  async listModels(): Promise<string[]> {
    return (await this.#models()).map(({id}) => id);
  }

  async use(modelName: string): Promise<BackendFacts> {
    const models = await this.#models();
    if (!models.some(({id}) => id === modelName)) {
      throw new UsageError(`the server has no model ${modelName}`, {hint: models.map(({id}) => id).join(', ')});
    }
    this.#modelName = modelName;
    this.#connecting = null;
    return this.ready();
  }

  async *answer(body: ChatRequestBody, {signal}: {signal: AbortSignal}): AsyncGenerator<AnswerEvent, void, undefined> {
    const {modelName} = await this.ready();
    const whole = {model: modelName, ...body, stream: true, stream_options: {include_usage: true}};
    try {
      const response = await this.#request('POST', `${this.#baseUrl}/chat/completions`, whole, signal);
      yield* readAnswer(response, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async renderPrompt(body: ChatRequestBody): Promise<string> {
    const {messages, tools, chat_template_kwargs} = body;
    const tokens = await this.#tokenize({messages, tools, chat_template_kwargs, add_generation_prompt: true});
    const answer = await this.#small('POST', `${this.#rootUrl()}/detokenize`, {model: this.#modelName, tokens});
    return read(detokenizeSchema, answer, `${this.#rootUrl()}/detokenize`).prompt;
  }

  async countTokens(messages: readonly WireMessage[]): Promise<number> {
    return (await this.#tokenize({messages, add_generation_prompt: false})).length;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #tokenize(fields: object): Promise<number[]> {
    const {modelName} = await this.ready();
    const answer = await this.#small('POST', `${this.#rootUrl()}/tokenize`, {model: modelName, ...fields});
    return read(tokenizeSchema, answer, `${this.#rootUrl()}/tokenize`).tokens;
  }

  /** These routes of vLLM stand beside `/v1`. */
  #rootUrl(): string {
    return this.#baseUrl.replace(/\/v\d+$/, '');
  }

  async #models() {
    const answer = await this.#small('GET', `${this.#baseUrl}/models`, null);
    const parsed = modelListSchema.safeParse(answer);
    if (parsed.success) return parsed.data.data;
    throw new ServingError(
      `${this.#baseUrl}/models answers no list of models. Is ${this.#options.url} the right address?`,
    );
  }

  async #small(method: 'GET' | 'POST', url: string, body: object | null): Promise<unknown> {
    const response = await this.#request(method, url, body, AbortSignal.timeout(smallRequestMs));
    return jsonOrNull(await wholeText(response.body));
  }

  /** @throws ConnectionLostError when nothing answers; ServingError when the answer is an error */
  async #request(method: 'GET' | 'POST', address: string, body: object | null, signal: AbortSignal) {
    const url = new URL(address);
    const response = await this.#agent
      .request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: this.#headers(body !== null),
        body: body === null ? null : JSON.stringify(body),
        signal,
      })
      .catch((cause) => {
        throw noAnswer(cause, url, smallRequestMs);
      });
    if (response.statusCode < 400) return response;
    throw await refusal(response, url);
  }

  #headers(hasBody: boolean): Record<string, string> {
    return {
      authorization: `Bearer ${this.#options.apiKey ?? 'EMPTY'}`,
      ...(hasBody && {'content-type': 'application/json'}),
    };
  }
}

/** @throws ServingError */
function read<T>(schema: z.ZodType<T>, answer: unknown, address: string): T {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new ServingError(`This server cannot do that: ${address} answers something else than vLLM does`);
}

async function* readAnswer(response: Dispatcher.ResponseData, signal: AbortSignal) {
  const reader = new ChunkReader();
  const isStream = String(response.headers['content-type'] ?? '').includes('text/event-stream');
  if (!isStream) {
    yield* reader.read(await wholeText(response.body));
    return yield* reader.end();
  }
  for await (const data of eventData(response.body)) {
    if (signal.aborted) return;
    if (data === '[DONE]') break;
    yield* reader.read(data);
  }
  yield* reader.end();
}

/** The data of each event, however the bytes are cut. */
async function* eventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const found: string[] = [];
  const parser = createParser({onEvent: ({data}) => found.push(data)});
  const decoder = new TextDecoder();
  for await (const bytes of unbroken(body)) {
    parser.feed(decoder.decode(bytes, {stream: true}));
    yield* found.splice(0);
  }
  parser.feed('\n\n');
  yield* found;
}

async function wholeText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const bytes of unbroken(body)) parts.push(bytes);
  return Buffer.concat(parts).toString('utf8');
}

/** @throws ConnectionLostError when the other side goes away */
async function* unbroken(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* body;
  } catch (cause) {
    throw brokenAnswer(cause as Error);
  }
}
