import {fork} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {setTimeout as delay} from 'node:timers/promises';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {afterEach, describe, expect, it} from 'vitest';
import {
  type ChildProcessEngineOptions,
  startChildProcessEngine,
} from '../../../../../src/core/engine/client/child-process-client.ts';
import type {EngineClient} from '../../../../../src/core/engine/client/engine-client.ts';
import {engineEntryOf, findEngineEntry} from '../../../../../src/core/engine/client/engine-entry.ts';
import type {SequenceOutput} from '../../../../../src/core/engine/protocol.ts';
import {EngineDeadError, ModelError} from '../../../../../src/core/errors.ts';
import {engineRequest, fakePrompt} from '../../../../support/build-engine.ts';
import {collectUntilError} from '../../../../support/collect.ts';
import {fakeEngineConfig} from '../../../../support/fake-engine-config.ts';
import type {FakeModelName} from '../../../../support/fake-models.ts';
import {RecordingLogger} from '../../../../support/recording-logger.ts';

const support = (file: string) => fileURLToPath(new URL(`../../../../support/${file}`, import.meta.url));
const entry = engineEntryOf(support('fake-engine-process.ts'));

const opened: EngineClient[] = [];
afterEach(() => Promise.all(opened.splice(0).map((client) => client.close())));

async function start(model: FakeModelName, options: ChildProcessEngineOptions = {}) {
  const logger = new RecordingLogger();
  const client = await startChildProcessEngine(fakeEngineConfig(model), {entry, logger, ...options});
  opened.push(client);
  return {client, logger, pid: logger.matching('Engine process started')[0]?.fields.pid as number};
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function waitUntilGone(pid: number): Promise<void> {
  while (isRunning(pid)) await delay(10);
}

describe('startChildProcessEngine', () => {
  it('reports progress while the model loads', async () => {
    const seen: number[] = [];
    await start('plain', {onProgress: ({fraction}) => seen.push(fraction)});
    expect(seen).toEqual([0.5, 1]);
  });

  it('rejects with the error of the model and leaves no process behind', async () => {
    const logger = new RecordingLogger();
    const starting = startChildProcessEngine(fakeEngineConfig('missing'), {entry, logger});
    await expect(starting).rejects.toThrow(new ModelError('No model at /nowhere.'));
    await expect(starting).rejects.toBeInstanceOf(ModelError);
    expect(isRunning(logger.matching('Engine process started')[0]?.fields.pid as number)).toBe(false);
  });

  it('says how the process ended and its last words when it crashes while loading', async () => {
    const starting = startChildProcessEngine(fakeEngineConfig('crashing'), {entry});
    await expect(starting).rejects.toBeInstanceOf(ModelError);
    await expect(starting).rejects.toThrow(/was ended by SIGKILL; its last words: about to crash/);
  });

  it('gives up when its signal is aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    const logger = new RecordingLogger();
    const starting = startChildProcessEngine(fakeEngineConfig('plain'), {entry, logger, signal: controller.signal});
    controller.abort(reason);
    await expect(starting).rejects.toBe(reason);
    expect(isRunning(logger.matching('Engine process started')[0]?.fields.pid as number)).toBe(false);
  });

  it('rejects when the process cannot be started', async () => {
    const missing = {modelPath: '/nowhere'};
    const starting = startChildProcessEngine(
      {...fakeEngineConfig('plain'), ...missing},
      {
        entry: {modulePath: support('not-there.js'), execArgv: []},
      },
    );
    await expect(starting).rejects.toThrow(/ended with exit code 1; its last words: .*not-there/s);
  });
});

describe('a running engine process', () => {
  it('fails open and new requests when it is killed', async () => {
    const {client, logger, pid} = await start('paced');
    const streams = [1, 2, 3].map((seed) =>
      client.generate(engineRequest(`r${seed}`, fakePrompt(9, seed), {maxTokens: 4000})),
    );
    await Promise.all(streams.map((stream) => stream.next()));
    process.kill(pid, 'SIGKILL');
    for (const {error} of await Promise.all(streams.map(collectUntilError))) {
      expect(error).toBeInstanceOf(EngineDeadError);
      expect((error as Error).message).toBe('The server had an error while processing your request.');
    }
    expect((await client.death).message).toContain('was ended by SIGKILL');
    expect(client.isAlive()).toBe(false);
    expect(client.numOpenRequests()).toBe(0);
    expect(logger.matching('Engine died')).toMatchObject([
      {
        level: 'error',
        message: expect.stringContaining('was ended by SIGKILL'),
        fields: {err: {name: 'EngineDeadError'}, numOpenRequests: 3},
      },
    ]);
    await expect(client.generate(engineRequest('late', [1])).next()).rejects.toBeInstanceOf(EngineDeadError);
  });

  it('is not stopped by the signals of a terminal or a service manager', async () => {
    const {client, pid} = await start('paced');
    const stream = client.generate(engineRequest('a', fakePrompt(9), {maxTokens: 30}));
    await stream.next();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
    const {items, error} = await collectUntilError(stream);
    expect(error).toBeNull();
    expect((items.at(-1) as SequenceOutput).finishReason).toBe('length');
  });

  it('ends with close()', async () => {
    const {client, pid} = await start('plain');
    await client.close();
    expect(isRunning(pid)).toBe(false);
  });

  it('is killed when it does not end in time', async () => {
    const {client, pid} = await start('stuck', {closeTimeoutMs: 50});
    const open = collectUntilError(client.generate(engineRequest('a', fakePrompt(9))));
    await client.close();
    expect(isRunning(pid)).toBe(false);
    expect((await open).error).toBeInstanceOf(EngineDeadError);
  });

  it('logs an abort with the tokens made so far', async () => {
    const {client, logger} = await start('paced');
    const stream = client.generate(engineRequest('gone', fakePrompt(9), {maxTokens: 4000}));
    const {value} = await stream.next();
    await stream.return();
    const aborted = logger.matching('Request aborted')[0];
    expect(aborted).toMatchObject({level: 'info', fields: {requestId: 'gone'}});
    expect(aborted?.fields.numTokens).toBeGreaterThanOrEqual((value as SequenceOutput).newTokenIds.length);
  });

  it.each<FakeModelName>(['paced', 'endless'])('ends by itself when its parent is killed: %s', async (model) => {
    const {execArgv} = engineEntryOf(support('doomed-parent.ts'));
    const parent = fork(support('doomed-parent.ts'), [model], {execArgv});
    const [{enginePid}] = (await once(parent, 'message')) as [{enginePid: number}];
    expect(isRunning(enginePid)).toBe(true);
    parent.kill('SIGKILL');
    const killedAtMs = performance.now();
    await waitUntilGone(enginePid);
    expect(performance.now() - killedAtMs).toBeLessThan(8_000);
  });
});

describe('findEngineEntry', () => {
  it('finds the source file beside its folder', () => {
    const {modulePath, execArgv} = findEngineEntry();
    expect(modulePath.endsWith('/src/core/engine/engine-process.ts')).toBe(true);
    expect(existsSync(modulePath)).toBe(true);
    expect(execArgv[0]).toBe('--import');
  });

  it('names the places where it looked', () => {
    expect(() => findEngineEntry(pathToFileURL(support('chunk.js')).href)).toThrow(/\.\.\/engine-process\.js/);
  });
});
