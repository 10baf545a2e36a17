/**
 * Requests in flight, over real sockets: ended by their ids, kept alive while they wait, ordered by priority, and counted
 * off when their clients leave. All of it on the embedded model.
 */
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {eventData, type Json, longQuestion, postChat} from '../support/chat-stream.ts';
import {type ServeProcess, startServe} from '../support/serve-process.ts';

let server: ServeProcess;

beforeAll(async () => {
  const order = ['--max-num-seqs', '1', '--scheduling-policy', 'priority', '--sse-keep-alive-interval', '0.1'];
  server = await startServe({argv: ['--enable-scale-out', '--enable-server-load-tracking', ...order]});
});

afterAll(async () => {
  expect(await server?.stop()).toEqual({code: 0, signal: null});
});

const longRequest = {messages: longQuestion, max_tokens: 1500, ignore_eos: true, temperature: 0};

function abortRequests(...request_ids: string[]): Promise<Response> {
  return fetch(`${server.url}/inference/v1/abort_requests`, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({request_ids}),
  });
}

async function load(): Promise<number> {
  const response = await fetch(`${server.url}/load`);
  return ((await response.json()) as {server_load: number}).server_load;
}

/** Sequences in the engine, as its last step told. */
async function numRunning(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^vllm:num_requests_running\{.*\} (\d+)$/m.exec(metrics)![1]);
}

/** Starts a stream and reads until its first text has come. */
async function openStream(fields: Json) {
  const events = eventData(await postChat(server.url, {...longRequest, stream: true, ...fields}));
  const seen: string[] = [];
  while (!seen.some((event) => event.includes('"content":"') && !event.includes('"content":""'))) {
    seen.push((await events.next()).value as string);
  }
  return events;
}

async function restOf(events: AsyncIterable<string>): Promise<string[]> {
  const rest: string[] = [];
  for await (const event of events) rest.push(event);
  return rest;
}

const isAbort = (choice: Json) => expect(choice).toMatchObject({finish_reason: 'abort', stop_reason: null});

describe('abort_requests', () => {
  it('ends a stream with a last chunk and [DONE]', async () => {
    const events = await openStream({request_id: 'running'});
    expect((await abortRequests('chatcmpl-running', 'chatcmpl-unknown')).status).toBe(200);
    const rest = await restOf(events);
    expect(rest.at(-1)).toBe('[DONE]');
    isAbort(JSON.parse(rest.at(-2)!).choices[0]);
    await expect.poll(load).toBe(0);
  });

  it('ends a whole answer with what was made', async () => {
    const answer = postChat(server.url, {...longRequest, request_id: 'whole'}).then((response) => response.json());
    await expect.poll(load).toBe(1);
    await abortRequests('chatcmpl-whole');
    const {choices, usage} = (await answer) as {choices: Json[]; usage: {completion_tokens: number}};
    isAbort(choices[0]!);
    expect(usage.completion_tokens).toBeLessThan(1500);
  });

  it('ends a request that waits behind another', async () => {
    const running = await openStream({request_id: 'first'});
    const response = postChat(server.url, {...longRequest, stream: true, request_id: 'second'});
    await expect.poll(load).toBe(2);
    await abortRequests('chatcmpl-second');
    const chunks = (await restOf(eventData(await response))).filter((event) => event.startsWith('{'));
    const last = JSON.parse(chunks.at(-1)!).choices[0];
    isAbort(last);
    expect(last.delta).toEqual({});
    await abortRequests('chatcmpl-first');
    await restOf(running);
  });

  it('does not know an id without its prefix', async () => {
    const events = await openStream({request_id: 'kept'});
    expect((await abortRequests('kept')).status).toBe(200);
    expect(JSON.parse((await events.next()).value as string).choices[0].finish_reason).toBeNull();
    await abortRequests('chatcmpl-kept');
    await restOf(events);
  });
});

describe('a request that waits', () => {
  it('gets comments, and is served in the order of its priority', async () => {
    const running = await openStream({request_id: 'busy', priority: 0});
    const ask = async (priority: number) => {
      const body = {messages: longQuestion, stream: true, max_tokens: 2, priority};
      const text = await (await postChat(server.url, body)).text();
      return {priority, text, at: performance.now()};
    };
    const asked = [ask(5), ask(1)];
    await expect.poll(load).toBe(3);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await abortRequests('chatcmpl-busy');
    const ends = await Promise.all(asked);
    await restOf(running);
    for (const {text} of ends) {
      expect(text.startsWith(': keep-alive\n\n')).toBe(true);
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    }
    expect(ends.toSorted((one, other) => one.at - other.at).map(({priority}) => priority)).toEqual([1, 5]);
  });
});

describe('a client that leaves', () => {
  it.each([
    ['a stream', {stream: true}],
    ['a whole answer', {}],
    ['several choices', {n: 3, temperature: 1}],
  ])('takes %s out of the engine', async (_, fields) => {
    const controller = new AbortController();
    const answer = postChat(server.url, {...longRequest, ...fields}, controller.signal);
    await expect.poll(load).toBe(1);
    controller.abort();
    await answer.catch(() => {});
    await expect.poll(load, {timeout: 5000}).toBe(0);
    await expect.poll(numRunning, {timeout: 5000}).toBe(0);
  });
});
