/**
 * Every implementation of `EngineClient` over the same fake models, for the contract suites. What a suite may expect of
 * an implementation beyond the common contract is said here, as data.
 */
import {fileURLToPath} from 'node:url';
import type {EngineConfig} from '../../src/core/config/engine-config.ts';
import {startChildProcessEngine} from '../../src/core/engine/client/child-process-client.ts';
import {startDataParallelEngines} from '../../src/core/engine/client/data-parallel.ts';
import type {EngineClient} from '../../src/core/engine/client/engine-client.ts';
import {engineEntryOf} from '../../src/core/engine/client/engine-entry.ts';
import {startInProcessEngine} from '../../src/core/engine/client/in-process-client.ts';
import {startVllmEngines} from '../../src/core/engine/client/vllm/start-vllm-engines.ts';
import type {SequenceOutput, StepStats} from '../../src/core/engine/protocol.ts';
import type {TokenVocabulary} from '../../src/core/sampling/token-vocabulary.ts';
import {silentLogger} from '../../src/core/util/logger.ts';
import {fakeEngineConfig} from './fake-engine-config.ts';
import {type FakeModelName, loadFakeModel} from './fake-models.ts';
import {FakeVllm, fakeEncode} from './fake-vllm.ts';

export const fakeEngineEntry = engineEntryOf(fileURLToPath(new URL('fake-engine-process.ts', import.meta.url)));

export interface EngineImplementation {
  name: string;
  start: (config: EngineConfig) => Promise<EngineClient>;
  /** An engine that died is replaced by a new one. */
  comesBack?: boolean;
  /** The engine is a server: what it holds and when it began with a sequence is not known. */
  isRemote?: boolean;
  /** Engines behind it; 1 when absent. */
  numEngines?: number;
}

/** More than enough for fake models, whatever the machine of the tests has. */
export const plentyOfMemory = {freeBytes: 2 ** 40, weightBytes: 0, numThreads: 2};

export const engineImplementations: EngineImplementation[] = [
  {name: 'child process', start: (config) => startChildProcessEngine(config, {entry: fakeEngineEntry})},
  {
    name: 'in process',
    start: async (config) => startInProcessEngine({model: await loadFakeModel(config, () => {}), config}),
  },
  {
    name: 'data parallel',
    start: (config) => startDataParallelEngines(config, {numEngines: 2, entry: fakeEngineEntry, facts: plentyOfMemory}),
    comesBack: true,
    numEngines: 2,
  },
  {name: 'vLLM', start: startFakeDeployment, comesBack: true, numEngines: 2, isRemote: true},
];

export const fakeText = {vocabSize: 64, maxPositions: 4096, encode: async (text: string) => fakeEncode(text)};

/** Two servers, ended together with the client. */
async function startFakeDeployment(config: EngineConfig): Promise<EngineClient> {
  const options = {model: config.modelPath as FakeModelName, config};
  const servers = await Promise.all([FakeVllm.start(options), FakeVllm.start(options)]);
  const urls = servers.map(({url}) => url);
  const client = await startVllmEngines(
    {urls, apiKey: null, timeoutSeconds: 30, maxModelLen: null, text: fakeText},
    {logger: silentLogger, signal: new AbortController().signal},
  );
  return Object.assign(client, {
    provideVocabulary: (make: () => TokenVocabulary) =>
      servers.forEach((server) => void server.provideVocabulary(make)),
    close: async () => {
      await Object.getPrototypeOf(client).close.call(client);
      await Promise.all(servers.map((server) => server.kill()));
    },
  });
}

/** Starts engines for the tests of one suite; whoever opens the pool closes it. */
export class EnginePool {
  readonly #implementation: EngineImplementation;
  readonly #opened: EngineClient[] = [];
  /** Starting a process takes a while: tests that leave the engine as good as new share it. */
  readonly #shared = new Map<FakeModelName, Promise<EngineClient>>();

  constructor(implementation: EngineImplementation) {
    this.#implementation = implementation;
  }

  async start(...args: Parameters<typeof fakeEngineConfig>): Promise<EngineClient> {
    const client = await this.#implementation.start(fakeEngineConfig(...args));
    this.#opened.push(client);
    return client;
  }

  share(model: FakeModelName): Promise<EngineClient> {
    const client = this.#shared.get(model) ?? this.start(model);
    this.#shared.set(model, client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((client) => client.close()));
  }
}

export function tokensIn(outputs: readonly SequenceOutput[]): number[] {
  return outputs.flatMap(({newTokenIds}) => newTokenIds);
}

export function nextStats(client: EngineClient, isWanted: (stats: StepStats) => boolean): Promise<StepStats> {
  return new Promise((resolve) => {
    const stop = client.onStats((stats) => {
      if (!isWanted(stats)) return;
      stop();
      resolve(stats);
    });
  });
}
