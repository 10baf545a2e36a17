/** A server in a process group of its own: its output goes to a file, its early end is an error with the last lines of it. */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {closeSync, openSync, readFileSync} from 'node:fs';
import {setTimeout as delay} from 'node:timers/promises';

export interface ChildServerOptions {
  name: string;
  program: string;
  args: string[];
  env?: Record<string, string>;
  url: string;
  logFile: string;
}

const lookEveryMs = 500;
const stopMs = 20_000;
/** Of the log, when it fails. */
const numLastLines = 25;

export class ChildServer {
  readonly #options: ChildServerOptions;
  readonly #child: ChildProcess;

  constructor(options: ChildServerOptions) {
    const {program, args, env, logFile} = options;
    this.#options = options;
    const log = openSync(logFile, 'w');
    this.#child = spawn(program, args, {env: {...process.env, ...env}, stdio: ['ignore', log, log], detached: true});
    closeSync(log);
  }

  /** @throws Error when it ends first, or is not ready in time */
  async untilHealthy(minutes: number): Promise<void> {
    const {name, url} = this.#options;
    const deadline = Date.now() + minutes * 60_000;
    while (!(await answersHealth(url))) {
      if (this.#hasEnded) throw new Error(`${name} ended while it started. ${this.#lastLines()}`);
      if (Date.now() > deadline)
        throw new Error(`${name} was not ready within ${minutes} minutes. ${this.#lastLines()}`);
      await delay(lookEveryMs);
    }
  }

  /** The engine of vLLM is a process of its own, in the same group. */
  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    const ended = once(this.#child, 'exit');
    process.kill(-this.#child.pid!, 'SIGTERM');
    await Promise.race([ended, delay(stopMs, undefined, {ref: false})]);
    if (!this.#hasEnded) process.kill(-this.#child.pid!, 'SIGKILL');
    await ended;
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined;
  }

  #lastLines(): string {
    const {logFile} = this.#options;
    const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-numLastLines);
    return `The end of ${logFile}:\n${lines.join('\n')}`;
  }
}

async function answersHealth(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}
