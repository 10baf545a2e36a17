/**
 * The engine in a child process: a native crash or a kill ends the child only, and open requests get EngineDeadError.
 * The client lives from the child's `ready` to its exit; starting it is a function of its own.
 */
import {type ChildProcess, fork} from 'node:child_process';
import {createInterface} from 'node:readline';
import type {Readable} from 'node:stream';
import {setTimeout as delay} from 'node:timers/promises';
import type {EngineConfig} from '../../config/engine-config.ts';
import {deserializeError, EngineDeadError, ModelError} from '../../errors.ts';
import {type Logger, silentLogger} from '../../util/logger.ts';
import type {ProgressListener} from '../model-runner/load-model.ts';
import type {EngineInput, EngineOutput, ModelInfo} from '../protocol.ts';
import {BaseEngineClient} from './base-engine-client.ts';
import type {EngineClient} from './engine-client.ts';
import {type EngineEntry, findEngineEntry} from './engine-entry.ts';

export interface ChildProcessEngineOptions {
  onProgress?: ProgressListener;
  logger?: Logger;
  /** Gives the start up; without effect once the engine runs. */
  signal?: AbortSignal;
  /** Another entry file, for tests. */
  entry?: EngineEntry;
  /** How long `close()` waits before it kills. */
  closeTimeoutMs?: number;
}

const defaultCloseTimeoutMs = 5_000;
/** After the exit, output that is still in the pipes is waited for this long. */
const drainMs = 200;
/** Last lines of the child's error output that go into the log when it dies. */
const maxErrorLines = 20;

/**
 * Starts an engine process and loads the model in it.
 * @throws ModelError, UnsupportedError when the model cannot be loaded; the signal's reason when it is aborted
 */
export async function startChildProcessEngine(
  config: EngineConfig,
  options: ChildProcessEngineOptions = {},
): Promise<EngineClient> {
  options.signal?.throwIfAborted();
  const engine = new EngineProcess(options.entry ?? findEngineEntry(), options.logger ?? silentLogger);
  try {
    const info = await load(engine, config, options);
    return new ChildProcessEngineClient(engine, info, options);
  } catch (error) {
    await engine.kill();
    throw error;
  }
}

/** Sends the configuration and waits for `ready`. */
function load(
  engine: EngineProcess,
  config: EngineConfig,
  {onProgress, signal}: ChildProcessEngineOptions,
): Promise<ModelInfo> {
  return new Promise<ModelInfo>((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), {once: true});
    engine.onOutput = (output) => {
      if (output.type === 'progress') onProgress?.(output);
      if (output.type === 'ready') resolve(output.info);
      if (output.type === 'fatal') reject(deserializeError(output.error));
    };
    engine.onExit = (cause) =>
      reject(new ModelError(`The engine process ended while it loaded the model: ${cause.message}.`, {cause}));
    engine.send({type: 'initialize', config});
  });
}

class ChildProcessEngineClient extends BaseEngineClient {
  readonly #engine: EngineProcess;
  readonly #closeTimeoutMs: number;

  constructor(engine: EngineProcess, info: ModelInfo, {logger, closeTimeoutMs}: ChildProcessEngineOptions) {
    super(info, logger);
    this.#engine = engine;
    this.#closeTimeoutMs = closeTimeoutMs ?? defaultCloseTimeoutMs;
    engine.onOutput = (output) => this.#receive(output);
    engine.onExit = (cause) => this.handleDeath(cause);
  }

  protected send(input: EngineInput): void {
    this.#engine.send(input);
  }

  protected async shutDown(): Promise<void> {
    this.#engine.send({type: 'shutdown'});
    await Promise.race([this.#engine.exited, delay(this.#closeTimeoutMs, undefined, {ref: false})]);
    await this.#engine.kill();
  }

  #receive(output: EngineOutput): void {
    if (output.type === 'step') this.handleStep(output);
    if (output.type === 'fatal') this.handleDeath(deserializeError(output.error));
  }
}

/** A forked engine with its channel; one receiver of outputs at a time. */
class EngineProcess {
  onOutput: (output: EngineOutput) => void = () => {};
  /** Called once, with the reason in words. */
  onExit: (cause: Error) => void = () => {};
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  readonly #errorLines: string[] = [];

  constructor({modulePath, execArgv}: EngineEntry, logger: Logger) {
    this.#child = fork(modulePath, [], {
      serialization: 'advanced',
      execArgv,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const {pid} = this.#child;
    logger.info({pid}, `Engine process started, id ${pid}`);
    this.#child.on('message', (output) => this.onOutput(output as EngineOutput));
    forEachLine(this.#child.stdout, (line) => logger.info({pid}, line));
    forEachLine(this.#child.stderr, (line) => {
      if (line.trim() === '') return;
      logger.warn({pid}, line);
      this.#errorLines.push(line);
      this.#errorLines.splice(0, this.#errorLines.length - maxErrorLines);
    });
    this.exited = this.#watch();
  }

  /** A message to a process that has ended is dropped; its exit tells. */
  send(input: EngineInput): void {
    if (this.#child.connected) this.#child.send(input, () => {});
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  async #watch(): Promise<void> {
    const cause = await endOf(this.#child);
    // The last message and the last words may still be in the pipes.
    await Promise.race([new Promise((resolve) => this.#child.once('close', resolve)), delay(drainMs)]);
    const lastWords = this.#errorLines.length === 0 ? '' : `; its last words: ${this.#errorLines.join(' | ')}`;
    this.onExit(new EngineDeadError(`${cause}${lastWords}`));
  }
}

/** Resolves with the reason in words when the child has ended or could not be started. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(`it could not be started (${error.message})`));
    child.once('exit', (code, signal) =>
      resolve(`process ${child.pid} ${signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`}`),
    );
  });
}

function forEachLine(stream: Readable | null, visit: (line: string) => void): void {
  if (stream) createInterface({input: stream, crlfDelay: Number.POSITIVE_INFINITY}).on('line', visit);
}
