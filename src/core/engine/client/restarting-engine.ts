/**
 * An engine that comes back: when its process dies, its open requests fail and a new process is started, later and later
 * when that happens again and again. While it is down it takes no requests; it is dead for good only when it could not be
 * started several times in a row.
 */
import {setTimeout as delay} from 'node:timers/promises';
import {EngineDeadError} from '../../errors.ts';
import type {TokenVocabulary} from '../../sampling/token-vocabulary.ts';
import type {ItemStream} from '../../util/item-stream.ts';
import type {Logger} from '../../util/logger.ts';
import {promiseWithResolver} from '../../util/promise-with-resolver.ts';
import {type EngineRequest, idleStats, type ModelInfo, type SequenceOutput, type StepStats} from '../protocol.ts';
import type {EngineClient, EngineState, StatsListener} from './engine-client.ts';

export interface RestartingEngineOptions {
  /** Starts the process again. */
  start: (signal: AbortSignal) => Promise<EngineClient>;
  logger: Logger;
  backOff?: BackOff;
}

export interface BackOff {
  firstMs: number;
  longestMs: number;
  /** An engine that lived for so long begins again with the first pause. */
  forgivenAfterMs: number;
  /** Starts that may fail one after the other. */
  maxFailedStarts: number;
}

const defaultBackOff: BackOff = {firstMs: 500, longestMs: 60_000, forgivenAfterMs: 60_000, maxFailedStarts: 8};

export class RestartingEngine implements EngineClient {
  readonly info: ModelInfo;
  readonly death: Promise<Error>;
  readonly #options: RestartingEngineOptions;
  readonly #backOff: BackOff;
  readonly #closing = new AbortController();
  readonly #statsListeners = new Set<StatsListener>();
  readonly #announceDeath: (cause: Error) => void;
  #current: EngineClient;
  #startedAt = performance.now();
  #makeVocabulary: (() => TokenVocabulary) | null = null;
  #numRestarts = 0;
  /** Deaths and failed starts without a long life between them. */
  #numSetbacks = 0;
  #restarting: Promise<void> = Promise.resolve();

  /** @param first a running engine; closed together with this one */
  constructor(first: EngineClient, options: RestartingEngineOptions) {
    const {promise, resolve} = promiseWithResolver<Error>();
    this.info = first.info;
    this.death = promise;
    this.#announceDeath = resolve;
    this.#options = options;
    this.#backOff = options.backOff ?? defaultBackOff;
    this.#current = first;
    this.#watch(first);
  }

  generate(request: EngineRequest, options: {signal?: AbortSignal} = {}): ItemStream<SequenceOutput> {
    return this.#current.generate(request, options);
  }

  isAlive(): boolean {
    return this.#current.isAlive();
  }

  engineStates(): EngineState[] {
    return [{isUp: this.isAlive(), numRestarts: this.#numRestarts}];
  }

  numOpenRequests(): number {
    return this.#current.numOpenRequests();
  }

  numBacklogTokens(): number {
    return this.#current.numBacklogTokens();
  }

  resetPrefixCache(): void {
    this.#current.resetPrefixCache();
  }

  provideVocabulary(make: () => TokenVocabulary): void {
    this.#makeVocabulary ??= make;
    this.#current.provideVocabulary(make);
  }

  onStats(listener: StatsListener): () => void {
    this.#statsListeners.add(listener);
    return () => this.#statsListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closing.abort(new EngineDeadError('The engine has been stopped.'));
    await this.#restarting;
    await this.#current.close();
  }

  #watch(engine: EngineClient): void {
    engine.onStats((stats) => this.#tell(stats));
    engine.death.then((cause) => {
      this.#restarting = this.#comeBack(engine, cause);
    });
  }

  #tell(stats: StepStats): void {
    for (const listener of this.#statsListeners) listener(stats, 0);
  }

  /** Does not throw: what goes wrong is tried again, or becomes the death of this engine. */
  async #comeBack(dead: EngineClient, cause: Error): Promise<void> {
    this.#tell(idleStats);
    if (performance.now() - this.#startedAt > this.#backOff.forgivenAfterMs) this.#numSetbacks = 0;
    await dead.close();
    let lastCause = cause;
    for (let numFailed = 0; numFailed < this.#backOff.maxFailedStarts; numFailed++) {
      await this.#pause();
      if (this.#closing.signal.aborted) return;
      const error = await this.#tryStart();
      if (error === null) return;
      lastCause = error;
    }
    if (!this.#closing.signal.aborted) this.#announceDeath(lastCause);
  }

  #pause(): Promise<void> {
    const {firstMs, longestMs} = this.#backOff;
    const pauseMs = Math.min(firstMs * 2 ** this.#numSetbacks++, longestMs);
    this.#options.logger.warn({pauseMs}, `engine is started again in ${pauseMs / 1000} s`);
    return delay(pauseMs, undefined, {signal: this.#closing.signal}).catch(() => {});
  }

  /** @returns the error when the start failed */
  async #tryStart(): Promise<Error | null> {
    const {start, logger} = this.#options;
    try {
      const engine = await start(this.#closing.signal);
      if (this.#makeVocabulary) engine.provideVocabulary(this.#makeVocabulary);
      this.#current = engine;
      this.#startedAt = performance.now();
      this.#numRestarts++;
      this.#watch(engine);
      logger.info({numRestarts: this.#numRestarts}, 'Engine is back');
      return null;
    } catch (error) {
      if (!this.#closing.signal.aborted) logger.error({err: error}, 'engine could not be started again');
      return error as Error;
    }
  }
}
