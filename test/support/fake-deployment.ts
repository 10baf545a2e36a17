/** Fake vLLM servers and a client of them, for the tests of one file: everything that was opened is closed after each test. */
import {afterEach} from 'vitest';
import type {EngineClient} from '../../src/core/engine/client/engine-client.ts';
import {startVllmEngines, type VllmDeployment} from '../../src/core/engine/client/vllm/start-vllm-engines.ts';
import {fakeText} from './engine-clients.ts';
import {FakeVllm, type FakeVllmOptions} from './fake-vllm.ts';
import {RecordingLogger} from './recording-logger.ts';

/** Looks often, so that no test waits for long. */
const quickHealth = {upMs: 50, downMs: 10, longestDownMs: 40, answerMs: 10_000, silentMs: 600};

/** Soon calls a server silent; only for tests of silence, as a busy machine takes its time. */
export const impatientHealth = {...quickHealth, answerMs: 700};

export interface FakeDeployment {
  serve(options?: FakeVllmOptions): Promise<FakeVllm>;
  /** Ends a server as a crash does. */
  kill(server: FakeVllm): Promise<void>;
  connect(urls: string[], options?: Partial<VllmDeployment>): Promise<{client: EngineClient; logger: RecordingLogger}>;
}

/** Called once in a test file. */
export function fakeDeployment(): FakeDeployment {
  const servers = new Set<FakeVllm>();
  const clients: EngineClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await Promise.all([...servers].map((server) => server.kill()));
    servers.clear();
  });
  return {
    serve: async (options = {}) => {
      const server = await FakeVllm.start(options);
      servers.add(server);
      return server;
    },
    kill: async (server) => {
      servers.delete(server);
      await server.kill();
    },
    connect: async (urls, options = {}) => {
      const logger = new RecordingLogger();
      const deployment = {urls, apiKey: null, timeoutSeconds: 30, maxModelLen: null, text: fakeText, ...options};
      const {signal} = new AbortController();
      const client = await startVllmEngines({healthTimes: quickHealth, ...deployment}, {logger, signal});
      clients.push(client);
      return {client, logger};
    },
  };
}

/** Which of the engines take requests. */
export const enginesUp = (client: EngineClient) => client.engineStates().map(({isUp}) => isUp);
