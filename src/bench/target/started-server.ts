/** A server of our own for the time of a run, as a child process on a free port. */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {ServingError} from '../../core/errors.ts';
import type {BenchSettings} from '../bench-settings.ts';

export interface StartedServer {
  baseUrl: string;
  stop(): Promise<void>;
}

export interface ProgramPlace {
  /** The file that starts the command line, and what node gets before it. */
  path: string;
  execArgv: readonly string[];
}

const stopGraceMs = 10_000;
const keptLogLines = 15;

/**
 * @param serve the model; null = the embedded one
 * @param signal ends the start
 * @throws ServingError with the last lines of its log when it does not start
 */
export async function startServer(
  program: ProgramPlace,
  {serve, serveArgs}: Pick<BenchSettings, 'serve' | 'serveArgs'>,
  signal: AbortSignal,
): Promise<StartedServer> {
  const argv = ['serve', ...(serve === null ? [] : [serve]), '--port', '0', '--log-level', 'warning', ...serveArgs];
  // In a process group of its own, so that Ctrl-C reaches the bench only, which then lets running answers end.
  const child = spawn(process.execPath, [...program.execArgv, program.path, ...argv], {
    env: childEnvironment(process.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'close').finally(() => process.off('exit', kill));
  const end = () => void child.kill('SIGTERM');
  signal.addEventListener('abort', end);
  const baseUrl = await readyUrl(child).finally(() => signal.removeEventListener('abort', end));
  return {baseUrl, stop: () => stopServer(child, ended)};
}

/** Without the settings of the bench itself, and without a key that nobody would send. */
function childEnvironment({
  PARLANCE_CONFIG: _config,
  VLLM_API_KEY: _key,
  ...env
}: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return env;
}

function readyUrl(child: ChildProcess): Promise<string> {
  let [stdout, stderr] = ['', ''];
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).split('\n').slice(-keptLogLines).join('\n');
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const url = /^Listening on (http\S+)$/m.exec(stdout)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('error', reject);
    child.once('close', () => reject(new ServingError(`The server did not start:\n${stderr.trim()}`)));
  });
}

async function stopServer(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), stopGraceMs);
  await ended;
  clearTimeout(hard);
}
