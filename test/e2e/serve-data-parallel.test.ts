/**
 * Two engine processes behind the built server: they answer what one engine answers, say which of them it was, and one of
 * them may die without taking the other one's streams or the server along.
 */
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {eventData, type Json, longQuestion} from '../support/chat-stream.ts';
import {sampleOf} from '../support/metrics-page.ts';
import {isRunning, type ServeProcess, startServe} from '../support/serve-process.ts';
import type {StreamChunk} from '../support/sse-transcript.ts';

/** Little memory; the same number of threads for one engine and for each of two. */
const small = ['--max-model-len', '256', '--max-num-seqs', '4', '--kv-cache-memory-bytes', '64M', '--threads', '1'];
const flags = [...small, '--served-model-name', 'tiny'];

const questions = ['the sea', 'a lighthouse', 'bread', 'the moon'].map((thing) => [
  {role: 'user', content: `Tell me about ${thing}.`},
]);

let server: ServeProcess;

beforeAll(async () => {
  server = await startServe({argv: [...flags, '--data-parallel-size', '2', '--data-parallel-size-local', '2']});
});

afterAll(async () => {
  await server?.stop();
});

function post(url: string, body: Json, rank?: number): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {'content-type': 'application/json', ...(rank !== undefined && {'x-data-parallel-rank': String(rank)})},
    body: JSON.stringify({temperature: 0, max_tokens: 12, ...body}),
  });
}

async function answer(url: string, body: Json, rank?: number): Promise<string> {
  const reply = (await (await post(url, body, rank)).json()) as {choices: {message: {content: string}}[]};
  return reply.choices[0]!.message.content;
}

const engineSample = async (name: string, engine: number) =>
  Number(await sampleOf(server.url, `${name}{model_name="tiny",engine="${engine}"}`));
const isUp = () => Promise.all([0, 1].map((engine) => engineSample('parlance:engine_up', engine)));

it('answers as one engine does', async () => {
  const single = await startServe({argv: flags});
  const expected = await Promise.all(questions.map((messages) => answer(single.url, {messages})));
  await single.stop();
  const spread = await Promise.all(questions.map((messages) => answer(server.url, {messages})));
  expect(spread).toEqual(expected);
  for (const rank of [0, 1]) expect(await answer(server.url, {messages: questions[0]}, rank)).toBe(expected[0]);
});

describe('X-data-parallel-rank', () => {
  it('sends a request to the engine with this number', async () => {
    const before = await Promise.all([0, 1].map((engine) => engineSample('vllm:generation_tokens_total', engine)));
    await (await post(server.url, {messages: questions[1], max_tokens: 5, ignore_eos: true}, 1)).text();
    const after = await Promise.all([0, 1].map((engine) => engineSample('vllm:generation_tokens_total', engine)));
    expect(after).toEqual([before[0], before[1]! + 5]);
  });

  it('is refused when there is no such engine', async () => {
    const response = await post(server.url, {messages: questions[1]}, 2);
    expect(response.status).toBe(400);
    const {error} = (await response.json()) as {error: {message: string}};
    expect(error.message).toBe('data_parallel_rank 2 is out of range [0, 2).');
  });
});

/** A stream of one engine, read up to its third event. */
async function openStream(rank: number, maxTokens: number): Promise<AsyncGenerator<string, void, undefined>> {
  const body = {messages: longQuestion, stream: true, max_tokens: maxTokens, ignore_eos: true};
  const events = eventData(await post(server.url, body, rank));
  for (let count = 0; count < 3; count++) await events.next();
  return events;
}

async function rest(events: AsyncGenerator<string>): Promise<(StreamChunk & {error?: {code: number}})[]> {
  const all: string[] = [];
  for await (const data of events) all.push(data);
  expect(all.pop()).toBe('[DONE]');
  return all.map((data) => JSON.parse(data));
}

it('a killed engine ends its own streams only, and comes back', async () => {
  const before = await answer(server.url, {messages: questions[2]}, 1);
  const [kept, lost] = [await openStream(0, 60), await openStream(1, 200)];
  const [first, second] = server.enginePids();
  process.kill(second!, 'SIGKILL');
  expect((await rest(lost)).at(-1)!.error).toMatchObject({code: 500});
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  expect(await isUp()).toEqual([1, 0]);
  expect(await engineSample('vllm:num_requests_running', 1)).toBe(0);
  const refused = await post(server.url, {messages: questions[2]}, 1);
  expect(refused.status).toBe(500);
  expect((await rest(kept)).at(-1)!.choices[0]!.finish_reason).toBe('length');
  await expect.poll(isUp, {timeout: 60_000, interval: 200}).toEqual([1, 1]);
  expect(await engineSample('parlance:engine_restarts', 1)).toBe(1);
  expect(await engineSample('parlance:engine_restarts', 0)).toBe(0);
  expect(await answer(server.url, {messages: questions[2]}, 1)).toBe(before);
  const pids = server.enginePids();
  expect(pids).toHaveLength(2);
  expect(pids).toContain(first);
  expect(isRunning(second!)).toBe(false);
});

it('SIGTERM ends the streams of both engines in order and leaves no process', async () => {
  const streams = [await openStream(0, 200), await openStream(1, 200)];
  const pids = server.enginePids();
  server.kill('SIGTERM');
  for (const events of await Promise.all(streams.map(rest))) {
    expect(events.at(-1)!.choices[0]!.finish_reason).toBe('abort');
  }
  expect(await server.ended).toEqual({code: 0, signal: null});
  expect(pids.filter(isRunning)).toEqual([]);
});
