/**
 * The engine in this process, over any model runner. For tests and for code that wants no second process: the forward
 * pass shares this thread's event loop.
 */
import {assertNever} from '../../util/assert.ts';
import type {Logger} from '../../util/logger.ts';
import {type CoreConfig, EngineCore, engineCoreOptions} from '../engine-core.ts';
import {EngineLoop} from '../engine-loop.ts';
import type {LoadedModel} from '../model-runner/load-model.ts';
import type {EngineInput} from '../protocol.ts';
import {BaseEngineClient} from './base-engine-client.ts';
import type {EngineClient} from './engine-client.ts';

export interface InProcessEngineOptions {
  /** Closed together with the client. */
  model: LoadedModel;
  config: CoreConfig;
  logger?: Logger;
}

export function startInProcessEngine(options: InProcessEngineOptions): EngineClient {
  return new InProcessEngineClient(options);
}

class InProcessEngineClient extends BaseEngineClient {
  readonly #model: LoadedModel;
  readonly #core: EngineCore;
  readonly #loop: EngineLoop;
  readonly #ended: Promise<void>;

  constructor({model, config, logger}: InProcessEngineOptions) {
    super(model.info, logger);
    this.#model = model;
    this.#core = new EngineCore(model.runner, engineCoreOptions(model.info, config));
    this.#loop = new EngineLoop(this.#core, (result) => this.handleStep(result));
    this.#ended = this.#loop.run().catch((error: Error) => this.handleDeath(error));
  }

  protected send(input: EngineInput): void {
    switch (input.type) {
      case 'add-requests':
        this.#core.addRequests(input.requests);
        break;
      case 'abort-requests':
        this.#core.abortRequests(input.requestIds);
        break;
      case 'reset-prefix-cache':
        this.#core.resetPrefixCache();
        break;
      case 'set-vocabulary':
        this.#core.setVocabulary(input.vocabulary);
        break;
      case 'initialize':
      case 'shutdown':
        break;
      default:
        assertNever(input);
    }
    this.#loop.wake();
  }

  protected async shutDown(): Promise<void> {
    this.#loop.stop();
    await this.#ended;
    this.#model.runner.close();
  }
}
