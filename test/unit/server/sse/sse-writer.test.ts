import {createServer, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {connect, type Socket} from 'node:net';
import {afterEach, describe, expect, it} from 'vitest';
import {SseWriter} from '../../../../src/server/sse/sse-writer.ts';

const cleanups: (() => void)[] = [];

afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** A response with a client behind it that does not read until told to. */
async function openResponse(): Promise<{response: ServerResponse; client: Socket}> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.pause();
  client.on('error', () => {});
  cleanups.push(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const response = await new Promise<ServerResponse>((resolve) => server.once('request', (_, res) => resolve(res)));
  return {response, client};
}

function readAll(client: Socket): Promise<string> {
  let text = '';
  client.setEncoding('utf8');
  client.on('data', (data) => {
    text += data;
  });
  return new Promise((resolve) => client.on('end', () => resolve(text)));
}

/** More than all buffers between the two ends hold. */
const largeEvent = JSON.stringify({text: 'x'.repeat(8 * 1024 * 1024)});

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<boolean>((resolve) => setTimeout(resolve, 100, false))]);
}

describe('SseWriter', () => {
  it('writes headers at once, then events and the end mark', async () => {
    const {response, client} = await openResponse();
    const text = readAll(client);
    const writer = new SseWriter(response, {keepAliveSeconds: 0});
    response.setHeader('connection', 'close');
    writer.open({vary: 'Origin'});
    await writer.send(['{"a":1}', '{"b":"é"}']);
    await writer.send([]);
    await writer.end();
    client.resume();
    const [head] = (await text).split('\r\n\r\n', 1);
    expect(head.toLowerCase()).toContain('content-type: text/event-stream; charset=utf-8');
    expect(head.toLowerCase()).toContain('vary: origin');
    expect(head.toLowerCase()).toContain('cache-control: no-cache\r\nx-accel-buffering: no');
    expect(await text).toContain('data: {"a":1}\n\ndata: {"b":"é"}\n\n');
    expect(await text).toContain('data: [DONE]\n\n\r\n0\r\n\r\n');
  });

  it('waits for a client that does not read', async () => {
    const {response, client} = await openResponse();
    const writer = new SseWriter(response, {keepAliveSeconds: 0});
    writer.open({});
    const sent = writer.send([largeEvent]);
    expect(await isSettled(sent!)).toBe(false);
    client.resume();
    await sent;
  });

  it('stops waiting when the client leaves, and then does nothing', async () => {
    const {response, client} = await openResponse();
    const writer = new SseWriter(response, {keepAliveSeconds: 0});
    writer.open({});
    const sent = writer.send([largeEvent]);
    client.destroy();
    await sent;
    await writer.send(['{"a":1}']);
    await writer.end();
    expect(response.writableFinished).toBe(false);
  });

  it('sends comments in times of silence, and none after the end', async () => {
    const {response, client} = await openResponse();
    response.setHeader('connection', 'close');
    const text = readAll(client);
    client.resume();
    const writer = new SseWriter(response, {keepAliveSeconds: 0.02});
    writer.open({});
    await new Promise((resolve) => setTimeout(resolve, 90));
    await writer.send(['{"a":1}']);
    await writer.end();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const body = await text;
    expect(body.split(': keep-alive\n\n').length).toBeGreaterThan(2);
    expect(body.indexOf(': keep-alive')).toBeLessThan(body.indexOf('data: {"a":1}'));
    expect(body.slice(body.indexOf('[DONE]'))).not.toContain('keep-alive');
  });
});
