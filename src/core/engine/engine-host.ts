/**
 * The child's side of the process border: loads the model, then turns messages into calls of the engine core and each
 * step into one message. What it is loaded with is a parameter, so that tests run the same code with another model.
 */

import type {EngineConfig} from '../config/engine-config.ts';
import {serializeError} from '../errors.ts';
import {assertNever} from '../util/assert.ts';
import {EngineCore, engineCoreOptions} from './engine-core.ts';
import {EngineLoop} from './engine-loop.ts';
import type {LoadedModel, ProgressListener} from './model-runner/load-model.ts';
import type {EngineInput, EngineOutput} from './protocol.ts';

export type ModelLoader = (config: EngineConfig, onProgress: ProgressListener) => Promise<LoadedModel>;

/**
 * Signals that a terminal or a service manager sends to the whole group. Only the parent decides when the engine stops;
 * should it go without a word, the channel closes and the engine ends.
 */
const groupSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** A step that does not end within this time after the parent has gone is cut off. */
const lastStepMs = 10_000;

/** Makes this process an engine. It must have been started by `fork` with a channel to its parent. */
export function runEngineProcess(load: ModelLoader): void {
  const host = new EngineHost(load);
  for (const signal of groupSignals) process.on(signal, () => {});
  process.on('message', (input: EngineInput) => host.receive(input));
  process.once('disconnect', () => {
    if (!host.isRunning) process.kill(process.pid, 'SIGKILL');
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), lastStepMs).unref();
    host.stop();
  });
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}

class EngineHost {
  readonly #load: ModelLoader;
  #core: EngineCore | null = null;
  #loop: EngineLoop | null = null;
  #isStopping = false;

  constructor(load: ModelLoader) {
    this.#load = load;
  }

  /** False while the model is being loaded: there is nothing that would have to end in order. */
  get isRunning(): boolean {
    return this.#loop !== null;
  }

  receive(input: EngineInput): void {
    switch (input.type) {
      case 'initialize':
        this.#run(input.config).then(leave, die);
        break;
      case 'add-requests':
        this.#core?.addRequests(input.requests);
        break;
      case 'abort-requests':
        this.#core?.abortRequests(input.requestIds);
        break;
      case 'reset-prefix-cache':
        this.#core?.resetPrefixCache();
        break;
      case 'set-vocabulary':
        this.#core?.setVocabulary(input.vocabulary);
        break;
      case 'shutdown':
        this.stop();
        break;
      default:
        assertNever(input);
    }
    this.#loop?.wake();
  }

  stop(): void {
    this.#isStopping = true;
    this.#loop?.stop();
  }

  /** The whole life of the engine: resolves when it was told to stop and everything is closed. */
  async #run(config: EngineConfig): Promise<void> {
    const {runner, info} = await this.#load(config, (progress) => send({type: 'progress', ...progress}));
    try {
      this.#core = new EngineCore(runner, engineCoreOptions(info, config));
      this.#loop = new EngineLoop(this.#core, (result) => send({type: 'step', ...result}));
      if (this.#isStopping) return;
      send({type: 'ready', info});
      await this.#loop.run();
    } finally {
      runner.close();
    }
  }
}

/** Closes the channel; nothing keeps the process alive then. */
function leave(): void {
  if (process.connected) process.disconnect();
}

/** Tells the parent why, then ends with exit code 1. */
function die(error: unknown): void {
  send({type: 'fatal', error: serializeError(error)}, () => process.exit(1));
}

/** A parent that has gone is noticed by `disconnect`, so failing to reach it is no error here. */
function send(output: EngineOutput, whenSent: () => void = () => {}): void {
  if (process.connected) process.send?.(output, undefined, undefined, whenSent);
  else whenSent();
}
