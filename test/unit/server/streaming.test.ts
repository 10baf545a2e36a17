/** Streams on a real socket: what leaves the server, and what happens when the client does. */
import {once} from 'node:events';
import {request as httpRequest, type IncomingMessage} from 'node:http';
import {type AddressInfo, connect} from 'node:net';
import {describe, expect, it, vi} from 'vitest';
import {createHttpServer, type HttpServerOptions} from '../../../src/server/http-server.ts';
import {playTokens, type ScriptedStep} from '../../support/scripted-engine-client.ts';
import {sseEvents, streamedText} from '../../support/sse-transcript.ts';
import {closeAppsAfterEach, openTestApp, userSays} from '../../support/test-app.ts';

closeAppsAfterEach();

const TOKEN = 28120;
const oneToken: ScriptedStep = {newTokenIds: [TOKEN], numCachedTokens: 0};
const body = (fields: object) => JSON.stringify({messages: userSays('Hi'), ...fields});

function post(url: string, fields: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: body(fields),
    ...(signal && {signal}),
  });
}

/** Resolves when the first bytes of the answer are there; leaves the rest unread. */
function openSlowReader(url: string, fields: object): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {'content-type': 'application/json'},
    });
    request.on('response', (response) => resolve(response));
    request.on('error', reject);
    request.end(body(fields));
  });
}

describe('bytes of a stream', () => {
  it('are events of one line each, and the end mark once', async () => {
    const {listen} = await openTestApp({answer: 'a\nb'});
    const response = await post(await listen(), {stream: true});
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const text = await response.text();
    expect(text).toMatch(/^(data: [^\n]+\n\n)+$/);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(text.split('[DONE]')).toHaveLength(2);
  });

  it('come with the token, not at the end', async () => {
    const {listen} = await openTestApp({script: () => [oneToken, 'hang']});
    const response = await post(await listen(), {stream: true});
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    while (!seen.includes('"token_ids"')) seen += (await reader.read()).value;
    expect(seen).toContain('"role":"assistant"');
    await reader.cancel();
  });

  it('start with comments while the first token is waited for', async () => {
    const {listen} = await openTestApp({script: () => [150, ...playTokens([TOKEN])]}, {sseKeepAliveInterval: 0.03});
    const text = await (await post(await listen(), {stream: true})).text();
    expect(text.startsWith(': keep-alive\n\n: keep-alive\n\n')).toBe(true);
    expect(sseEvents(text)).toHaveLength(2);
  });

  it('arrive whole at a client that reads late', async () => {
    const numTokens = 3000;
    const {listen} = await openTestApp({
      script: () => playTokens(Array(numTokens).fill(TOKEN), {finishReason: 'length'}),
    });
    const response = await openSlowReader(await listen(), {stream: true, stream_options: {include_usage: true}});
    await new Promise((resolve) => setTimeout(resolve, 200));
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    const events = sseEvents(Buffer.concat(parts).toString());
    expect(events.at(-1)?.usage).toMatchObject({completion_tokens: numTokens});
    expect(streamedText(events).length).toBeGreaterThan(numTokens);
  });

  it('wait for a client that does not read', async () => {
    let numPlayed = 0;
    const script = function* () {
      for (; numPlayed < 50_000; numPlayed++) yield oneToken;
    };
    const {listen} = await openTestApp({script: () => script() as unknown as ScriptedStep[]});
    const response = await openSlowReader(await listen(), {stream: true});
    response.pause();
    let before = -1;
    while (before !== numPlayed) {
      before = numPlayed;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    expect(numPlayed).toBeLessThan(50_000);
    response.destroy();
  });
});

describe('a client that leaves', () => {
  it.each([
    ['a stream', {stream: true}, 1],
    ['a whole answer', {stream: false}, 1],
    ['a stream of three choices', {stream: true, n: 3, temperature: 1}, 3],
  ])('ends %s in the engine, with one line in the log', async (_name, fields, numSequences) => {
    const {listen, engine, logger} = await openTestApp({script: () => [oneToken, oneToken, 'hang']});
    const leave = new AbortController();
    const answer = post(await listen(), {...fields, request_id: 'gone'}, leave.signal).then((response) =>
      response.text(),
    );
    await vi.waitFor(() => expect(engine.requests).toHaveLength(numSequences));
    expect(engine.numOpenRequests()).toBe(numSequences);
    leave.abort();
    await expect(answer).rejects.toThrow();
    await vi.waitFor(() => expect(engine.abortedIds).toHaveLength(numSequences));
    expect(engine.numOpenRequests()).toBe(0);
    const lines = logger.matching('client closed the connection');
    expect(lines.map(({level, fields: {completionId}}) => [level, completionId])).toEqual([['info', 'chatcmpl-gone']]);
    expect(logger.lines.filter(({level}) => level === 'error')).toEqual([]);
  });

  it('is not confused with one that has its answer', async () => {
    const {listen, logger} = await openTestApp();
    const url = await listen();
    await (await post(url, {})).text();
    await (await post(url, {stream: true})).text();
    expect(logger.matching('client closed')).toEqual([]);
  });
});

describe('an engine that dies', () => {
  it('ends open streams with an event, open answers with 500', async () => {
    const {listen, engine} = await openTestApp({script: () => [oneToken, 'hang']});
    const url = await listen();
    const [stream, whole] = [post(url, {stream: true}), post(url, {})];
    await vi.waitFor(() => expect(engine.requests).toHaveLength(2));
    engine.die(new Error('killed'));
    const error = {
      message: 'The server had an error while processing your request.',
      type: 'InternalServerError',
      param: null,
      code: 500,
    };
    expect(await (await whole).json()).toEqual({error});
    const text = await (await stream).text();
    expect(text.endsWith(`data: ${JSON.stringify({error})}\n\ndata: [DONE]\n\n`)).toBe(true);
    expect((await fetch(`${url}/ping`)).status).toBe(503);
  });
});

describe('a client that leaves before its request is complete', () => {
  it('is no error of the server', async () => {
    const {listen, logger} = await openTestApp({}, {});
    const {hostname, port} = new URL(await listen());
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const head = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
    socket.write(`${head}content-length: 100\r\n\r\n{"messages"`);
    setTimeout(() => socket.destroy(), 50);
    await expect.poll(() => logger.matching('client left before its request was complete')).toHaveLength(1);
    expect(logger.lines.filter(({level}) => level === 'error')).toEqual([]);
  });
});

describe('many headers', () => {
  const many = (count: number) => Object.fromEntries(Array.from({length: count}, (_, index) => [`h${index}`, 'v']));
  const ask = async (options: HttpServerOptions, headers: Record<string, string>) => {
    const http = createHttpServer(options);
    http.serve((request, response) => response.end(request.headers.last));
    http.server.listen(0, '127.0.0.1');
    await once(http.server, 'listening');
    const {port} = http.server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}/`, {headers: {...headers, last: 'here'}});
    const reply = {status: answer.status, text: await answer.text()};
    await http.close(0);
    return reply;
  };

  it('beyond the count that Node takes do not lose the ones behind them', async () => {
    expect(await ask({maxHeaderBytes: 1024 * 1024}, many(3000))).toEqual({status: 200, text: 'here'});
  });

  it('are refused beyond the limit, with the flag that sets it', async () => {
    const {status, text} = await ask({maxHeaderCount: 256}, many(256));
    expect(status).toBe(431);
    expect(JSON.parse(text).error).toMatchObject({
      code: 431,
      message: expect.stringContaining('--h11-max-header-count'),
    });
  });

  it('that are too long in sum are refused', async () => {
    expect((await ask({maxHeaderBytes: 4096}, {big: 'x'.repeat(8000)})).status).toBe(431);
  });
});
