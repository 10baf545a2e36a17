/** What all engine clients of this machine share: open requests, listeners, and what happens when the engine dies. */
import {EngineDeadError} from '../../errors.ts';
import type {TokenVocabulary} from '../../sampling/token-vocabulary.ts';
import type {ItemStream} from '../../util/item-stream.ts';
import {type Logger, silentLogger} from '../../util/logger.ts';
import {promiseWithResolver} from '../../util/promise-with-resolver.ts';
import type {StepResult} from '../engine-core.ts';
import type {EngineInput, EngineRequest, ModelInfo, SequenceOutput, StepStats} from '../protocol.ts';
import type {EngineClient, EngineState, StatsListener} from './engine-client.ts';
import {RequestRegistry} from './request-registry.ts';

/** What a client of the server reads; the cause is for the log (vLLM answers the same). */
const deathMessage = 'The server had an error while processing your request.';

export abstract class BaseEngineClient implements EngineClient {
  readonly info: ModelInfo;
  readonly death: Promise<Error>;
  protected readonly logger: Logger;
  protected readonly registry: RequestRegistry;
  readonly #statsListeners = new Set<StatsListener>();
  readonly #announceDeath: (cause: Error) => void;
  #state: 'alive' | 'dead' | 'closed' = 'alive';
  #hasVocabulary = false;
  #closing: Promise<void> | null = null;

  constructor(info: ModelInfo, logger: Logger = silentLogger) {
    this.info = info;
    this.logger = logger;
    const {promise, resolve} = promiseWithResolver<Error>();
    this.death = promise;
    this.#announceDeath = resolve;
    this.registry = new RequestRegistry({
      send: (input) => this.send(input),
      logger,
      onRead: (name) => this.handleRead(name),
    });
  }

  generate(request: EngineRequest, options: {signal?: AbortSignal} = {}): ItemStream<SequenceOutput> {
    return this.registry.generate(request, options);
  }

  isAlive(): boolean {
    return this.#state === 'alive';
  }

  engineStates(): EngineState[] {
    return [{isUp: this.isAlive(), numRestarts: 0}];
  }

  numOpenRequests(): number {
    return this.registry.numOpen;
  }

  numBacklogTokens(): number {
    return this.registry.numBacklogTokens;
  }

  resetPrefixCache(): void {
    if (this.isAlive()) this.send({type: 'reset-prefix-cache'});
  }

  provideVocabulary(make: () => TokenVocabulary): void {
    if (this.#hasVocabulary || !this.isAlive()) return;
    this.#hasVocabulary = true;
    this.send({type: 'set-vocabulary', vocabulary: make()});
  }

  onStats(listener: StatsListener): () => void {
    this.#statsListeners.add(listener);
    return () => this.#statsListeners.delete(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Hands a message to the engine. Called while the engine is alive only. */
  protected abstract send(input: EngineInput): void;

  /** Stops the engine and frees everything. Called once, also when the engine is dead. */
  protected abstract shutDown(): Promise<void>;

  /** The reader of a request, by its name inside the engine, has taken everything that was there. */
  protected handleRead(_name: string): void {}

  protected handleStep({outputs, stats}: StepResult): void {
    this.registry.deliver(outputs);
    this.tellStats(stats);
  }

  protected tellStats(stats: StepStats): void {
    for (const listener of this.#statsListeners) listener(stats, 0);
  }

  /** Ends everything open; to be called when the engine has died by itself. Later calls and a death after `close()` count for nothing. */
  protected handleDeath(cause: Error): void {
    if (this.#state !== 'alive') return;
    this.#state = 'dead';
    this.logger.error({err: cause, numOpenRequests: this.registry.numOpen}, `Engine died: ${cause.message}`);
    this.registry.fail(() => new EngineDeadError(deathMessage, {cause}));
    this.#announceDeath(cause);
  }

  async #close(): Promise<void> {
    this.#state = this.#state === 'alive' ? 'closed' : this.#state;
    this.registry.fail(() => new EngineDeadError('The engine has been stopped.'));
    await this.shutDown();
  }
}
