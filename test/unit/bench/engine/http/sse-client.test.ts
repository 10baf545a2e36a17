import http from 'node:http';
import type {AddressInfo} from 'node:net';
import {afterEach, describe, expect, it} from 'vitest';
import {firstTokenMs, streamChat} from '../../../../../bench/engine/http/sse-client.ts';

const question = [{role: 'user' as const, content: 'Hi'}];
let server: http.Server | null = null;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server that answers every request with these pieces of bytes. */
async function serve(pieces: string[], status = 200): Promise<{url: string; bodies: unknown[]}> {
  const bodies: unknown[] = [];
  server = http.createServer(async (request, response) => {
    bodies.push(JSON.parse((await request.toArray()).join('')));
    response.writeHead(status);
    for (const piece of pieces) await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    response.end();
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies};
}

const event = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const textEvent = (content: string) => event({choices: [{delta: {content}}]});
const usage = event({choices: [], usage: {prompt_tokens: 31, completion_tokens: 5}});

describe('streamChat', () => {
  it('times chunks with text and takes the counts of the server', async () => {
    const stream = [textEvent(''), textEvent('Hel'), textEvent('lo'), usage, 'data: [DONE]\n\n'].join('');
    const {url, bodies} = await serve([stream]);
    const answer = await streamChat(url, question, {maxTokens: 5});
    expect(answer).toMatchObject({text: 'Hello', numPromptTokens: 31, numOutputTokens: 5});
    expect(answer.chunkMs).toHaveLength(2);
    expect(firstTokenMs(answer)).toBeGreaterThan(0);
    expect(answer.endMs).toBeGreaterThanOrEqual(answer.chunkMs[1]);
    expect(bodies).toEqual([expect.objectContaining({max_tokens: 5, stream: true, ignore_eos: true})]);
  });

  it('puts events together that arrive in pieces', async () => {
    const stream = textEvent('Grüße') + usage;
    const {url} = await serve([...stream]);
    expect(await streamChat(url, question, {maxTokens: 5})).toMatchObject({text: 'Grüße', numOutputTokens: 5});
  });

  it('tells how many chunks have come', async () => {
    const {url} = await serve([textEvent('a'), textEvent('b'), usage]);
    const seen: number[] = [];
    await streamChat(url, question, {maxTokens: 5, onChunk: (count) => seen.push(count)});
    expect(seen).toEqual([1, 2]);
  });

  it.each([
    {name: 'an error status', pieces: ['{"error": "no"}'], status: 400, message: 'HTTP 400: {"error": "no"}'},
    {name: 'an error in the stream', pieces: [event({error: {message: 'dead'}, choices: []})], message: 'dead'},
    {name: 'a stream that breaks off', pieces: [textEvent('a')], message: 'ended before its usage'},
    {name: 'an answer without text', pieces: [usage], message: 'had no text'},
  ])('refuses $name', async ({pieces, status, message}) => {
    const {url} = await serve(pieces, status);
    await expect(streamChat(url, question, {maxTokens: 5})).rejects.toThrow(message);
  });
});
