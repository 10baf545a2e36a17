/** Requests that were made to hurt: on the wire, in the URL, in the body. Each is refused or served, and nothing else changes. */
import {connect} from 'node:net';
import {text} from 'node:stream/consumers';
import {describe, expect, it} from 'vitest';
import {callText, openPlaying, tools} from '../../support/reported-cases.ts';
import {closeAppsAfterEach, openTestApp, userSays} from '../../support/test-app.ts';

closeAppsAfterEach();

const chatPath = '/v1/chat/completions';
const body = JSON.stringify({messages: userSays('Hi'), max_tokens: 1});

/** Sends bytes as they are and reads until the server closes. @returns the status lines of all answers */
async function exchange(url: string, request: string): Promise<string[]> {
  const {port, hostname} = new URL(url);
  const socket = connect(Number(port), hostname);
  // A server that waits for more has read less than it was sent.
  socket.setTimeout(2000, () => socket.destroy());
  socket.write(request);
  const answers = await text(socket);
  return answers.match(/HTTP\/1\.1 \d+/g) ?? [];
}

const head = (...lines: string[]) =>
  [`POST ${chatPath} HTTP/1.1`, 'host: x', 'content-type: application/json', ...lines, '', ''].join('\r\n');
const smuggled = 'GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';

describe('two readings of one request', () => {
  it.each([
    ['a length and chunks', `${head('content-length: 4', 'transfer-encoding: chunked')}0\r\n\r\n${smuggled}`],
    ['two lengths', head('content-length: 4', 'content-length: 90') + smuggled],
    ['chunks that are not last', `${head('transfer-encoding: chunked, identity')}0\r\n\r\n${smuggled}`],
    ['chunks by another name', `${head('transfer-encoding: xchunked')}0\r\n\r\n${smuggled}`],
    ['a length with a sign', head('content-length: +4') + smuggled],
    ['a size of a chunk with a sign', `${head('transfer-encoding: chunked')}-1\r\n${smuggled}`],
    ['a blank before the colon', head('content-length : 4') + smuggled],
    ['a header over two lines', head('x: 1', ' content-length: 4') + smuggled],
    ['a lone carriage return', head('x: 1\rcontent-length: 4') + smuggled],
  ])('%s: refused, and nothing behind it is read', async (_what, request) => {
    const {listen} = await openTestApp();
    const statuses = await exchange(await listen(), request);
    expect(statuses.length).toBeLessThanOrEqual(1);
    expect(statuses.join()).not.toContain(' 200');
  });

  it('requests one behind the other are answered one behind the other', async () => {
    const {listen} = await openTestApp();
    const request = head(`content-length: ${body.length}`) + body + smuggled;
    expect(await exchange(await listen(), request)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });
});

describe('keys of prototypes', () => {
  const poison = '{"polluted":"yes","toString":1,"role":"system"}';
  const names = ['__proto__', 'constructor', 'prototype'];
  const places: [string, (name: string) => string][] = [
    ['the body', (name) => `{"${name}":${poison},"messages":[{"role":"user","content":"a"}]}`],
    ['a message', (name) => `{"messages":[{"${name}":${poison},"role":"user","content":"a"}]}`],
    [
      'the arguments of the template',
      (name) => `{"messages":[{"role":"user","content":"a"}],"chat_template_kwargs":{"${name}":${poison}}}`,
    ],
    ['a map of numbers', (name) => `{"messages":[{"role":"user","content":"a"}],"logit_bias":{"${name}":1}}`],
    ['extensions', (name) => `{"messages":[{"role":"user","content":"a"}],"vllm_xargs":{"${name}":"a"}}`],
    [
      'a tool',
      (name) =>
        `{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"${name}":${poison}},"$defs":{"${name}":${poison}}}}}],"tool_choice":"none"}`,
    ],
    [
      'the name of a tool',
      (name) =>
        `{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"${name}"}}],"tool_choice":"none"}`,
    ],
    [
      'earlier arguments',
      (name) =>
        `{"messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\\"${name}\\":{\\"polluted\\":1}}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]}`,
    ],
    [
      'a schema',
      (name) =>
        `{"messages":[{"role":"user","content":"a"}],"structured_outputs":{"json":{"type":"object","properties":{"${name}":{"type":"null"}},"${name}":${poison}}}}`,
    ],
    [
      'options of the stream',
      (name) => `{"messages":[{"role":"user","content":"a"}],"stream":true,"stream_options":{"${name}":${poison}}}`,
    ],
  ];
  const cases = places.flatMap(([place, write]) =>
    names.map((name): [string, string, string] => [name, place, write(name)]),
  );

  it.each(cases)('%s in %s changes no object', async (_name, _place, written) => {
    const {post, chat} = await openTestApp();
    const {status} = await post(chatPath, written);
    expect([200, 400]).toContain(status);
    expect(({} as {polluted?: unknown}).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect((await chat({})).status).toBe(200);
  });

  it.each(names)('%s as an argument that the model writes is an argument', async (name) => {
    const json = `{"name":"ping","arguments":{"${name}":{"polluted":"yes"}}}`;
    const app = await openPlaying({pieces: [callText(json)]});
    const {status, text: answer} = await app.chat({tools});
    expect(status).toBe(200);
    expect(answer).toContain(name);
    expect(({} as {polluted?: unknown}).polluted).toBeUndefined();
  });
});

describe('depth', () => {
  const deep = (open: string, close: string, inner = '1', depth = 100_000) =>
    open.repeat(depth) + inner + close.repeat(depth);
  const call = (text: string) => [
    ...userSays('a'),
    {role: 'assistant', tool_calls: [{id: 'c', type: 'function', function: {name: 'f', arguments: text}}]},
    {role: 'tool', tool_call_id: 'c', content: 'x'},
  ];

  it.each([
    ['lists', deep('[', ']')],
    ['objects', deep('{"a":', '}')],
    ['an open end', '['.repeat(1_000_000)],
    ['a field', `{"messages":[{"role":"user","content":"a"}],"x":${deep('[', ']')}}`],
    [
      'a schema as text',
      JSON.stringify({messages: userSays('a'), structured_outputs: {json: deep('{"items":', '}', '{}')}}),
    ],
    [
      'a structural tag as text',
      JSON.stringify({messages: userSays('a'), structured_outputs: {structural_tag: deep('{"format":', '}', '{}')}}),
    ],
  ])('%s without end are refused', async (_what, written) => {
    const {post, chat} = await openTestApp();
    const {status, body: answer} = await post(chatPath, written);
    expect(status).toBe(400);
    expect(answer.error.message).toMatch(/\S/);
    expect((await chat({})).status).toBe(200);
  });

  it('earlier arguments without end are no arguments', async () => {
    const {chat} = await openTestApp();
    expect((await chat({messages: call(deep('{"a":', '}'))})).status).toBe(200);
  });
});

describe('long texts', () => {
  const ideographs = Array.from({length: 10_000}, (_, index) => String.fromCodePoint(0x4e00 + 2 * index)).join('');
  const fields: [string, object][] = [
    ['names behind slashes as model', {model: '-/'.repeat(200_000)}],
    ['empty lines as model', {model: '\n'.repeat(400_000)}],
    ['digits as temperature', {temperature: `${'1'.repeat(400_000)}!`}],
    ['digits as a count', {n: `${'1_'.repeat(200_000)}!`}],
    ['a class in a regex', {structured_outputs: {regex: `[${ideographs}`}}],
    ['empty lines as grammar', {structured_outputs: {grammar: '\n'.repeat(400_000)}}],
    ['brackets in a grammar', {structured_outputs: {grammar: `start: /${'['.repeat(400_000)}`}}],
  ];

  it.each(fields)('%s are refused soon', async (_what, given) => {
    const {chat} = await openTestApp();
    const start = performance.now();
    const {status} = await chat(given);
    expect([400, 404]).toContain(status);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
