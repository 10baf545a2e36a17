/**
 * The built `parlance chat` against a scripted server: pipes, and the screen in tmux with keys in and screen out. Where
 * tmux is missing, the screen is skipped.
 */
import {execFile, execFileSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, it, onTestFinished, vi} from 'vitest';
import {hasPseudoTerminals, openPseudoTerminal} from '../support/pseudo-terminal.ts';
import {programEnvironment, programPath, runProgram} from '../support/run-program.ts';
import {proseWord, startTalkingServer, type TalkingServer} from '../support/talking-server.ts';
import {createTemporaryFolder} from '../support/temporary-folder.ts';

let server: TalkingServer;
let url: string;

beforeAll(async () => {
  server = await startTalkingServer();
  url = server.url;
});
afterAll(() => server.close());

describe('chat in a pipe', () => {
  it('PR-chat-03: prints the answer and nothing else', async () => {
    const {stdout, code} = await runProgram(['chat', '--url', url], {input: 'hello\n'});
    expect(stdout).toBe('You sent 5 characters.\n');
    expect(code).toBe(0);
  });

  it('PR-chat-03: says what is missing in a job without terminal and message', async () => {
    const {stdout, stderr, code} = await runProgram(['chat', '--url', url], {input: ''});
    expect([stdout, code]).toEqual(['', 2]);
    expect(stderr).toMatch(/^Error: there is no message\n/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  it.each(['0', '1'])('PR-chat-04: a file gets the answer once and no escape codes, FORCE_COLOR=%s', async (colour) => {
    const file = join(await createTemporaryFolder(), 'out.txt');
    const command = `exec "$0" "$1" chat --url ${url} --quick "Say hello" > ${file} < /dev/null`;
    await promisify(execFile)('sh', ['-c', command, process.execPath, programPath], {
      env: programEnvironment({FORCE_COLOR: colour, TERM: 'xterm-256color'}),
    });
    expect(readFileSync(file, 'utf8')).toBe('You sent 9 characters.\n');
  });

  it.each(['', '/v1', '/v1/'])('PR-chat-06: asks the first model of the server, address with "%s"', async (end) => {
    const {stdout} = await runProgram(['chat', '--url', `${url}${end}`, '-q', 'hi', '--json'], {input: ''});
    expect(JSON.parse(stdout)).toMatchObject({model: 'scripted', message: {content: 'You sent 2 characters.'}});
  });

  it('refuses what is no address', async () => {
    const {stderr, code} = await runProgram(['chat', '--url', 'no address', '-q', 'hi'], {input: ''});
    expect(stderr).toMatch(/^Error: --url: no address is no address\n/);
    expect(code).toBe(2);
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
  tmux(
    '-f',
    '/dev/null',
    'start-server',
    ';',
    'set-option',
    '-g',
    'history-limit',
    '20000',
    ';',
    'new-session',
    '-d',
    '-x',
    String(columns),
    '-y',
    String(rows),
    `sleep 0.5; ${command}`,
  );
  tmux('pipe-pane', `cat > ${log}`);
  const screen = {
    tmux,
    send: (...keys: string[]) => tmux('send-keys', ...keys),
    all: () => tmux('capture-pane', '-p', '-J', '-S', '-20000'),
    resize: (columns: number, rows: number) => tmux('resize-window', '-x', String(columns), '-y', String(rows)),
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
    {columns: 80, rows: 20},
    {columns: 40, rows: 15},
  ])('PR-chat-01: keeps the history and shows each line once, $columns x $rows', async (size) => {
    const screen = await openScreen(size);
    screen.send('long 60', 'Enter');
    await screen.shows(/You sent 7 characters/);
    const text = screen.all();
    expect(text.match(/^history \d+$/gm)).toHaveLength(40);
    for (let line = 0; line < 60; line++) expect(text.split(`answer line ${line} `)).toHaveLength(2);
    expect(screen.bytes()).not.toMatch(/\u001b\[[23]J/);
  });

  it('PR-chat-02: loses and doubles nothing when the window changes', async () => {
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

  it.each([
    {phase: 'while the model thinks', message: 'think 4000', live: /thinks ·/g, widths: [50, 120, 50, 90, 50, 120]},
    {phase: 'while an answer comes', message: 'long 2000', live: /esc to stop/g, widths: [50, 120, 50, 90, 50, 120]},
    {phase: 'while it waits for input', message: null, live: /scripted/g, widths: [50, 120, 50, 90, 45, 30, 120]},
  ])('PR-chat-02: leaves no live line behind in a narrower window, $phase', async ({message, live, widths}) => {
    const screen = await openScreen({columns: 120, rows: 30});
    if (message !== null) screen.send(message, 'Enter');
    else screen.send('a line of input that is longer than the fifty columns that the window will soon have');
    await screen.shows(message === null ? 'soon have' : 'esc to stop');
    const holdsOnce = async (columns: number) => {
      screen.tmux('resize-window', '-x', String(columns), '-y', '30');
      // tmux tells sizes at most four times a second.
      await delay(400);
      // What was left behind stays; a screen that is just being drawn does not.
      await vi.waitFor(() => {
        const text = screen.all();
        expect(text.match(live), `${columns} columns:\n${text}`).toHaveLength(1);
        expect(text.match(/a line of input/g) ?? []).toHaveLength(message === null ? 1 : 0);
        expect(text.match(/^history \d+$/gm)).toHaveLength(40);
        expect(text.match(/Parlance/g)).toHaveLength(1);
      });
    };
    for (const columns of widths) await holdsOnce(columns);
    expect(screen.bytes()).not.toMatch(/\u001b\[[23]J/);
  });

  it.each([
    {name: 'from 100 to 40 columns', start: [100, 24], sizes: [[40, 24]]},
    {
      name: 'to and fro',
      start: [120, 30],
      sizes: [
        [50, 30],
        [100, 30],
        [30, 30],
        [70, 30],
        [41, 30],
        [100, 30],
      ],
    },
    {
      name: 'from 24 to 8 rows',
      start: [80, 24],
      sizes: [
        [80, 8],
        [80, 24],
        [80, 5],
        [80, 12],
      ],
    },
    {
      name: 'to 3 rows and less columns',
      start: [80, 24],
      sizes: [
        [40, 3],
        [90, 20],
        [30, 4],
      ],
    },
  ])('PR-chat-02: says each word once when the window goes $name in the middle of a paragraph', async (window) => {
    const [columns, rows] = window.start as [number, number];
    const screen = await openScreen({columns, rows});
    screen.send('prose 1800 300', 'Enter');
    await screen.shows('word100 ');
    for (const [width, height] of window.sizes as [number, number][]) {
      screen.resize(width, height);
      await delay(600);
    }
    screen.resize(100, 24);
    await screen.shows('You sent 14 characters');
    const text = screen.all();
    const words = text.match(/\b(?:word|bold)\d+\b/g);
    expect(words, text).toEqual(Array.from({length: 1800}, (_, index) => proseWord(index).replace(/[*\s]/g, '')));
    expect(text.match(/^history \d+$/gm)).toHaveLength(40);
    expect(text.match(/scripted/g)).toHaveLength(1);
    expect(screen.bytes()).not.toMatch(/\u001b\[[23]J/);
  });

  it('writes little at 2000 tokens a second, and each word once', async () => {
    const screen = await openScreen();
    screen.send('fast 6000 2000', 'Enter');
    await screen.shows('You sent 14 characters');
    const words = screen.all().match(/\bword\d+\b/g);
    expect(words).toEqual(Array.from({length: 6000}, (_, index) => `word${index}`));
    expect(screen.all().match(/^history \d+$/gm)).toHaveLength(40);
    expect(screen.bytes()).not.toMatch(/\u001b\[[23]J/);
    expect(screen.bytes().length / 6000).toBeLessThan(30);
  });

  it.each([3, 500])('PR-chat-05: sends a paste of %i lines as one message, after Enter', async (numLines) => {
    const screen = await openScreen();
    const pasted = Array.from({length: numLines}, (_, line) => `line ${line}`).join('\n');
    screen.tmux('set-buffer', pasted);
    screen.tmux('paste-buffer', '-p');
    await screen.shows(numLines > 10 ? `[pasted ${numLines} lines]` : `line ${numLines - 1}`);
    expect(screen.all()).not.toContain('You sent');
    screen.send('Enter');
    await screen.shows(`You sent ${pasted.length} characters`);
  });

  it('PR-chat-05: takes a paste of 200 KB in one line at once', async () => {
    const screen = await openScreen();
    const file = join(await createTemporaryFolder(), 'paste');
    const pasted = 'wörter 漢字 😀 '.repeat(10_000);
    writeFileSync(file, pasted);
    screen.tmux('load-buffer', file);
    screen.tmux('paste-buffer', '-p');
    await screen.shows(`[pasted ${pasted.length} characters]`);
    screen.send('Enter');
    await screen.shows(`You sent ${pasted.trim().length} characters`);
    expect(screen.all()).toContain('more characters');
  });

  it('shows an answer of 200 KB that comes in one piece, each line once', async () => {
    const screen = await openScreen();
    screen.send('whole 2000', 'Enter');
    await screen.shows('You sent 10 characters');
    const numbers = screen.all().match(/(?<=^whole line )\d+/gm);
    expect(numbers).toEqual(Array.from({length: 2000}, (_, line) => String(line)));
    expect(screen.bytes()).not.toMatch(/\u001b\[[23]J/);
  });

  it('closes the request at Escape, and goes on', async () => {
    const screen = await openScreen();
    screen.send('long 5000', 'Enter');
    await screen.shows('answer line 10 ');
    const before = server.numClosedEarly();
    screen.send('Escape');
    await vi.waitFor(() => expect(server.numClosedEarly()).toBe(before + 1), {timeout: 1000});
    await screen.shows('(stopped)');
    screen.send('again', 'Enter');
    await screen.shows('You sent 5 characters');
  });

  it('PR-chat-07: goes on after an error in a stream', async () => {
    const screen = await openScreen();
    screen.send('boom', 'Enter');
    await screen.shows(/^boom/m);
    screen.send('C-u');
    screen.send('next', 'Enter');
    await screen.shows('You sent 4 characters');
  });
});

it.skipIf(!hasPseudoTerminals())('sends what was typed before the screen was there', async () => {
  const line = `${process.execPath} ${programPath} chat --url ${url} --no-save`;
  const terminal = await openPseudoTerminal(line, programEnvironment({TERM: 'xterm-256color'}));
  onTestFinished(() => terminal.close());
  terminal.type('typed early\r');
  await terminal.shows('You sent 11 characters');
});
