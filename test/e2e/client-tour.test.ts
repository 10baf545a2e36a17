/**
 * A tour of the API as two clients see it: OpenAI's for Node, and Vercel's `ai` with its provider for compatible servers.
 * What counts is what comes out at the client's side, errors included. Tool calls and reasoning have a place at the end.
 */
import {createOpenAICompatible} from '@ai-sdk/openai-compatible';
import {APICallError, generateText, streamText} from 'ai';
import OpenAI, {APIUserAbortError, BadRequestError, NotFoundError} from 'openai';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {capitalAnswer, capitalQuestion, longQuestion} from '../support/chat-stream.ts';
import {type ServeProcess, startServe} from '../support/serve-process.ts';

const model = 'smollm2-135m-instruct';

let server: ServeProcess;

beforeAll(async () => {
  server = await startServe({argv: ['--api-key', 'tour', '--max-model-len', '2048']});
});

afterAll(async () => {
  expect(await server?.stop()).toEqual({code: 0, signal: null});
});

/** The messages of the tests are read-only, those of the clients are not. */
const asMessages = (messages: readonly {role: string; content: string}[]) => messages as never;

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/** Resolves when the engine has taken a request out before its end. */
const untilAborted = () => server.logged(/request \S+ aborted/);

describe('the OpenAI client', () => {
  const openClient = (apiKey = 'tour') => new OpenAI({baseURL: `${server.url}/v1`, apiKey, maxRetries: 0});
  const capital = {model, messages: asMessages(capitalQuestion), temperature: 0} as const;

  it('lists the models', async () => {
    const models = await collect(openClient().models.list());
    expect(models.map(({id}) => id)).toEqual([model]);
  });

  it('gets a whole answer', async () => {
    const answer = await openClient().chat.completions.create(capital);
    expect(answer.choices[0]!.message).toMatchObject({role: 'assistant', content: capitalAnswer});
    expect(answer.usage!.total_tokens).toBe(answer.usage!.prompt_tokens + answer.usage!.completion_tokens);
  });

  it('folds a stream to the same answer, with its counts', async () => {
    const stream = openClient().chat.completions.stream({...capital, stream_options: {include_usage: true}});
    const folded = await stream.finalChatCompletion();
    expect(folded.choices[0]!.message.content).toBe(capitalAnswer);
    expect(folded.choices[0]!.finish_reason).toBe('stop');
    const whole = await openClient().chat.completions.create(capital);
    expect(folded.usage).toMatchObject({completion_tokens: whole.usage!.completion_tokens});
  });

  it('gets logprobs that fit the text', async () => {
    const answer = await openClient().chat.completions.create({...capital, logprobs: true, top_logprobs: 2});
    const entries = answer.choices[0]!.logprobs!.content!;
    expect(entries).toHaveLength(answer.usage!.completion_tokens);
    expect(entries.map(({token}) => token).join('')).toBe(`${capitalAnswer}<|im_end|>`);
    for (const {top_logprobs, logprob} of entries) {
      expect(top_logprobs).toHaveLength(2);
      expect(top_logprobs[0]!.logprob).toBe(logprob);
    }
  });

  it('gets several choices, the same again with the same seed', async () => {
    const request = {...capital, messages: asMessages(longQuestion), temperature: 1, n: 3, seed: 5, max_tokens: 8};
    const [first, second] = await Promise.all([1, 2].map(() => openClient().chat.completions.create(request)));
    const texts = first!.choices.map(({message}) => message.content);
    expect(new Set(texts).size).toBe(3);
    expect(second!.choices.map(({message}) => message.content)).toEqual(texts);
  });

  it('stops at a stop string and at a length', async () => {
    const client = openClient();
    const stopped = await client.chat.completions.create({...capital, stop: [' of']});
    expect(stopped.choices[0]).toMatchObject({finish_reason: 'stop', message: {content: 'The capital'}});
    const cut = await client.chat.completions.create({...capital, max_completion_tokens: 2});
    expect(cut.choices[0]!.finish_reason).toBe('length');
  });

  it('goes on with a text', async () => {
    const request = {model, prompt: ['One two three', 'Monday Tuesday'], max_tokens: 4, temperature: 0};
    const answer = await openClient().completions.create(request);
    expect(answer.choices.map(({index}) => index)).toEqual([0, 1]);
    const chunks = await collect(await openClient().completions.create({...request, stream: true}));
    const streamed = chunks.flatMap(({choices}) => choices).filter(({index}) => index === 0);
    expect(streamed.map(({text}) => text).join('')).toBe(answer.choices[0]!.text);
  });

  it('sends fields that only this server knows', async () => {
    const request = {...capital, top_k: 5, min_tokens: 12, return_token_ids: true};
    const answer = await openClient().chat.completions.create(request);
    const {token_ids} = answer.choices[0] as unknown as {token_ids: number[]};
    expect(token_ids.length).toBeGreaterThanOrEqual(12);
    expect(token_ids).toHaveLength(answer.usage!.completion_tokens);
  });

  it('shows errors by their class, text and parameter', async () => {
    const chat = openClient().chat.completions;
    const unknown = await chat.create({...capital, model: 'nobody'}).catch((error: unknown) => error);
    expect(unknown).toBeInstanceOf(NotFoundError);
    expect(unknown).toMatchObject({status: 404, code: 404, param: 'model', type: 'NotFoundError'});
    const hot = await chat.create({...capital, temperature: 9}).catch((error: unknown) => error);
    expect(hot).toBeInstanceOf(BadRequestError);
    expect((hot as Error).message).toMatch(/^400 temperature must be in \[0, 2\], got 9\.0\./);
    await expect(openClient('wrong').chat.completions.create(capital)).rejects.toMatchObject({status: 401});
  });

  it('throws what a stream reports in its first event', async () => {
    const request = {...capital, stream: true, logit_bias: {999999: 1}} as const;
    const reading = openClient()
      .chat.completions.create(request)
      .then((stream) => collect(stream));
    await expect(reading).rejects.toThrow(/out-of-vocab token ids/);
  });

  it('ends a request by leaving', async () => {
    const stream = await openClient().chat.completions.create({
      ...capital,
      messages: asMessages(longQuestion),
      stream: true,
      max_tokens: 1500,
      ignore_eos: true,
    } as OpenAI.ChatCompletionCreateParamsStreaming);
    for await (const _chunk of stream) break;
    await untilAborted();
  });

  it('aborts a whole answer', async () => {
    const controller = new AbortController();
    const request = {...capital, messages: asMessages(longQuestion), max_tokens: 1500, ignore_eos: true};
    const answer = openClient().chat.completions.create(request, {signal: controller.signal});
    setTimeout(() => controller.abort(), 300);
    await expect(answer).rejects.toBeInstanceOf(APIUserAbortError);
  });
});

describe("Vercel's client", () => {
  const openModel = (apiKey = 'tour') =>
    createOpenAICompatible({name: 'parlance', baseURL: `${server.url}/v1`, apiKey, includeUsage: true})(model);
  const capital = {messages: asMessages(capitalQuestion), temperature: 0, maxRetries: 0};

  it('gets a whole answer', async () => {
    const {text, finishReason, usage} = await generateText({...capital, model: openModel()});
    expect({text, finishReason}).toEqual({text: capitalAnswer, finishReason: 'stop'});
    expect(usage).toMatchObject({inputTokens: 37, outputTokens: 8, totalTokens: 45});
  });

  it('reads a stream, with its counts', async () => {
    const result = streamText({...capital, model: openModel()});
    const pieces = await collect(result.textStream);
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join('')).toBe(capitalAnswer);
    expect(await result.usage).toMatchObject({inputTokens: 37, outputTokens: 8});
    expect(await result.finishReason).toBe('stop');
  });

  it('stops at a stop string and at a length', async () => {
    const stopped = await generateText({...capital, model: openModel(), stopSequences: [' of']});
    expect(stopped).toMatchObject({text: 'The capital', finishReason: 'stop'});
    const cut = await generateText({...capital, model: openModel(), maxOutputTokens: 2});
    expect(cut.finishReason).toBe('length');
  });

  it('sends fields of the provider', async () => {
    const providerOptions = {parlance: {min_tokens: 12}};
    const {usage} = await generateText({...capital, model: openModel(), providerOptions});
    expect(usage.outputTokens).toBeGreaterThanOrEqual(12);
  });

  it('shows errors with their status and text', async () => {
    const failed = await generateText({...capital, model: openModel(), temperature: 9}).catch(
      (error: unknown) => error,
    );
    expect(APICallError.isInstance(failed)).toBe(true);
    expect(failed).toMatchObject({statusCode: 400, message: expect.stringContaining('temperature must be in [0, 2]')});
    await expect(generateText({...capital, model: openModel('wrong')})).rejects.toMatchObject({statusCode: 401});
  });

  it('aborts', async () => {
    const controller = new AbortController();
    const {fullStream} = streamText({
      messages: asMessages(longQuestion),
      model: openModel(),
      maxOutputTokens: 1500,
      abortSignal: controller.signal,
      providerOptions: {parlance: {ignore_eos: true}},
    });
    const types = new Set<string>();
    for await (const part of fullStream) {
      types.add(part.type);
      if (part.type === 'text-delta') controller.abort();
    }
    expect(types).toContain('abort');
  });
});

// Tool calls and reasoning of both clients belong here: a describe block of their own, with a server that has parsers.
