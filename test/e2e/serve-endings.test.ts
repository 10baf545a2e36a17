/** How `parlance serve` ends: signals in the middle of streams, the death of its engine, and starts that fail. */
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, describe, expect, it} from 'vitest';
import {capitalQuestion, eventData, type Json, longQuestion, postChat} from '../support/chat-stream.ts';
import {runProgram} from '../support/run-program.ts';
import {isRunning, type ServeProcess, type StartServeOptions, startServe} from '../support/serve-process.ts';

let server: ServeProcess | null = null;

async function start(options?: StartServeOptions): Promise<ServeProcess> {
  server = await startServe(options);
  return server;
}

afterEach(async () => {
  await server?.stop();
  server = null;
});

/** A stream that goes on for long, read up to its third event. */
async function openStream(url: string, body: Json = {}): Promise<AsyncGenerator<string, void, undefined>> {
  const response = await postChat(url, {
    messages: longQuestion,
    stream: true,
    max_tokens: 4000,
    ignore_eos: true,
    ...body,
  });
  const events = eventData(response);
  for (let count = 0; count < 3; count++) await events.next();
  return events;
}

/** What is left of a stream. */
async function rest(events: AsyncGenerator<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const data of events) all.push(data);
  return all;
}

describe('signals', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'PR-engine-06: %s ends running answers in order, then the server with 0',
    async (signal) => {
      const {url, kill, ended, enginePid} = await start();
      const whole = postChat(url, {messages: longQuestion, max_tokens: 4000, ignore_eos: true});
      const stream = await openStream(url);
      kill(signal);
      const events = await rest(stream);
      expect(events.at(-1)).toBe('[DONE]');
      expect(JSON.parse(events.at(-2)!).choices[0].finish_reason).toBe('abort');
      const answer = (await (await whole).json()) as {choices?: {finish_reason: string}[]};
      expect(answer.choices?.[0]?.finish_reason).toBe('abort');
      expect(await ended).toEqual({code: 0, signal: null});
      expect(isRunning(enginePid)).toBe(false);
    },
  );

  it('lets a running stream finish within the shutdown timeout', async () => {
    const {url, kill, ended} = await start({argv: ['--shutdown-timeout', '60']});
    const stream = await openStream(url, {max_tokens: 40});
    kill('SIGTERM');
    const events = await rest(stream);
    expect(events.at(-1)).toBe('[DONE]');
    expect(JSON.parse(events.at(-2)!).choices[0].finish_reason).toBe('length');
    expect(await ended).toEqual({code: 0, signal: null});
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('a second %s ends at once', async (signal, code) => {
    const {url, kill, ended, logged, enginePid} = await start({argv: ['--shutdown-timeout', '600']});
    const stream = await openStream(url);
    kill('SIGTERM');
    await logged(/Stopping/);
    kill(signal);
    await rest(stream).catch(() => {});
    expect(await ended).toEqual({code, signal: null});
    await expect.poll(() => isRunning(enginePid), {timeout: 10_000}).toBe(false);
  });
});

it('PR-reliability-02: tells open streams and probes that the engine is dead, and ends with 1', async () => {
  const {url, enginePid, ended, stderr} = await start();
  const stream = await openStream(url);
  process.kill(enginePid, 'SIGKILL');
  const events = await rest(stream);
  expect(events.at(-1)).toBe('[DONE]');
  expect(JSON.parse(events.at(-2)!).error).toMatchObject({code: 500});
  expect((await fetch(`${url}/health`)).status).toBe(503);
  const refused = await postChat(url, {messages: capitalQuestion});
  expect(refused.status).toBe(500);
  expect(await ended).toEqual({code: 1, signal: null});
  expect(stderr().match(/Engine died: process \d+ was ended by SIGKILL/g)).toHaveLength(1);
  expect(stderr()).not.toMatch(/"stack"|\n +at /);
});

describe('the ready file and the JSON line', () => {
  it('are written when requests are answered, and the file goes with the server', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parlance-ready-'));
    const path = join(folder, 'ready.json');
    const {url, pid, stop} = await start({argv: ['--ready-file', path, '--served-model-name', 'tiny']});
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({event: 'ready', url, model: 'tiny', pid});
    await stop();
    expect(existsSync(path)).toBe(false);
    rmSync(folder, {recursive: true});
  });
});

describe('starts that fail', () => {
  it('a port in use: exit code 4 within the time of a start without a model', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => holder.once('listening', resolve));
    const {port} = holder.address() as {port: number};
    const {code, stdout, stderr} = await runProgram(['serve', '--port', String(port), '--log-level', 'error']);
    holder.close();
    expect({code, stdout}).toEqual({code: 4, stdout: ''});
    expect(stderr).toMatch(new RegExp(`^Error: .*${port} .*in use.*\n`));
  });

  it('a template that is not there: exit code 2', async () => {
    const {code, stdout, stderr} = await runProgram([
      'serve',
      '--port',
      '0',
      '--chat-template',
      '/no/such.jinja',
      '--log-level',
      'error',
    ]);
    expect({code, stdout}).toEqual({code: 2, stdout: ''});
    expect(stderr).toMatch(/^Error: [^\n]*\/no\/such\.jinja[^\n]*\n/);
  });
});
