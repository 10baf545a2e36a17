/**
 * Runs templates that come with requests in processes of their own, so that a hostile or broken one holds nobody up: a
 * process that takes too long or too much memory ends alone. Processes start when first needed, are used again, and
 * never keep this one alive. Why no threads: docs/decisions/0006-templates-from-requests.md.
 */
import {type ChildProcess, fork} from 'node:child_process';
import {deserializeError, TemplateError} from '../../errors.ts';
import {type EntryFile, findEntryFile} from '../../util/entry-file.ts';
import {writeJson} from '../../util/write-json.ts';
import {renderTimeout} from '../chat-template.ts';
import type {ContentFormat} from '../content-parts.ts';
import type {TemplateResult, TemplateTask} from './messages.ts';

export interface TemplateProcessesOptions {
  /** A task may take this long once it runs; 0 = as long as it wants. */
  timeoutSeconds: number;
  maxProcesses?: number;
  /** Heap of one process. */
  maxMegabytes?: number;
}

const defaultMaxProcesses = 4;
const defaultMaxMegabytes = 256;

/** A template that runs elsewhere. */
export interface RemoteTemplate {
  source: string;
  contentFormat: ContentFormat;
  /** Names that the template reads. */
  variables: ReadonlySet<string>;
  /** @throws TemplateError; GenerationError when it takes too long */
  render(variables: Readonly<Record<string, unknown>>): Promise<string>;
}

export class TemplateProcesses {
  readonly #options: TemplateProcessesOptions;
  readonly #idle: ChildProcess[] = [];
  /** Tasks that wait for a process, the oldest first. */
  readonly #waiting: ((child: ChildProcess) => void)[] = [];
  #numProcesses = 0;

  constructor(options: TemplateProcessesOptions) {
    this.#options = options;
  }

  /** @throws TemplateError when the source does not parse; GenerationError */
  async open(source: string): Promise<RemoteTemplate> {
    const result = await this.#run({type: 'inspect', source});
    const {contentFormat, variables} = expectType(result, 'inspected');
    return {
      source,
      contentFormat,
      variables: new Set(variables),
      render: (values) => this.#render(source, values),
    };
  }

  async #render(source: string, variables: Readonly<Record<string, unknown>>): Promise<string> {
    const result = await this.#run({type: 'render', source, variablesJson: writeJson(variables)});
    return expectType(result, 'rendered').text;
  }

  async #run(task: TemplateTask): Promise<TemplateResult> {
    const child = await this.#acquire();
    keepAlive(child, true);
    try {
      const result = await runTask(child, task, this.#options.timeoutSeconds);
      this.#release(child);
      return result;
    } catch (error) {
      this.#discard(child);
      throw error;
    }
  }

  async #acquire(): Promise<ChildProcess> {
    const idle = this.#idle.pop();
    if (idle?.connected) return idle;
    if (idle) return this.#start();
    const {maxProcesses = defaultMaxProcesses} = this.#options;
    if (this.#numProcesses >= maxProcesses) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#numProcesses++;
    return this.#start();
  }

  #start(): ChildProcess {
    const {modulePath, execArgv} = findTemplateEntry();
    const {maxMegabytes = defaultMaxMegabytes} = this.#options;
    return fork(modulePath, {
      execArgv: [...execArgv, `--max-old-space-size=${maxMegabytes}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
  }

  #release(child: ChildProcess): void {
    const next = this.#waiting.shift();
    if (next) return next(child);
    keepAlive(child, false);
    this.#idle.push(child);
  }

  /** A process that failed is not used again; who waits gets a new one. */
  #discard(child: ChildProcess): void {
    child.kill('SIGKILL');
    const next = this.#waiting.shift();
    if (next) next(this.#start());
    else this.#numProcesses--;
  }
}

/** Whether this process waits for the other one before it ends. */
function keepAlive(child: ChildProcess, isKept: boolean): void {
  const change = isKept ? 'ref' : 'unref';
  child[change]();
  child.channel?.[change]();
}

/** @throws TemplateError when the process ends, GenerationError when the time is over: then it cannot be used again */
function runTask(child: ChildProcess, task: TemplateTask, timeoutSeconds: number): Promise<TemplateResult> {
  return new Promise<TemplateResult>((resolve, reject) => {
    const onTimeout = () => settle(() => reject(renderTimeout(timeoutSeconds)));
    const onExit = () => settle(() => reject(endedError()));
    const onMessage = (result: TemplateResult) => settle(() => resolve(result));
    const timer = timeoutSeconds > 0 ? setTimeout(onTimeout, timeoutSeconds * 1000) : null;
    const settle = (finish: () => void) => {
      if (timer !== null) clearTimeout(timer);
      child.off('message', onMessage).off('exit', onExit).off('error', onExit);
      finish();
    };
    child.on('message', onMessage).on('exit', onExit).on('error', onExit);
    child.send(task, (error) => {
      if (error) onExit();
    });
  });
}

function endedError(): TemplateError {
  return new TemplateError('The chat template ended the process that rendered it: it needs too much memory.');
}

/** @throws the error of the other process */
function expectType<Type extends TemplateResult['type']>(
  result: TemplateResult,
  type: Type,
): Extract<TemplateResult, {type: Type}> {
  if (result.type === 'failed') throw deserializeError(result.error);
  if (result.type === type) return result as Extract<TemplateResult, {type: Type}>;
  throw new TypeError(`a template process answered '${result.type}' to a task that wants '${type}'`);
}

function findTemplateEntry(): EntryFile {
  return findEntryFile({
    fromUrl: import.meta.url,
    source: './template-process-entry.ts',
    builtName: 'template-process.js',
  });
}
