/**
 * A server whose first byte comes after ten minutes of a clock that the test moves. The last test proves that this clock
 * reaches the HTTP library: with its default limits the same request fails.
 */
import {createServer, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {Agent} from 'undici';
import {afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi} from 'vitest';
import {StreamClient} from '../../src/bench/sse/stream-client.ts';
import {HttpBackend} from '../../src/chat/backend/http-backend.ts';
import {singleEngine} from '../../src/core/config/deployment-options.ts';
import {GenerateCall} from '../../src/core/engine/client/vllm/generate-call.ts';
import type {SequenceOutput} from '../../src/core/engine/protocol.ts';
import {createHttpServer} from '../../src/server/http-server.ts';
import {engineRequest} from '../support/build-engine.ts';
import {collect} from '../support/collect.ts';

const waitMs = 600_000;
const chatChunk = {choices: [{index: 0, delta: {content: 'late'}, finish_reason: 'stop'}]};

let url: string;
let answer: Promise<ServerResponse>;
let close: () => void;

beforeEach(async () => {
  const server = createServer();
  answer = new Promise((resolve) => server.on('request', (_request, response) => resolve(response)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => {
    server.closeAllConnections();
    server.close();
  };
});
afterEach(() => close());

// One clock for all: the library keeps a timer of its own between requests.
beforeAll(() => void vi.useFakeTimers({toFake: ['setTimeout', 'clearTimeout']}));
afterAll(() => void vi.useRealTimers());

async function answerLate(chunk: object = chatChunk): Promise<void> {
  const response = await answer;
  await vi.advanceTimersByTimeAsync(waitMs);
  response.setHeader('content-type', 'text/event-stream');
  response.flushHeaders();
  await vi.advanceTimersByTimeAsync(waitMs);
  response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
}

describe('PR-reliability-07: no limit of the HTTP library ends a wait for the first token', () => {
  it('in chat', async () => {
    const backend = new HttpBackend({url, modelName: 'slow', apiKey: null});
    vi.spyOn(backend, 'ready').mockResolvedValue({modelName: 'slow', maxModelLen: null, readsToolCalls: null});
    const events = collect(backend.answer({messages: []}, {signal: new AbortController().signal}));
    await answerLate();
    expect(await events).toContainEqual({type: 'text-delta', text: 'late'});
    await backend.close();
  });

  it('in bench', async () => {
    const limits = {first: 0, idle: 0, total: 3600};
    const client = new StreamClient({url, headers: {}, maxConnections: 1, isInsecure: false, limits});
    const request = {index: 0, requestId: 'r', promptTokens: null, outputTokens: null, sourceId: null, turn: 0};
    const sending = client.send({...request, body: {}, cancelAfterEvents: null}, 0, new AbortController().signal);
    await answerLate();
    expect(await sending).toMatchObject({status: 200, isCancelled: false, outputTimesMs: [expect.any(Number)]});
    await client.close();
  });

  it('in front of a vLLM server', async () => {
    const {engineTimeoutSeconds} = singleEngine;
    const dispatcher = new Agent();
    const target = {dispatcher, url, path: '/', headers: {}, timeoutMs: engineTimeoutSeconds * 1000};
    const ending = new Promise<SequenceOutput>((onOutput, onError) => {
      new GenerateCall(target, engineRequest('r', [1, 2]), '{}', {onOutput, onError});
    });
    await answerLate({choices: [{token_ids: [7], finish_reason: 'stop'}]});
    expect(await ending).toMatchObject({newTokenIds: [7], finishReason: 'stop'});
    await dispatcher.close();
  });

  it('in the server itself, which cuts no silent socket', () => {
    expect(createHttpServer().server.timeout).toBe(0);
  });

  it('while the defaults of the library would', async () => {
    const {origin} = new URL(url);
    const failed = new Agent().request({origin, path: '/', method: 'GET'}).catch((error: {code: string}) => error.code);
    await answerLate();
    expect(await failed).toBe('UND_ERR_HEADERS_TIMEOUT');
  });
});
