/**
 * Faults that people reported of other servers when something dies, leaves or takes long (cases PR-reliability-* and
 * PR-streaming-12, public reports), on ours over real sockets with an engine that plays what the cases ask for.
 */
import {describe, expect, it} from 'vitest';
import {eventData, type Json} from '../../support/chat-stream.ts';
import {type Chunk, foldAnswer, playPieces} from '../../support/reported-cases.ts';
import type {ScriptedStep} from '../../support/scripted-engine-client.ts';
import {sseEvents} from '../../support/sse-transcript.ts';
import {closeAppsAfterEach, openTestApp, userSays} from '../../support/test-app.ts';

closeAppsAfterEach();

const base = {messages: userSays('Say hello.'), temperature: 0, max_tokens: 16};

function post(url: string, fields: Json = {}, headers: Record<string, string> = {}, signal?: AbortSignal) {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {'content-type': 'application/json', ...headers},
    body: JSON.stringify({...base, ...fields}),
    ...(signal && {signal}),
  });
}

describe('PR-reliability-02: who cannot generate says so', () => {
  it('health is 503 at once, and a request gets an error body', async () => {
    const {listen, engine} = await openTestApp({script: () => ['hang']});
    const url = await listen();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    engine.die(new Error('its process was killed'));
    expect((await fetch(`${url}/health`)).status).toBe(503);
    const reply = await post(url);
    expect(reply.status).toBe(500);
    const {error} = (await reply.json()) as {error: object};
    expect(Object.keys(error)).toEqual(['message', 'type', 'param', 'code']);
  });
});

describe('PR-reliability-05: a proxy is told not to hold a stream back', () => {
  it('in the headers; and a token is sent before the next one is made', async () => {
    const [first] = await playPieces(['one']);
    const {listen} = await openTestApp({script: () => [first!, 'hang']});
    const leave = new AbortController();
    const response = await post(await listen(), {stream: true}, {}, leave.signal);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const events = eventData(response);
    let seen = '';
    while (!seen.includes('"content":"one"')) seen = (await events.next()).value as string;
    leave.abort();
  });
});

describe('PR-reliability-06: two at once under one id', () => {
  it('the end of one leaves the other', async () => {
    const pieces = await playPieces(['Hel', 'lo', ' there', '.']);
    const slow: ScriptedStep[] = pieces.flatMap((piece) => [piece, 20]);
    const {listen, engine} = await openTestApp({script: () => slow});
    const url = await listen();
    const leave = new AbortController();
    const id = {'x-request-id': 'same'};
    const [left, kept] = await Promise.all([
      post(url, {stream: true}, id, leave.signal),
      post(url, {stream: true}, id),
    ]);
    const events = eventData(left);
    for (let count = 0; count < 2; count++) await events.next();
    leave.abort();
    await expect(events.next()).rejects.toThrow();
    expect(foldAnswer(sseEvents<Chunk>(await kept.text()))).toMatchObject({
      content: 'Hello there.',
      finishReason: 'stop',
    });
    await expect.poll(() => engine.numOpenRequests()).toBe(0);
    expect(engine.abortedIds).toHaveLength(1);
  });
});

describe('PR-streaming-12: comments keep a silent stream open', () => {
  const comment = ': keep-alive';
  const partsOf = async (sseKeepAliveInterval: number) => {
    const [first, ...others] = await playPieces(['one', ' two', ' three']);
    const script = () => [260, first!, 1, ...others];
    const {listen} = await openTestApp({script}, {sseKeepAliveInterval});
    const text = await (await post(await listen(), {stream: true})).text();
    return text.split('\n\n').filter((part) => part !== '');
  };

  it('about one for each interval before the first token, none between quick tokens', async () => {
    const parts = await partsOf(0.05);
    const places = parts.flatMap((part, index) => (part === comment ? [index] : []));
    expect(places.length).toBeGreaterThanOrEqual(2);
    expect(places.length).toBeLessThanOrEqual(6);
    const firstToken = parts.findIndex((part) => part.includes('"content":"one"'));
    expect(firstToken).toBeGreaterThan(0);
    expect(Math.max(...places)).toBeLessThan(firstToken);
  });

  it('none when it is off', async () => {
    expect(await partsOf(0)).not.toContain(comment);
  });
});
