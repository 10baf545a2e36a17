/**
 * Processes of one measurement: started for it, always ended. Each runs in a process group of its own, so that its
 * children end with it, also when the benchmark itself is interrupted.
 */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';

/** Time for an orderly end before the group is killed. */
const stopGraceMs = 15_000;
/** What is kept of a child's output, for errors. */
const keptOutputChars = 4000;

export interface ChildOptions {
  command: string;
  args: readonly string[];
  env?: Record<string, string>;
  /** Opens a channel for messages. */
  ipc?: boolean;
}

const open = new Set<Child>();

export class Child {
  readonly process: ChildProcess;
  readonly #exited: Promise<unknown>;
  #output = '';

  constructor({command, args, env = {}, ipc = false}: ChildOptions) {
    this.process = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])],
      env: {...process.env, ...env},
      detached: true,
    });
    this.#exited = once(this.process, 'exit').catch((error: Error) => this.#keep(error.message));
    for (const stream of [this.process.stdout, this.process.stderr])
      stream?.on('data', (text) => this.#keep(`${text}`));
    open.add(this);
  }

  /** 0 when it could not be started. */
  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** The last lines that it wrote. */
  get output(): string {
    return this.#output;
  }

  /** @throws Error with its last output when it ends before the promise settles */
  async orExit<T>(promise: Promise<T>): Promise<T> {
    const ended = this.#exited.then(() => {
      throw new Error(`A process of the benchmark ended: ${this.process.spawnargs.join(' ')}\n${this.#output}`);
    });
    return Promise.race([promise, ended]);
  }

  /** Resolves with the first match in its standard output. */
  waitForOutput(pattern: RegExp): Promise<RegExpExecArray> {
    const found = new Promise<RegExpExecArray>((resolve) => {
      let text = '';
      this.process.stdout?.on('data', (chunk) => {
        text += chunk;
        const match = pattern.exec(text);
        if (match) resolve(match);
      });
    });
    return this.orExit(found);
  }

  /** Ends it: asks first, then kills it with everything it started. */
  async stop(): Promise<void> {
    if (this.process.connected) this.process.disconnect();
    this.process.kill('SIGTERM');
    const timer = setTimeout(() => this.kill(), stopGraceMs);
    await this.#exited;
    clearTimeout(timer);
    this.kill();
    open.delete(this);
  }

  /** Kills the whole group at once. */
  kill(): void {
    if (this.pid === 0) return;
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // Nothing of the group is left.
    }
  }

  #keep(text: string): void {
    this.#output = (this.#output + text).slice(-keptOutputChars);
  }
}

/** A TypeScript file of this folder as a process with a message channel; `config` is its first argument, as JSON. */
export function startScript(file: string, config: object): Child {
  const args = ['--import', import.meta.resolve('tsx'), file, JSON.stringify(config)];
  return new Child({command: process.execPath, args, ipc: true});
}

/**
 * Ends all children with this process, however it ends. Call once.
 * @param onInterrupt called before an interrupted process ends
 */
export function endChildrenWithProcess(onInterrupt: () => void): void {
  process.on('exit', () => {
    for (const child of open) child.kill();
  });
  for (const [signal, code] of [['SIGINT', 130] as const, ['SIGTERM', 143] as const]) {
    process.on(signal, () => {
      onInterrupt();
      process.exit(code);
    });
  }
}
