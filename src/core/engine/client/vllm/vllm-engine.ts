/**
 * One vLLM server as an engine: sequences go to its token route and come back as outputs. It is never dead for good; while
 * it does not answer it is down. What it holds inside we do not know: the measurements are what passes here.
 */
import type {Dispatcher} from 'undici';
import {EngineDeadError, GenerationError, OverloadedError, serializeError} from '../../../errors.ts';
import {assertNever} from '../../../util/assert.ts';
import type {Logger} from '../../../util/logger.ts';
import {type EngineInput, type EngineRequest, idleStats, type ModelInfo, type SequenceOutput} from '../../protocol.ts';
import {BaseEngineClient} from '../base-engine-client.ts';
import type {EngineState} from '../engine-client.ts';
import {generateBody} from './generate-body.ts';
import {type CallTarget, GenerateCall} from './generate-call.ts';
import {type HealthTimes, ReplicaHealth, type ReplicaHealthOptions} from './replica-health.ts';
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
  look: ReplicaHealthOptions['look'];
  /** Others could run what waits here. */
  hasOthers: () => boolean;
  logger: Logger;
  healthTimes: HealthTimes;
}

/** A request at the server. */
interface OpenCall {
  call: GenerateCall;
  numOutputs: number;
}

/** Measurements are told at most so often. */
const statsEveryMs = 100;

export class VllmEngine extends BaseEngineClient {
  readonly #options: VllmEngineOptions;
  readonly #target: CallTarget;
  readonly #health: ReplicaHealth;
  readonly #calls = new Map<string, OpenCall>();
  /** Since the last measurements. */
  #sums = {numPrefillTokens: 0, numDecodeTokens: 0};
  #statsTimer: NodeJS.Timeout | null = null;
  #silenceTimer: NodeJS.Timeout | undefined;
  #lastStatsAt = performance.now();
  /** Outputs of this turn of the event loop. */
  readonly #arrived: SequenceOutput[] = [];

  constructor(options: VllmEngineOptions) {
    super(options.info, options.logger);
    const {api, dispatcher, headers, timeoutMs, isUp, look, logger, healthTimes: times} = options;
    this.#options = options;
    this.#target = {dispatcher, headers, timeoutMs, url: api.url, path: api.pathOf('/inference/v1/generate')};
    const onOut = (cause: string) => this.#giveBack(cause);
    this.#health = new ReplicaHealth({isUp, look, logger, onOut, times});
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
    this.#calls.get(name)?.call.noteRead();
  }

  protected async shutDown(): Promise<void> {
    if (this.#statsTimer) clearTimeout(this.#statsTimer);
    clearTimeout(this.#silenceTimer);
    for (const {call} of this.#calls.values()) call.abort();
    this.#calls.clear();
    await this.#health.close();
    await this.#options.dispatcher.destroy();
  }

  #open(request: EngineRequest): void {
    const {requestId: name, promptTokenIds} = request;
    const call = new GenerateCall(this.#target, request, generateBody(request, this.#options.modelName), {
      onOutput: (output) => {
        if (open.numOutputs++ === 0) this.#sums.numPrefillTokens += promptTokenIds.length;
        this.#deliver(output);
      },
      onError: (error) => {
        this.#noteError(error);
        this.#deliver(failureOf(name, error));
      },
    });
    const open: OpenCall = {call, numOutputs: 0};
    this.#calls.set(name, open);
    this.#scheduleStats();
  }

  #abort(name: string): void {
    this.#calls.get(name)?.call.abort();
    this.#calls.delete(name);
    this.#scheduleStats();
  }

  #deliver(output: SequenceOutput): void {
    this.#sums.numDecodeTokens += output.newTokenIds.length;
    if (output.finishReason !== null) this.#calls.delete(output.requestId);
    this.#arrived.push(output);
    if (this.#arrived.length === 1) setImmediate(() => this.#handOver());
  }

  /**
   * The server's step reaches us as one packet for each stream. All that are there are read first and handed over
   * together, as the code of each stage then finds itself in the processor's caches.
   */
  #handOver(): void {
    this.registry.deliver(this.#arrived.splice(0));
    this.#scheduleStats();
  }

  /** Whoever has no connection is out; whoever has one but fails is looked at. */
  #noteError(error: Error): void {
    if (error instanceof EngineDeadError && error.cause !== undefined) this.#health.noteFailure(error.message);
    else if (error instanceof EngineDeadError || error instanceof GenerationError) this.#health.suspect();
    else if (error instanceof OverloadedError) this.#health.lookAgain();
  }

  /**
   * The server is out, which connections that are open may not notice for long. What has no token yet goes elsewhere at
   * once; what gets nothing more for a while is given up.
   */
  #giveBack(cause: string): void {
    const mayMove = this.#options.hasOthers();
    for (const [name, open] of this.#calls) if (mayMove && open.numOutputs === 0) this.#giveUp(name, open, cause);
    const left = [...this.#calls].map(([name, open]) => ({name, open, numOutputs: open.numOutputs}));
    const giveUpSilent = () => {
      for (const {name, open, numOutputs} of left) {
        if (this.#calls.get(name) === open && open.numOutputs === numOutputs) this.#giveUp(name, open, cause);
      }
    };
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => {
      if (!this.isAlive()) giveUpSilent();
    }, this.#options.healthTimes.silentMs).unref();
  }

  #giveUp(name: string, {call}: OpenCall, cause: string): void {
    call.abort();
    this.#deliver(failureOf(name, new EngineDeadError(`The server is out: ${cause}`)));
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
