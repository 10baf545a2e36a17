/** What every EngineClient must do: lives and ends of sequences and engines. Fields of requests have a suite of their own. */
import {setTimeout as delay} from 'node:timers/promises';
import {afterAll, describe, expect, it} from 'vitest';
import type {SequenceOutput, StepStats} from '../../src/core/engine/protocol.ts';
import {EngineDeadError, GenerationError, ValidationError} from '../../src/core/errors.ts';
import {engineRequest, fakePrompt} from '../support/build-engine.ts';
import {collect, collectUntilError} from '../support/collect.ts';
import {
  type EngineImplementation,
  EnginePool,
  engineImplementations,
  nextStats,
  tokensIn,
} from '../support/engine-clients.ts';
import {greedyContinuation} from '../support/fake-model-runner.ts';
import {poisonTokenId} from '../support/fake-models.ts';

describe.each(engineImplementations)('engine client: $name', (implementation) => {
  const pool = new EnginePool(implementation);
  afterAll(() => pool.close());

  it('runs a sequence to its end', async () => {
    const client = await pool.share('plain');
    expect(client.info).toMatchObject({vocabSize: 64, maxModelLen: 4096});
    const prompt = fakePrompt(100, 50);
    const outputs = await collect(client.generate(engineRequest('a', prompt, {maxTokens: 12})));
    expect(tokensIn(outputs)).toEqual(greedyContinuation(prompt, {maxTokens: 12}));
    expect(outputs.every(({requestId}) => requestId === 'a')).toBe(true);
    expect(outputs.map(({numCachedTokens}) => numCachedTokens).filter((count) => count !== null)).toEqual([0]);
    expectPlausibleTimes(outputs, implementation);
    expect(outputs.map(({finishReason}) => finishReason).filter((reason) => reason !== null)).toEqual(['length']);
    expect(outputs.at(-1)?.finishReason).toBe('length');
    expect(client.numOpenRequests()).toBe(0);
  });

  it('reports the reused beginning of a prompt once', async () => {
    const client = await pool.share('plain');
    const prompt = fakePrompt(40, 51);
    await collect(client.generate(engineRequest('a', prompt, {maxTokens: 2})));
    const outputs = await collect(client.generate(engineRequest('b', prompt, {maxTokens: 4})));
    expect(outputs.map(({numCachedTokens}) => numCachedTokens).filter((count) => count !== null)).toEqual([38]);
  });

  it('gives each of many sequences what it gets alone', async () => {
    const client = await pool.share('plain');
    const prompts = Array.from({length: 20}, (_, i) => fakePrompt(3 + i * 11, i));
    const results = await Promise.all(
      prompts.map((prompt, i) => collect(client.generate(engineRequest(`r${i}`, prompt, {maxTokens: 5 + i})))),
    );
    results.forEach((outputs, i) => {
      expect(tokensIn(outputs)).toEqual(greedyContinuation(prompts[i], {maxTokens: 5 + i}));
    });
  });

  it('repeats the draws of a 64-bit seed', async () => {
    const client = await pool.share('plain');
    const sampling = {temperature: 1, maxTokens: 10, seed: 2n ** 63n - 5n};
    const draw = async (seed: bigint) =>
      tokensIn(await collect(client.generate(engineRequest('s', fakePrompt(9), {...sampling, seed}))));
    expect(await draw(sampling.seed)).toEqual(await draw(sampling.seed));
    expect(await draw(sampling.seed)).not.toEqual(await draw(sampling.seed - 1n));
  });

  it('merges what a slow reader missed', async () => {
    const client = await pool.share('plain');
    const prompt = fakePrompt(10);
    const idle = nextStats(client, ({numRunning, numDecodeTokens}) => numRunning === 0 && numDecodeTokens > 0);
    const stream = client.generate(engineRequest('slow', prompt, {maxTokens: 30}));
    const first = await stream.next();
    await idle;
    const rest = await collect(stream);
    expect(rest.length).toBeLessThanOrEqual(1);
    expect(tokensIn([first.value as SequenceOutput, ...rest])).toEqual(greedyContinuation(prompt, {maxTokens: 30}));
  });

  it('takes a sequence out when its reader leaves', async () => {
    const client = await pool.share('paced');
    const idle = nextStats(client, ({numRunning, numUsedCacheTokens}) => numRunning === 0 && numUsedCacheTokens === 0);
    for await (const _output of client.generate(engineRequest('a', fakePrompt(10), {maxTokens: 4000}))) break;
    expect(client.numOpenRequests()).toBe(0);
    await idle;
  });

  it('takes a sequence out when its signal is aborted, without an error', async () => {
    const client = await pool.share('paced');
    const idle = nextStats(client, ({numRunning}) => numRunning === 0);
    const controller = new AbortController();
    const outputs: SequenceOutput[] = [];
    const {signal} = controller;
    for await (const output of client.generate(engineRequest('a', fakePrompt(10), {maxTokens: 4000}), {signal})) {
      outputs.push(output);
      if (outputs.length === 3) controller.abort();
    }
    expect(outputs).toHaveLength(3);
    await idle;
    expect(await collect(client.generate(engineRequest('b', [1]), {signal}))).toEqual([]);
    expect(client.numOpenRequests()).toBe(0);
  });

  it('takes an aborted sequence out at once, also when nobody reads', async () => {
    const client = await pool.share('paced');
    const idle = nextStats(client, ({numRunning}) => numRunning === 0);
    const controller = new AbortController();
    const stream = client.generate(engineRequest('a', fakePrompt(10), {maxTokens: 4000}), {signal: controller.signal});
    await stream.next();
    controller.abort();
    await idle;
    expect(client.numOpenRequests()).toBe(0);
    expect((await stream.next()).done).toBe(true);
  });

  it('keeps two requests with the same id apart', async () => {
    const client = await pool.share('paced');
    const [first, second] = [fakePrompt(10, 1), fakePrompt(10, 2)];
    const aborted = client.generate(engineRequest('same', first, {maxTokens: 4000}));
    await aborted.next();
    const kept = collect(client.generate(engineRequest('same', second, {maxTokens: 20})));
    await aborted.return();
    expect(tokensIn(await kept)).toEqual(greedyContinuation(second, {maxTokens: 20}));
  });

  it('fails a sequence without usable logits, and only that one', async () => {
    const client = await pool.start('poisoned');
    const good = fakePrompt(10).filter((id) => id !== poisonTokenId);
    const expected = greedyContinuation(good, {maxTokens: 3});
    expect(expected).not.toContain(poisonTokenId);
    const [bad, other] = await Promise.all([
      collectUntilError(client.generate(engineRequest('bad', [...good, poisonTokenId], {maxTokens: 3}))),
      collect(client.generate(engineRequest('good', good, {maxTokens: 3}))),
    ]);
    expect(bad.error).toBeInstanceOf(GenerationError);
    expect(tokensIn(other)).toEqual(expected);
    expect(tokensIn(await collect(client.generate(engineRequest('next', good, {maxTokens: 3}))))).toEqual(expected);
    expect(client.isAlive()).toBe(true);
  });

  it('refuses a prompt that can never fit into the cache', async () => {
    const client = await pool.start('plain', {kvCacheBytes: 64 * 8});
    const {error} = await collectUntilError(client.generate(engineRequest('long', fakePrompt(80))));
    expect(error).toBeInstanceOf(ValidationError);
    expect(String(error)).toContain('The prompt has 80 tokens');
    expect(
      tokensIn(await collect(client.generate(engineRequest('short', fakePrompt(8), {maxTokens: 2})))),
    ).toHaveLength(2);
  });

  it('fails everything when the forward pass fails', async () => {
    const client = await pool.start('failing');
    const results = await Promise.all(
      ['a', 'b'].map((id) => collectUntilError(client.generate(engineRequest(id, fakePrompt(10), {maxTokens: 50})))),
    );
    for (const {error} of results) {
      expect(error).toBeInstanceOf(EngineDeadError);
      expect(String(error)).toContain('The server had an error while processing your request.');
    }
    while (client.isAlive()) await delay(5);
    expect(client.engineStates().some(({isUp}) => isUp)).toBe(false);
    expect(client.numOpenRequests()).toBe(0);
    const {error} = await collectUntilError(client.generate(engineRequest('late', [1])));
    expect(error).toBeInstanceOf(EngineDeadError);
    if (!implementation.comesBack) expect(String(await client.death)).toContain('the forward pass failed');
  });

  it('names its engines', async () => {
    const client = await pool.share('plain');
    const up = {isUp: true, numRestarts: 0};
    expect(client.engineStates()).toEqual(Array.from({length: implementation.numEngines ?? 1}, () => up));
  });

  it('ends open sequences when it is closed, which may happen twice', async () => {
    const client = await pool.start('paced');
    const open = collectUntilError(client.generate(engineRequest('a', fakePrompt(10), {maxTokens: 4000})));
    await nextStats(client, ({numRunning}) => numRunning === 1);
    await Promise.all([client.close(), client.close()]);
    expect((await open).error).toBeInstanceOf(EngineDeadError);
    expect(client.isAlive()).toBe(false);
    const outcome = await Promise.race([client.death.then(() => 'died'), client.close().then(() => 'closed')]);
    expect(outcome).toBe('closed');
  });

  it('tells its listeners about every step until they are taken off', async () => {
    const client = await pool.share('plain');
    const seen: StepStats[] = [];
    const stop = client.onStats((stats) => seen.push(stats));
    await collect(client.generate(engineRequest('a', fakePrompt(70, 52), {maxTokens: 3})));
    expect(seen.reduce((sum, {numPrefillTokens}) => sum + numPrefillTokens, 0)).toBe(70);
    expect(seen.reduce((sum, {numDecodeTokens}) => sum + numDecodeTokens, 0)).toBe(3);
    if (!implementation.isRemote) expect(seen.at(-1)?.numCachedTokens).toBeGreaterThanOrEqual(72);
    expect(seen.at(-1)).toMatchObject({numRunning: 0, numWaiting: 0, numUsedCacheTokens: 0});
    stop();
    const numSeen = seen.length;
    await collect(client.generate(engineRequest('b', fakePrompt(5), {maxTokens: 1})));
    expect(seen).toHaveLength(numSeen);
  });
});

/** Queued, scheduled, then one time for each token, none of them before the one ahead of it. */
function expectPlausibleTimes(outputs: SequenceOutput[], {isRemote = false}: EngineImplementation): void {
  const {start} = outputs[0]!;
  expect(start === null).toBe(isRemote);
  const tokenTimes = outputs.flatMap(({tokenTimesMs}) => tokenTimesMs);
  expect(tokenTimes).toHaveLength(tokensIn(outputs).length);
  const times = [...(start ? [start.queuedMs, start.scheduledMs!] : []), ...tokenTimes];
  expect(times).toEqual([...times].sort((a, b) => a - b));
  expect(Math.abs(times[0]! - Date.now())).toBeLessThan(60_000);
  expect(outputs.slice(1).every(({start}) => start === null)).toBe(true);
}
