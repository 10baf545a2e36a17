/** Engine processes over a fake model, killed from outside: what their requests get, and how they come back. */
import {afterEach, describe, expect, it} from 'vitest';
import {
  type DataParallelOptions,
  startDataParallelEngines,
} from '../../../../../src/core/engine/client/data-parallel.ts';
import type {EngineClient} from '../../../../../src/core/engine/client/engine-client.ts';
import {EngineDeadError, ModelError} from '../../../../../src/core/errors.ts';
import {engineRequest, fakePrompt} from '../../../../support/build-engine.ts';
import {collect, collectUntilError} from '../../../../support/collect.ts';
import {fakeEngineEntry as entry, plentyOfMemory, tokensIn} from '../../../../support/engine-clients.ts';
import {fakeEngineConfig} from '../../../../support/fake-engine-config.ts';
import {greedyContinuation} from '../../../../support/fake-model-runner.ts';
import type {FakeModelName} from '../../../../support/fake-models.ts';
import {RecordingLogger} from '../../../../support/recording-logger.ts';
import {until} from '../../../../support/until.ts';

const quickBackOff = {firstMs: 1, longestMs: 10, forgivenAfterMs: 60_000, maxFailedStarts: 3};

const opened: EngineClient[] = [];
afterEach(() => Promise.all(opened.splice(0).map((client) => client.close())));

async function start(model: FakeModelName, options: Partial<DataParallelOptions> = {}) {
  const logger = new RecordingLogger();
  const given = {numEngines: 2, entry, logger, facts: plentyOfMemory, backOff: quickBackOff, ...options};
  const client = await startDataParallelEngines(fakeEngineConfig(model), given);
  opened.push(client);
  const pidOf = (engine: number) =>
    logger.matching('Engine process started').findLast(({fields}) => fields.engine === engine)!.fields.pid as number;
  return {client, logger, pidOf};
}

describe('startDataParallelEngines', () => {
  it('fails the requests of a dead process only, and brings it back', async () => {
    const {client, pidOf} = await start('paced');
    const long = (engineIndex: number) =>
      client.generate(engineRequest(`r${engineIndex}`, fakePrompt(10, engineIndex), {maxTokens: 300}, {engineIndex}));
    const [lost, kept] = [long(0), long(1)];
    await Promise.all([lost.next(), kept.next()]);
    const rest = collect(kept);
    process.kill(pidOf(0), 'SIGKILL');
    const {error} = await collectUntilError(lost);
    expect(error).toBeInstanceOf(EngineDeadError);
    expect(client.engineStates()[0]).toEqual({isUp: false, numRestarts: 0});
    expect(client.isAlive()).toBe(true);
    expect((await rest).at(-1)?.finishReason).toBe('length');
    await until(() => client.engineStates()[0]!.isUp);
    expect(client.engineStates()).toEqual([
      {isUp: true, numRestarts: 1},
      {isUp: true, numRestarts: 0},
    ]);
    const again = await collect(client.generate(engineRequest('new', [1, 2, 3], {maxTokens: 4}, {engineIndex: 0})));
    expect(tokensIn(again)).toEqual(greedyContinuation([1, 2, 3], {maxTokens: 4}));
  });

  it('says that nothing runs in an engine that has gone', async () => {
    const {client, pidOf} = await start('paced');
    const running: number[] = [];
    client.onStats(({numRunning}, engine) => void (running[engine] = numRunning));
    const lost = client.generate(engineRequest('a', fakePrompt(10), {maxTokens: 4000}, {engineIndex: 1}));
    await lost.next();
    await until(() => running[1] === 1);
    process.kill(pidOf(1), 'SIGKILL');
    await collectUntilError(lost);
    await until(() => running[1] === 0);
  });

  it('waits longer from death to death', async () => {
    const {client, logger, pidOf} = await start('plain');
    for (const numRestarts of [1, 2]) {
      process.kill(pidOf(0), 'SIGKILL');
      await until(() => client.engineStates()[0]!.numRestarts === numRestarts);
    }
    const pauses = logger.matching('engine is started again').map(({fields}) => fields.pauseMs);
    expect(pauses).toEqual([1, 2]);
  });

  it('is stopped in the middle of a restart', async () => {
    const backOff = {...quickBackOff, firstMs: 60_000, longestMs: 60_000};
    const {client, logger, pidOf} = await start('plain', {backOff});
    process.kill(pidOf(0), 'SIGKILL');
    await until(() => logger.matching('engine is started again').length > 0);
    await client.close();
    expect(client.isAlive()).toBe(false);
  });

  it('gives up with the error of the model and leaves no process behind', async () => {
    const logger = new RecordingLogger();
    const starting = startDataParallelEngines(fakeEngineConfig('missing'), {
      numEngines: 3,
      entry,
      logger,
      facts: plentyOfMemory,
    });
    await expect(starting).rejects.toThrow(new ModelError('No model at /nowhere.'));
    expect(logger.matching('Engine process started')).toHaveLength(1);
  });

  it('draws other tokens in each engine when no seed is given', async () => {
    const {client} = await start('plain');
    const draw = async (engineIndex: number) =>
      tokensIn(
        await collect(
          client.generate(
            engineRequest(`r${engineIndex}`, fakePrompt(9), {temperature: 1, maxTokens: 20}, {engineIndex}),
          ),
        ),
      );
    expect(await draw(0)).not.toEqual(await draw(1));
  });
});
