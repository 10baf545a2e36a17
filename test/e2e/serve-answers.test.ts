/** `parlance serve` on the embedded model, asked over real sockets: what it prints, and that its answers are right. */
import {execFileSync} from 'node:child_process';
import OpenAI from 'openai';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {askWhole, capitalAnswer, capitalQuestion, eventData, longQuestion, postChat} from '../support/chat-stream.ts';
import {type ServeProcess, startServe} from '../support/serve-process.ts';

let server: ServeProcess;

beforeAll(async () => {
  server = await startServe();
});

afterAll(async () => {
  const end = await server?.stop();
  expect(end).toEqual({code: 0, signal: null});
});

describe('the start', () => {
  it('prints one line on stdout, and one ready line with address, model, cache and time on stderr', () => {
    expect(server.stdout()).toBe(`Listening on ${server.url}\n`);
    const ready = server.logMessages().filter((message) => message.startsWith('Ready'));
    expect(ready).toHaveLength(1);
    expect(ready[0]).toMatch(
      /^Ready after \d+\.\d s: smollm2-135m-instruct at http:\/\/127\.0\.0\.1:\d+, KV cache [\d,]+ tokens$/,
    );
  });

  it('shows the stages of loading', () => {
    expect(server.logMessages()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^load \d+ %/), expect.stringMatching(/^warm-up \d+ %/)]),
    );
  });

  it('prints a curl line that works', () => {
    const command = server
      .stderr()
      .split('\n')
      .find((line) => line.startsWith('curl '));
    const answer = execFileSync('sh', ['-c', `${command} --silent`], {encoding: 'utf8'});
    expect(JSON.parse(answer).choices[0].message.content).toBe(capitalAnswer);
  });
});

describe('answers', () => {
  const request = {model: 'smollm2-135m-instruct', messages: capitalQuestion, temperature: 0} as const;

  it('is right for the OpenAI client, whole', async () => {
    const client = new OpenAI({baseURL: `${server.url}/v1`, apiKey: 'any'});
    const answer = await client.chat.completions.create({...request, messages: [...capitalQuestion] as never});
    expect(answer.choices[0]!.message.content).toBe(capitalAnswer);
    expect(answer.choices[0]!.finish_reason).toBe('stop');
    expect(answer.usage).toMatchObject({prompt_tokens: 37, completion_tokens: 8, total_tokens: 45});
  });

  it('is right for the OpenAI client, streamed', async () => {
    const client = new OpenAI({baseURL: `${server.url}/v1`, apiKey: 'any'});
    const stream = await client.chat.completions.create({
      ...request,
      messages: [...capitalQuestion] as never,
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe(capitalAnswer);
  });

  it('gives the same to 16 requests at once as to each alone', async () => {
    const topics = [
      'rain',
      'bread',
      'chess',
      'the moon',
      'glass',
      'trees',
      'sleep',
      'ink',
      'salt',
      'bees',
      'ice',
      'maps',
      'wool',
      'clocks',
      'tea',
      'sand',
    ];
    const bodies = topics.map((topic, index) => ({
      messages: [{role: 'user', content: `${'Please be exact. '.repeat(index * 3)}Tell me about ${topic}.`}],
      temperature: 0,
      max_tokens: 8 + index * 2,
    }));
    const alone: string[] = [];
    for (const body of bodies) alone.push(await askWhole(server.url, body));
    const together = await Promise.all(bodies.map((body) => askWhole(server.url, body)));
    expect(together).toEqual(alone);
    expect(new Set(alone).size).toBe(topics.length);
  });

  it('takes requests out of the engine when their clients leave in mid stream', async () => {
    const leave = async () => {
      const controller = new AbortController();
      const body = {messages: longQuestion, stream: true, max_tokens: 2000, ignore_eos: true};
      const response = await postChat(server.url, body, controller.signal);
      const events = eventData(response);
      for (let count = 0; count < 5; count++) await events.next();
      controller.abort();
      await events.next().catch(() => {});
    };
    const numAborted = () => server.logMessages().filter((message) => message === 'Request aborted').length;
    const before = numAborted();
    await Promise.all(Array.from({length: 10}, leave));
    await expect.poll(numAborted, {timeout: 10_000}).toBe(before + 10);
    expect(await askWhole(server.url, {messages: capitalQuestion, temperature: 0})).toBe(capitalAnswer);
  });
});
