import {describe, expect, it} from 'vitest';
import {EngineGroup} from '../../../../../src/core/engine/client/engine-group.ts';
import {EngineDeadError, OverloadedError, ValidationError} from '../../../../../src/core/errors.ts';
import {engineRequest, fakePrompt} from '../../../../support/build-engine.ts';
import {collect, collectUntilError} from '../../../../support/collect.ts';
import {RecordingLogger} from '../../../../support/recording-logger.ts';
import {
  playTokens,
  ScriptedEngineClient,
  type ScriptedEngineOptions,
  scriptedModelInfo,
} from '../../../../support/scripted-engine-client.ts';

type Script = ScriptedEngineOptions['script'];

const threeTokens: Script = () => playTokens([1, 2, 3]);

function openGroup(scripts: Script[], {retries = false} = {}) {
  const engines = scripts.map((script) => new ScriptedEngineClient({script}));
  const group = new EngineGroup({engines, info: scriptedModelInfo, retries, logger: new RecordingLogger()});
  const numRequests = () => engines.map(({requests}) => requests.length);
  return {engines, group, numRequests};
}

describe('EngineGroup', () => {
  it('gives requests without a common beginning to engines in turn', async () => {
    const {group, numRequests} = openGroup([threeTokens, threeTokens, threeTokens]);
    for (let seed = 0; seed < 6; seed++) await collect(group.generate(engineRequest(`r${seed}`, fakePrompt(40, seed))));
    expect(numRequests()).toEqual([2, 2, 2]);
  });

  it('gives the next turn of a conversation to the engine that ran the last one', async () => {
    const {group, numRequests} = openGroup([threeTokens, threeTokens]);
    const prompt = fakePrompt(64, 1);
    await collect(group.generate(engineRequest('a', prompt)));
    await collect(group.generate(engineRequest('b', [...prompt, 1, 2, 3, ...fakePrompt(20, 2)])));
    await collect(group.generate(engineRequest('c', [...prompt, 1, 2, 3, ...fakePrompt(20, 2), 4])));
    expect(numRequests()).toEqual([3, 0]);
  });

  it('does not take the cache of another tenant for its own', async () => {
    const {group, numRequests} = openGroup([threeTokens, threeTokens]);
    const prompt = fakePrompt(64, 1);
    await collect(group.generate(engineRequest('a', prompt, {}, {cacheSalt: 'one'})));
    await collect(group.generate(engineRequest('b', prompt, {}, {cacheSalt: 'two'})));
    expect(numRequests()).toEqual([1, 1]);
  });

  it('forgets known beginnings with the caches', async () => {
    const {engines, group, numRequests} = openGroup([threeTokens, threeTokens]);
    const prompt = fakePrompt(64, 1);
    await collect(group.generate(engineRequest('a', prompt)));
    group.resetPrefixCache();
    await collect(group.generate(engineRequest('b', prompt)));
    expect(numRequests()).toEqual([1, 1]);
    expect(engines.map(({numCacheResets}) => numCacheResets)).toEqual([1, 1]);
  });

  it('keeps the choices of one request together', async () => {
    const {group, numRequests} = openGroup([threeTokens, threeTokens]);
    const choiceOf = {requestId: 'n', numChoices: 3};
    const choices = [0, 1, 2].map((index) => engineRequest(`n.${index}`, fakePrompt(64), {}, {choiceOf}));
    await Promise.all(choices.map((choice) => collect(group.generate(choice))));
    expect(numRequests()).toEqual([3, 0]);
  });

  it('heeds the engine that a request names, and says which one it was', async () => {
    const {group, numRequests} = openGroup([threeTokens, threeTokens, threeTokens]);
    const outputs = await collect(group.generate(engineRequest('a', [1], {}, {engineIndex: 2})));
    expect(numRequests()).toEqual([0, 0, 1]);
    expect(outputs.map(({engineIndex}) => engineIndex)).toEqual([2, 2, 2]);
  });

  it('gives nothing to an engine that is down', async () => {
    const {engines, group, numRequests} = openGroup([threeTokens, threeTokens]);
    engines[0]!.die(new Error('gone'));
    await collect(group.generate(engineRequest('a', fakePrompt(40))));
    await collect(group.generate(engineRequest('b', fakePrompt(40, 2))));
    expect(numRequests()).toEqual([0, 2]);
    expect(group.isAlive()).toBe(true);
    expect(group.engineStates().map(({isUp}) => isUp)).toEqual([false, true]);
    engines[1]!.die(new Error('gone, too'));
    expect(group.isAlive()).toBe(false);
    expect(String(await group.death)).toContain('gone, too');
    const {error} = await collectUntilError(group.generate(engineRequest('c', [1])));
    expect(error).toBeInstanceOf(EngineDeadError);
  });

  it('sums up what its engines have to do', async () => {
    const {group} = openGroup([() => ['hang'], () => ['hang']]);
    const controller = new AbortController();
    const {signal} = controller;
    const open = [0, 1].map((engineIndex) =>
      group.generate(engineRequest(`r${engineIndex}`, fakePrompt(30), {}, {engineIndex}), {signal}).next(),
    );
    await Promise.resolve();
    expect(group.numOpenRequests()).toBe(2);
    expect(group.numBacklogTokens()).toBe(60);
    controller.abort();
    await Promise.all(open);
  });

  it('makes the vocabulary once for all', () => {
    const {engines, group} = openGroup([threeTokens, threeTokens]);
    let numMade = 0;
    group.provideVocabulary(() => {
      numMade++;
      return {bytes: new Uint8Array(), ends: new Uint32Array(), specialTokenIds: []};
    });
    expect(numMade).toBe(1);
    expect(engines[1]!.vocabulary).toBe(engines[0]!.vocabulary);
  });

  const failing =
    (error: Error, numTokens = 0): Script =>
    () => [...playTokens([7, 8], {finishReason: null}).slice(0, numTokens), error];

  describe.each([new EngineDeadError('gone'), new OverloadedError('busy')])('when an engine answers $name', (error) => {
    it('gives a request without a token to another engine, where that is allowed', async () => {
      const {group, numRequests} = openGroup([failing(error), threeTokens], {retries: true});
      const outputs = await collect(group.generate(engineRequest('a', fakePrompt(40))));
      expect(outputs.flatMap(({newTokenIds}) => newTokenIds)).toEqual([1, 2, 3]);
      expect(numRequests()).toEqual([1, 1]);
    });

    it('does not repeat what has begun', async () => {
      const {group, numRequests} = openGroup([failing(error, 1), threeTokens], {retries: true});
      const {items, error: seen} = await collectUntilError(group.generate(engineRequest('a', fakePrompt(40))));
      expect(items.flatMap(({newTokenIds}) => newTokenIds)).toEqual([7]);
      expect(seen).toBe(error);
      expect(numRequests()).toEqual([1, 0]);
    });

    it('gives up when every engine has failed', async () => {
      const {group, numRequests} = openGroup([failing(error), failing(error)], {retries: true});
      const {error: seen} = await collectUntilError(group.generate(engineRequest('a', fakePrompt(40))));
      expect(seen).toBe(error);
      expect(numRequests()).toEqual([1, 1]);
    });
  });

  it('does not give a request away that may have ended its process', async () => {
    const {group, numRequests} = openGroup([failing(new EngineDeadError('gone')), threeTokens]);
    const {error} = await collectUntilError(group.generate(engineRequest('a', fakePrompt(40))));
    expect(error).toBeInstanceOf(EngineDeadError);
    expect(numRequests()).toEqual([1, 0]);
  });

  it('does not repeat a request that is at fault itself', async () => {
    const {group, numRequests} = openGroup([failing(new ValidationError('no')), threeTokens], {retries: true});
    const {error} = await collectUntilError(group.generate(engineRequest('a', fakePrompt(40))));
    expect(error).toBeInstanceOf(ValidationError);
    expect(numRequests()).toEqual([1, 0]);
  });
});
