/**
 * One vLLM server as an engine: sequences go to its token route and come back as outputs. It is never dead for good; while
 * it does not answer it is down. What it holds inside we do not know: the measurements are what passes here.
 */
import type {Dispatcher} from 'undici';
import {EngineDeadError, OverloadedError, serializeError} from '../../../errors.ts';
import {assertNever} from '../../../util/assert.ts';
import type {Logger} from '../../../util/logger.ts';
import {type EngineInput, type EngineRequest, idleStats, type ModelInfo, type SequenceOutput} from '../../protocol.ts';
import {BaseEngineClient} from '../base-engine-client.ts';
import type {EngineState} from '../engine-client.ts';
import {generateBody} from './generate-body.ts';
import {type CallTarget, GenerateCall} from './generate-call.ts';
import {type HealthTimes, ReplicaHealth} from './replica-health.ts';
import type {VllmApi} from './vllm-api.ts';

export interface VllmEngineOptions {
  api: VllmApi;
  info: ModelInfo;
  /** Carries the requests that generate; closed together with the engine. */
  dispatcher: Dispatcher;
  headers: Record<string, string>;
  /** The name that the server has for the model. */
  modelName: string;
  /** Longest silence of a request. */
  timeoutMs: number;
  isUp: boolean;
  /** Says what is wrong with the server, null = nothing; never rejects. */
  look: (signal: AbortSignal, isUp: boolean) => Promise<string | null>;
  logger: Logger;
  healthTimes?: HealthTimes;
}

/** Measurements are told at most so often. */
const statsEveryMs = 100;

export class VllmEngine extends BaseEngineClient {
  readonly #options: VllmEngineOptions;
  readonly #target: CallTarget;
  readonly #health: ReplicaHealth;
  readonly #calls = new Map<string, GenerateCall>();
  /** Since the last measurements. */
  #sums = {numPrefillTokens: 0, numDecodeTokens: 0};
  #statsTimer: NodeJS.Timeout | null = null;
  #lastStatsAt = performance.now();

  constructor(options: VllmEngineOptions) {
    super(options.info, options.logger);
    const {api, dispatcher, headers, timeoutMs, isUp, look, logger, healthTimes} = options;
    this.#options = options;
    this.#target = {dispatcher, headers, timeoutMs, url: api.url, path: api.pathOf('/inference/v1/generate')};
    this.#health = new ReplicaHealth({isUp, look, logger, ...(healthTimes && {times: healthTimes})});
  }

  override isAlive(): boolean {
    return super.isAlive() && this.#health.isUp;
  }

  override engineStates(): EngineState[] {
    return [{isUp: this.isAlive(), numRestarts: this.#health.numReturns}];
  }

  protected send(input: EngineInput): void {
    switch (input.type) {
      case 'add-requests':
        for (const request of input.requests) this.#open(request);
        break;
      case 'abort-requests':
        for (const name of input.requestIds) this.#abort(name);
        break;
      case 'reset-prefix-cache':
        this.#resetPrefixCache();
        break;
      // The server has a vocabulary of its own.
      case 'set-vocabulary':
      case 'initialize':
      case 'shutdown':
        break;
      default:
        assertNever(input);
    }
  }

  protected override handleRead(name: string): void {
    this.#calls.get(name)?.noteRead();
  }

  protected async shutDown(): Promise<void> {
    if (this.#statsTimer) clearTimeout(this.#statsTimer);
    for (const call of this.#calls.values()) call.abort();
    this.#calls.clear();
    await this.#health.close();
    await this.#options.dispatcher.destroy();
  }

  #open(request: EngineRequest): void {
    const {requestId: name, promptTokenIds} = request;
    let hasBegun = false;
    const call = new GenerateCall(this.#target, request, generateBody(request, this.#options.modelName), {
      onOutput: (output) => {
        if (!hasBegun) this.#sums.numPrefillTokens += promptTokenIds.length;
        hasBegun = true;
        this.#deliver(output);
      },
      onError: (error) => {
        this.#noteError(error);
        this.#deliver(failureOf(name, error));
      },
    });
    this.#calls.set(name, call);
    this.#scheduleStats();
  }

  #abort(name: string): void {
    this.#calls.get(name)?.abort();
    this.#calls.delete(name);
    this.#scheduleStats();
  }

  #deliver(output: SequenceOutput): void {
    this.#sums.numDecodeTokens += output.newTokenIds.length;
    if (output.finishReason !== null) this.#calls.delete(output.requestId);
    this.registry.deliver([output]);
    this.#scheduleStats();
  }

  /** Whoever has no connection is out; whoever has one but fails is looked at. */
  #noteError(error: Error): void {
    if (error instanceof EngineDeadError && error.cause !== undefined) this.#health.noteFailure(error.message);
    else if (error instanceof EngineDeadError || error instanceof OverloadedError) this.#health.suspect();
  }

  /** A route of the development mode, which most servers do not have. */
  #resetPrefixCache(): void {
    const {api, logger} = this.#options;
    const warn = (what: string) => logger.warn({}, `The prefix cache of ${api.url} was not reset: ${what}`);
    api.post('/reset_prefix_cache', {}).then(
      ({status}) => {
        if (status !== 200) warn(`status ${status}`);
      },
      (error: Error) => warn(error.message),
    );
  }

  /** At once when nothing is open any more: it may be long until the next occasion. */
  #scheduleStats(): void {
    if (!super.isAlive()) return;
    if (this.registry.numOpen === 0) return this.#emitStats();
    if (this.#statsTimer) return;
    const waitMs = Math.max(0, this.#lastStatsAt + statsEveryMs - performance.now());
    this.#statsTimer = setTimeout(() => this.#emitStats(), waitMs);
  }

  #emitStats(): void {
    if (this.#statsTimer) clearTimeout(this.#statsTimer);
    this.#statsTimer = null;
    this.#lastStatsAt = performance.now();
    const {numBegun, numOpen} = this.registry;
    // What only the server knows stays zero.
    this.tellStats({...idleStats, ...this.#sums, numRunning: numBegun, numWaiting: numOpen - numBegun});
    this.#sums = {numPrefillTokens: 0, numDecodeTokens: 0};
  }
}

function failureOf(name: string, error: Error): SequenceOutput {
  return {
    requestId: name,
    newTokenIds: [],
    logprobs: null,
    promptLogprobs: null,
    finishReason: 'error',
    stopReason: null,
    numCachedTokens: null,
    tokenTimesMs: [],
    start: null,
    numPreemptions: 0,
    error: serializeError(error),
  };
}
