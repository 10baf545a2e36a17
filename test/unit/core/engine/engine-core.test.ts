import {afterEach, describe, expect, it, vi} from 'vitest';
import {buildEngine, engineRequest, fakePrompt, outputsOf, runToEnd, tokensOf} from '../../../support/build-engine.ts';
import {greedyContinuation} from '../../../support/fake-model-runner.ts';
import type {samplingParams} from '../../../support/sampling-params.ts';

const prompt = fakePrompt(10);
const expected = greedyContinuation(prompt, {maxTokens: 12});

async function finishOf(sampling: Partial<ReturnType<typeof samplingParams>>, options = {}) {
  const {core} = buildEngine(options);
  core.addRequests([engineRequest('a', prompt, {maxTokens: 12, ...sampling})]);
  const steps = await runToEnd(core);
  const {finishReason, stopReason} = outputsOf(steps, 'a').at(-1) ?? {};
  return {finishReason, stopReason, tokens: tokensOf(steps, 'a')};
}

describe('how a sequence ends', () => {
  it('needs a test sequence without repeated tokens at the start', () => {
    expect(new Set(expected.slice(0, 5)).size).toBe(5);
  });

  it('ends with the end token, which has no stop reason and is part of the output', async () => {
    expect(await finishOf({eosTokenId: expected[3]})).toEqual({
      finishReason: 'stop',
      stopReason: null,
      tokens: expected.slice(0, 4),
    });
  });

  it('ends with a stop token, whose id is the stop reason', async () => {
    expect(await finishOf({stopTokenIds: [expected[4], expected[2]]})).toEqual({
      finishReason: 'stop',
      stopReason: expected[2],
      tokens: expected.slice(0, 3),
    });
  });

  it('takes an end token that is also a stop token for the end token, unless ends are ignored', async () => {
    const both = {eosTokenId: expected[3], stopTokenIds: [expected[3]]};
    expect(await finishOf(both)).toMatchObject({stopReason: null});
    expect(await finishOf({...both, ignoreEos: true})).toMatchObject({finishReason: 'stop', stopReason: expected[3]});
  });

  it('goes on after an ignored end token', async () => {
    expect(await finishOf({eosTokenId: expected[3], ignoreEos: true})).toEqual({
      finishReason: 'length',
      stopReason: null,
      tokens: expected,
    });
  });

  it('cannot end before min_tokens, and prefers the end token to the length', async () => {
    const early = await finishOf({eosTokenId: expected[1], minTokens: 3});
    expect(early.tokens.slice(0, 3)).not.toContain(expected[1]);
    expect(await finishOf({eosTokenId: expected[3], maxTokens: 4})).toMatchObject({finishReason: 'stop'});
  });

  it('ends when it repeats itself, but not before min_tokens, and prefers all other ends', async () => {
    const repetitionDetection = {minPatternSize: 1, maxPatternSize: 2, minCount: 3};
    const stuck = {repetitionDetection, logitBias: [[7, 100]] as [number, number][]};
    expect(await finishOf(stuck)).toEqual({finishReason: 'repetition', stopReason: null, tokens: [7, 7, 7]});
    expect(await finishOf({...stuck, minTokens: 5})).toMatchObject({
      finishReason: 'repetition',
      tokens: Array(5).fill(7),
    });
    expect(await finishOf({...stuck, maxTokens: 3})).toMatchObject({finishReason: 'length'});
    expect(await finishOf({repetitionDetection})).toMatchObject({finishReason: 'length', tokens: expected});
  });

  it('ends when the context is full, with the last token of it', async () => {
    const {finishReason, tokens} = await finishOf({}, {maxModelLen: 15});
    expect({finishReason, tokens}).toEqual({finishReason: 'length', tokens: expected.slice(0, 5)});
  });

  it('ends when the cache is full for a single sequence', async () => {
    const {finishReason, tokens} = await finishOf({}, {kvCacheTokens: 16});
    expect({finishReason, tokens}).toEqual({finishReason: 'length', tokens: expected.slice(0, 7)});
  });
});

describe('logits that are no numbers', () => {
  it('end a request that wants the logprobs of its prompt, and leave nothing behind', async () => {
    const isBroken = (tokenIds: readonly number[]) => tokenIds.length === 20;
    const {core} = buildEngine(
      {},
      {changeLogits: (logits, tokenIds) => isBroken(tokenIds) && logits.fill(Number.NaN, 0, 3)},
    );
    const long = fakePrompt(40, 2);
    core.addRequests([engineRequest('picky', long, {promptLogprobs: 1}), engineRequest('other', long)]);
    const steps = await runToEnd(core);
    expect(outputsOf(steps, 'picky')).toMatchObject([
      {newTokenIds: [], promptLogprobs: null, finishReason: 'error', error: {name: 'GenerationError'}},
    ]);
    expect(tokensOf(steps, 'other')).toEqual(greedyContinuation(long, {maxTokens: 16}));
    expect(outputsOf(steps, 'other')[0]!.numCachedTokens).toBe(0);
  });
});

describe('requests and aborts', () => {
  it('lets an abort take effect at the next step and tells of it once', async () => {
    const {core} = buildEngine();
    core.addRequests([engineRequest('a', prompt), engineRequest('b', fakePrompt(5))]);
    await core.step();
    core.abortRequests(['a', 'a', 'unknown']);
    const {outputs, stats} = await core.step();
    expect(outputs.filter(({requestId}) => requestId === 'a')).toMatchObject([
      {finishReason: 'abort', newTokenIds: []},
    ]);
    expect(stats.numRunning).toBe(1);
    core.checkInvariants();
  });

  it('finishes a request that is aborted before it ran', async () => {
    const {core, runner} = buildEngine();
    core.addRequests([engineRequest('a', prompt)]);
    core.abortRequests(['a']);
    const {outputs} = await core.step();
    expect(outputs).toMatchObject([{requestId: 'a', finishReason: 'abort', numCachedTokens: null}]);
    expect(runner.batches).toHaveLength(0);
    expect(core.hasWork()).toBe(false);
  });

  it('takes aborts during a forward pass at the next step', async () => {
    const {core} = buildEngine({}, {beforeExecute: () => core.abortRequests(['a'])});
    core.addRequests([engineRequest('a', prompt)]);
    expect((await core.step()).outputs).toMatchObject([{newTokenIds: [expected[0]], finishReason: null}]);
    expect((await core.step()).outputs).toMatchObject([{newTokenIds: [], finishReason: 'abort'}]);
  });

  it('refuses a prompt that can never fit, and goes on', async () => {
    const {core} = buildEngine({kvCacheTokens: 32});
    core.addRequests([engineRequest('long', fakePrompt(33)), engineRequest('a', prompt, {maxTokens: 2})]);
    const steps = await runToEnd(core);
    expect(outputsOf(steps, 'long')).toMatchObject([{finishReason: 'error', error: {name: 'ValidationError'}}]);
    expect(tokensOf(steps, 'a')).toEqual(expected.slice(0, 2));
  });

  it('PR-sampling-05: fails one sequence without finite logits and keeps nothing of its cache', async () => {
    const poison = (logits: Float32Array, tokenIds: readonly number[]) => {
      if (tokenIds[0] === 1) logits.fill(Number.NaN);
    };
    const {core} = buildEngine({}, {changeLogits: poison});
    core.addRequests([engineRequest('bad', [1, 2, 3, 4]), engineRequest('good', [2, 3, 4, 5], {maxTokens: 3})]);
    const steps = await runToEnd(core);
    expect(outputsOf(steps, 'bad')).toMatchObject([{finishReason: 'error', error: {name: 'GenerationError'}}]);
    expect(tokensOf(steps, 'good')).toHaveLength(3);
    core.addRequests([engineRequest('again', [1, 2, 3, 4])]);
    expect(outputsOf(await runToEnd(core), 'again')[0].numCachedTokens).toBe(0);
  });

  it('gives sequences without a seed draws that differ from one another and repeat after a restart', async () => {
    const drawAll = async (seed: number) => {
      const {core} = buildEngine({seed});
      const sampling = {temperature: 1, maxTokens: 8};
      core.addRequests(['a', 'b'].map((id) => engineRequest(id, prompt, sampling)));
      const steps = await runToEnd(core);
      return [tokensOf(steps, 'a'), tokensOf(steps, 'b')];
    };
    const [a, b] = await drawAll(0);
    expect(a).not.toEqual(b);
    expect(await drawAll(0)).toEqual([a, b]);
    expect(await drawAll(1)).not.toEqual([a, b]);
  });
});

describe('what waits too long', () => {
  afterEach(() => vi.restoreAllMocks());

  /** One place, two requests, and a minute that passes after the first step. */
  async function waitAMinute(queueTimeoutSeconds: number | null) {
    const {core} = buildEngine({queueTimeoutSeconds, maxNumSeqs: 1});
    core.addRequests(['running', 'queued'].map((id) => engineRequest(id, prompt, {maxTokens: 12})));
    const steps = [await core.step()];
    const realNow = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => realNow() + 60_000);
    return [...steps, ...(await runToEnd(core))];
  }

  it('is refused when it never had its turn; what runs goes on', async () => {
    const steps = await waitAMinute(30);
    expect(outputsOf(steps, 'queued')).toHaveLength(1);
    expect(outputsOf(steps, 'queued')[0]).toMatchObject({
      finishReason: 'error',
      newTokenIds: [],
      error: {name: 'OverloadedError', message: expect.stringContaining('more than 30 s')},
    });
    expect(tokensOf(steps, 'running')).toEqual(expected);
  });

  it.each([null, 90])('waits on within a limit of %s seconds', async (limit) => {
    expect(tokensOf(await waitAMinute(limit), 'queued')).toEqual(expected);
  });
});

describe('resetPrefixCache', () => {
  const long = fakePrompt(40);

  async function cachedAfterReset(when: 'before' | 'during' | 'never') {
    const {core} = buildEngine();
    core.addRequests([engineRequest('first', long, {maxTokens: 4})]);
    const steps = [await core.step()];
    if (when === 'during') core.resetPrefixCache();
    steps.push(...(await runToEnd(core)));
    if (when === 'before') core.resetPrefixCache();
    core.addRequests([engineRequest('second', long, {maxTokens: 4})]);
    steps.push(...(await runToEnd(core)));
    expect(tokensOf(steps, 'second')).toEqual(tokensOf(steps, 'first'));
    return outputsOf(steps, 'second')[0].numCachedTokens;
  }

  it('leaves nothing to reuse, also of sequences that were running', async () => {
    expect(await cachedAfterReset('never')).toBe(38);
    expect(await cachedAfterReset('before')).toBe(0);
    expect(await cachedAfterReset('during')).toBe(0);
  });
});
