/**
 * The built `parlance chat` against a scripted server: pipes, and the screen in tmux with keys in and screen out. Where
 * tmux is missing, the screen is skipped.
 */
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {text as readStream} from 'node:stream/consumers';
import {setTimeout as delay} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, it, onTestFinished, vi} from 'vitest';
import {programPath, runProgram} from '../support/run-program.ts';
import {createTemporaryFolder} from '../support/temporary-folder.ts';

let server: Server;
let url: string;
/** Requests whose client left before the end. */
let numClosedEarly = 0;

beforeAll(async () => {
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url === '/v1/models') return void response.end('{"data":[{"id":"scripted","max_model_len":4096}]}');
  const {messages} = JSON.parse(await readStream(request)) as {messages: {content: string}[]};
  const question = messages.at(-1)!.content;
  response.on('close', () => {
    if (!response.writableFinished) numClosedEarly++;
  });
  response.setHeader('content-type', 'text/event-stream');
  const send = (delta: object, finish_reason: string | null = null) =>
    response.write(`data: ${JSON.stringify({choices: [{index: 0, delta, finish_reason}]})}\n\n`);
  if (question === 'boom') {
    send({content: 'two tokens'});
    return void response.end('data: {"error":{"message":"boom"}}\n\ndata: [DONE]\n\n');
  }
  const lines = question.startsWith('long') ? Number(question.split(' ')[1]) : 0;
  for (let line = 0; line < lines && !response.destroyed; line++) {
    send({content: `answer line ${line} 漢字 😀\n${line % 5 === 4 ? '\n' : ''}`});
    await delay(10);
  }
  send({content: `You sent ${question.length} characters.`}, 'stop');
  response.end('data: [DONE]\n\n');
}

describe('chat in a pipe', () => {
  it('prints the answer and nothing else', async () => {
    const {stdout, code} = await runProgram(['chat', '--url', url], {input: 'hello\n'});
    expect(stdout).toBe('You sent 5 characters.\n');
    expect(code).toBe(0);
  });

  it('says an error in the middle of a stream', async () => {
    const {stdout, stderr, code} = await runProgram(['chat', '--url', `${url}/v1`, '-q', 'boom'], {input: ''});
    expect([stdout, stderr, code]).toEqual(['two tokens\n', 'Error: boom\n', 1]);
  });

  it('says that nothing listens', async () => {
    const {stderr, code} = await runProgram(['chat', '--url', 'http://127.0.0.1:9', '-q', 'hi'], {input: ''});
    expect(stderr).toMatch(/^Error: Nothing answers at http:\/\/127.0.0.1:9 .*\n$/);
    expect(code).toBe(1);
  });

  it('gives one object with --json', async () => {
    const {stdout} = await runProgram(['chat', '--url', url, '-q', 'hi', '--json'], {input: ''});
    expect(JSON.parse(stdout)).toMatchObject({model: 'scripted', finish_reason: 'stop', message: {role: 'assistant'}});
  });
});

const hasTmux = (() => {
  try {
    execFileSync('tmux', ['-V']);
    return true;
  } catch {
    return false;
  }
})();

/** A chat in a tmux window of a server of its own, with lines of a shell above it. */
async function openScreen({columns = 80, rows = 24} = {}) {
  const folder = await createTemporaryFolder();
  const log = join(folder, 'bytes');
  const tmux = (...argv: string[]) => execFileSync('tmux', ['-S', join(folder, 'socket'), ...argv], {encoding: 'utf8'});
  onTestFinished(() => void tmux('kill-server'));
  const command = `for i in $(seq 40); do echo history $i; done; XDG_DATA_HOME=${folder} ${process.execPath} ${programPath} chat --url ${url}; sleep 60`;
  tmux('-f', '/dev/null', 'new-session', '-d', '-x', String(columns), '-y', String(rows), `sleep 0.5; ${command}`);
  tmux('pipe-pane', `cat > ${log}`);
  const screen = {
    tmux,
    send: (...keys: string[]) => tmux('send-keys', ...keys),
    all: () => tmux('capture-pane', '-p', '-S', '-20000'),
    bytes: () => readFileSync(log, 'utf8'),
    shows: (part: string | RegExp) =>
      vi.waitFor(() => expect(screen.all()).toMatch(part), {timeout: 20_000, interval: 50}),
  };
  await screen.shows('scripted');
  return screen;
}

describe.skipIf(!hasTmux)('chat on a screen (needs tmux)', () => {
  it.each([
    {columns: 80, rows: 24},
    {columns: 40, rows: 15},
  ])('keeps the history and shows each line once, $columns x $rows', async (size) => {
    const screen = await openScreen(size);
    screen.send('long 60', 'Enter');
    await screen.shows(/You sent 7 characters/);
    const text = screen.all();
    expect(text.match(/^history \d+$/gm)).toHaveLength(40);
    for (let line = 0; line < 60; line++) expect(text.split(`answer line ${line} `)).toHaveLength(2);
    expect(screen.bytes()).not.toMatch(/\u001b\[[23]J/);
  });

  it('loses and doubles nothing when the window changes', async () => {
    const screen = await openScreen();
    screen.send('long 100', 'Enter');
    await screen.shows('answer line 10 ');
    screen.tmux('resize-window', '-x', '40', '-y', '24');
    await screen.shows('answer line 40 ');
    screen.tmux('resize-window', '-x', '100', '-y', '24');
    await screen.shows(/You sent 8 characters/);
    const text = screen.all();
    for (let line = 0; line < 100; line++) expect(text.split(`answer line ${line} `)).toHaveLength(2);
    expect(screen.bytes()).not.toMatch(/\u001b\[[23]J/);
  });

  it('sends a paste of a hundred lines as one message, after Enter', async () => {
    const screen = await openScreen();
    const pasted = Array.from({length: 100}, (_, line) => `line ${line}`).join('\n');
    screen.tmux('set-buffer', pasted);
    screen.tmux('paste-buffer', '-p');
    await screen.shows('[pasted 100 lines]');
    expect(screen.all()).not.toContain('You sent');
    screen.send('Enter');
    await screen.shows(`You sent ${pasted.length} characters`);
  });

  it('closes the request at Escape, and goes on', async () => {
    const screen = await openScreen();
    screen.send('long 5000', 'Enter');
    await screen.shows('answer line 10 ');
    const before = numClosedEarly;
    screen.send('Escape');
    await vi.waitFor(() => expect(numClosedEarly).toBe(before + 1), {timeout: 1000});
    await screen.shows('(stopped)');
    screen.send('again', 'Enter');
    await screen.shows('You sent 5 characters');
  });

  it('goes on after an error in a stream', async () => {
    const screen = await openScreen();
    screen.send('boom', 'Enter');
    await screen.shows(/^boom/m);
    screen.send('C-u');
    screen.send('next', 'Enter');
    await screen.shows('You sent 4 characters');
  });
});
