/**
 * Starts the built `parlance serve` on a free port and waits until it is ready; ends it and looks that nothing is left.
 * Everything it writes is kept, for assertions and for the message when something goes wrong.
 */
import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {resolve} from 'node:path';
import {programEnvironment, programPath, repositoryRoot} from './run-program.ts';

export interface ServeEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ServeProcess {
  url: string;
  port: number;
  pid: number;
  /** Process id of the first engine; NaN when none is of this machine. */
  enginePid: number;
  /** Of the engines that run now. */
  enginePids(): number[];
  stdout(): string;
  stderr(): string;
  /** The messages of the JSON log lines on stderr. */
  logMessages(): string[];
  /** Resolves when a log message matches. */
  logged(pattern: RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<ServeEnd>;
  /** Ends it with SIGTERM and waits. May be called twice, and after an end by itself. */
  stop(): Promise<ServeEnd>;
}

export interface StartServeOptions {
  argv?: readonly string[];
  env?: Record<string, string>;
  /** Working directory of the server; the one of the tests by default. */
  cwd?: string;
  /** Arguments of node that start the program; the built one by default. */
  program?: readonly string[];
}

const startTimeoutMs = 120_000;
const stopTimeoutMs = 20_000;
const killGraceMs = 10_000;

/** Graphs built by tests are kept between runs, away from those of the user. */
const modelCacheDir = resolve(repositoryRoot, '.cache/models');

export async function startServe({
  argv = [],
  env = {},
  cwd,
  program = [programPath],
}: StartServeOptions = {}): Promise<ServeProcess> {
  const child = spawn(process.execPath, [...program, 'serve', '--port', '0', ...argv], {
    env: programEnvironment({PARLANCE_MODEL_CACHE_DIR: modelCacheDir, ...env}),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd !== undefined && {cwd}),
  });
  const output = collectOutput(child);
  const ended = once(child, 'close').then(([code, signal]) => ({code, signal}) as ServeEnd);
  const url = await Promise.race([
    output.match('stdout', /^Listening on (http:\S+)$/m, startTimeoutMs),
    ended.then((end) => {
      throw new Error(`The server ended while it started: ${JSON.stringify(end)}\n${output.stderr()}`);
    }),
  ]);
  const enginePids = () => enginesOf(child.pid!);
  const [enginePid = Number.NaN] = enginePids();
  return {
    url,
    port: Number(new URL(url).port),
    pid: child.pid!,
    enginePid,
    enginePids,
    stdout: output.stdout,
    stderr: output.stderr,
    logMessages: () => messagesOf(output.stderr()),
    logged: async (pattern) => void (await output.match('stderr', pattern, stopTimeoutMs)),
    kill: (signal) => void child.kill(signal),
    ended,
    stop: () => stopServe(child, ended, [enginePid, ...enginePids()]),
  };
}

/** True while the process runs; one that has ended and waits for its parent counts as ended. */
export function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

async function stopServe(child: ChildProcess, ended: Promise<ServeEnd>, enginePids: number[]): Promise<ServeEnd> {
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), killGraceMs);
  const end = await ended;
  clearTimeout(hard);
  const left = enginePids.filter(isRunning);
  if (left.length === 0) return end;
  for (const pid of left) process.kill(pid, 'SIGKILL');
  throw new Error(`Engine processes were left behind: ${left.join(', ')}`);
}

/** In the order in which they were started. */
function enginesOf(pid: number): number[] {
  const {stdout} = spawnSync('pgrep', ['-P', String(pid), '-f', 'engine-process'], {encoding: 'utf8'});
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [Number(line)]));
}

function messagesOf(stderr: string): string[] {
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => (JSON.parse(line) as {msg: string}).msg);
}

type StreamName = 'stdout' | 'stderr';

/** Both streams as text, with a way to wait for something in them. */
function collectOutput(child: ChildProcess) {
  const texts = {stdout: '', stderr: ''};
  const waiters = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      for (const waiter of waiters) waiter();
    });
  }
  const match = (name: StreamName, pattern: RegExp, timeoutMs: number) =>
    new Promise<string>((settle, reject) => {
      const look = () => {
        const found = pattern.exec(texts[name]);
        if (!found) return;
        finish();
        settle(found[1] ?? found[0]);
      };
      const giveUp = () => {
        finish();
        reject(new Error(`${name} had no ${pattern} within ${timeoutMs} ms:\n${texts[name]}`));
      };
      const timer = setTimeout(giveUp, timeoutMs);
      const finish = () => {
        clearTimeout(timer);
        waiters.delete(look);
      };
      waiters.add(look);
      look();
    });
  return {match, stdout: () => texts.stdout, stderr: () => texts.stderr};
}
