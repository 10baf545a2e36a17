/** What every EngineClient must do with the fields of a request: logprobs, constraints, choices, priority, salt. */
import {afterAll, describe, expect, it} from 'vitest';
import type {EngineClient} from '../../src/core/engine/client/engine-client.ts';
import type {EngineRequest, SequenceOutput} from '../../src/core/engine/protocol.ts';
import {ValidationError} from '../../src/core/errors.ts';
import type {TokenVocabulary} from '../../src/core/sampling/token-vocabulary.ts';
import {engineRequest, fakePrompt} from '../support/build-engine.ts';
import {collect, collectUntilError} from '../support/collect.ts';
import {outputConstraint} from '../support/constrained-text.ts';
import {EnginePool, engineImplementations, nextStats, tokensIn} from '../support/engine-clients.ts';
import {fakeLogits, greedyContinuation} from '../support/fake-model-runner.ts';

/** One character for each of the 64 ids of the fake models; the last one is the end token. */
const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789{}[]":, \n-.!?ABCDEFGHIJKLM'];
const endTokenId = letters.length;
const textOf = (tokenIds: readonly number[]) => tokenIds.map((id) => letters[id] ?? '').join('');

const vocabulary: TokenVocabulary = {
  bytes: new Uint8Array(Buffer.from(letters.join(''))),
  ends: Uint32Array.from({length: endTokenId + 1}, (_, id) => Math.min(id + 1, endTokenId)),
  specialTokenIds: [endTokenId],
};

const run = (client: EngineClient, request: EngineRequest) => collect(client.generate(request));

/** Logprobs of the fake model behind a sequence, by token. */
function logprobsAfter(tokenIds: readonly number[]): number[] {
  const logits = [...fakeLogits(tokenIds, 64)];
  const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
  return logits.map((logit) => logit - total);
}

function logprobsIn(outputs: readonly SequenceOutput[]) {
  return outputs.flatMap(({logprobs}) => logprobs ?? []);
}

describe.each(engineImplementations)('requests to an engine client: $name', (implementation) => {
  const pool = new EnginePool(implementation);
  afterAll(() => pool.close());

  it('gives logprobs of each token and of the best others', async () => {
    const client = await pool.share('plain');
    const prompt = fakePrompt(12, 60);
    const outputs = await run(client, engineRequest('a', prompt, {maxTokens: 3, logprobs: 2}));
    const tokens = tokensIn(outputs);
    expect(tokens).toEqual(greedyContinuation(prompt, {maxTokens: 3}));
    logprobsIn(outputs).forEach((entries, index) => {
      const expected = logprobsAfter([...prompt, ...tokens.slice(0, index)]);
      expect(entries.map(({rank}) => rank)).toEqual([1, 2]);
      expect(entries[0]!.tokenId).toBe(tokens[index]);
      for (const {tokenId, logprob} of entries) expect(logprob).toBeCloseTo(expected[tokenId]!, 4);
    });
    expect(logprobsIn(outputs)).toHaveLength(3);
  });

  it('gives logprobs of the tokens that a request names', async () => {
    const client = await pool.share('plain');
    const sampling = {maxTokens: 1, logprobs: 2, logprobTokenIds: [5, 9]};
    const [output] = await run(client, engineRequest('a', fakePrompt(12, 61), sampling));
    const named = output!.logprobs![0]!.map(({tokenId}) => tokenId);
    expect(named).toEqual(expect.arrayContaining([...output!.newTokenIds, 5, 9]));
  });

  it('gives no logprobs unless they are asked for', async () => {
    const client = await pool.share('plain');
    const outputs = await run(client, engineRequest('a', fakePrompt(12, 62), {maxTokens: 3}));
    expect(outputs.every(({logprobs, promptLogprobs}) => logprobs === null && promptLogprobs === null)).toBe(true);
  });

  it('gives logprobs of the prompt once, the first token without one', async () => {
    const client = await pool.share('plain');
    const prompt = fakePrompt(9, 63);
    const outputs = await run(client, engineRequest('a', prompt, {maxTokens: 3, promptLogprobs: 1}));
    expect(outputs.filter(({promptLogprobs}) => promptLogprobs !== null)).toHaveLength(1);
    const [first, ...rest] = outputs[0]!.promptLogprobs!;
    expect(first).toBeNull();
    expect(rest.map((entries) => entries![0]!.tokenId)).toEqual(prompt.slice(1));
    rest.forEach((entries, index) => {
      const expected = logprobsAfter(prompt.slice(0, index + 1));
      for (const {tokenId, logprob} of entries!) expect(logprob).toBeCloseTo(expected[tokenId]!, 4);
    });
    expect(tokensIn(outputs)).toEqual(greedyContinuation(prompt, {maxTokens: 3}));
  });

  it('runs the choices of one request, each with its seed', async () => {
    const client = await pool.share('plain');
    const choice = (index: number) =>
      engineRequest(
        `n.${index}`,
        fakePrompt(20, 64),
        {temperature: 1, maxTokens: 8, seed: BigInt(7 + index)},
        {choiceOf: {requestId: 'n', numChoices: 2}},
      );
    const draw = async () => (await Promise.all([run(client, choice(0)), run(client, choice(1))])).map(tokensIn);
    const [first, second] = await draw();
    expect(first).toHaveLength(8);
    expect(second).not.toEqual(first);
    expect(await draw()).toEqual([first, second]);
  });

  it('holds an output to its constraint', async () => {
    const client = await pool.share('plain');
    client.provideVocabulary(() => vocabulary);
    const constraint = outputConstraint({kind: 'regex', text: '[a-f]{3}[0-9]{2}'});
    const sampling = {maxTokens: 20, eosTokenId: endTokenId, constraint};
    const outputs = await run(client, engineRequest('a', fakePrompt(10, 65), sampling));
    expect(textOf(tokensIn(outputs))).toMatch(/^[a-f]{3}[0-9]{2}$/);
    expect(outputs.at(-1)).toMatchObject({finishReason: 'stop', stopReason: null});
  });

  it('fails a request whose constraint cannot be used, and goes on', async () => {
    const client = await pool.share('plain');
    client.provideVocabulary(() => vocabulary);
    const constraint = outputConstraint({kind: 'regex', text: '[a-'});
    const {error} = await collectUntilError(client.generate(engineRequest('a', fakePrompt(10, 66), {constraint})));
    expect(error).toBeInstanceOf(ValidationError);
    expect(await run(client, engineRequest('b', fakePrompt(10, 66), {maxTokens: 1}))).toHaveLength(1);
  });

  it('ends at a stop token and names it', async () => {
    const client = await pool.share('plain');
    const prompt = fakePrompt(10, 67);
    const expected = greedyContinuation(prompt, {maxTokens: 6});
    const outputs = await run(client, engineRequest('a', prompt, {maxTokens: 6, stopTokenIds: [expected[2]!]}));
    const stop = expected.indexOf(expected[2]!);
    expect(tokensIn(outputs)).toEqual(expected.slice(0, stop + 1));
    expect(outputs.at(-1)).toMatchObject({finishReason: 'stop', stopReason: expected[2]});
  });

  it('heeds biases and the tokens that may be sampled', async () => {
    const client = await pool.share('plain');
    const biased = await run(client, engineRequest('a', fakePrompt(10, 68), {maxTokens: 2, logitBias: [[33, 100]]}));
    expect(tokensIn(biased)).toEqual([33, 33]);
    const limited = await run(client, engineRequest('b', fakePrompt(10, 68), {maxTokens: 4, allowedTokenIds: [8, 9]}));
    expect(tokensIn(limited).every((id) => id === 8 || id === 9)).toBe(true);
  });

  it('shares a beginning under the same salt only', async () => {
    const client = await pool.share('plain');
    const prompt = fakePrompt(40, 69);
    const cachedUnder = async (cacheSalt: string | null) => {
      const outputs = await run(client, engineRequest('a', prompt, {maxTokens: 2}, {cacheSalt}));
      return outputs.find(({numCachedTokens}) => numCachedTokens !== null)?.numCachedTokens;
    };
    expect(await cachedUnder('one')).toBe(0);
    expect(await cachedUnder('two')).toBe(0);
    expect(await cachedUnder('one')).toBe(38);
  });

  it('finds nothing of what was computed before a reset', async () => {
    const client = await pool.share('plain');
    const request = engineRequest('a', fakePrompt(40, 70), {maxTokens: 2});
    await run(client, request);
    client.resetPrefixCache();
    const outputs = await run(client, request);
    expect(outputs.find(({numCachedTokens}) => numCachedTokens !== null)?.numCachedTokens).toBe(0);
  });

  it('runs what is urgent first under the policy priority', async () => {
    const client = await pool.start('paced', {schedulingPolicy: 'priority', maxNumSeqs: 1});
    const running = nextStats(client, ({numRunning}) => numRunning === 1);
    // Long enough for both others to reach a server, too.
    const busy = run(client, engineRequest('busy', fakePrompt(10), {maxTokens: 500}, {engineIndex: 0}));
    await running;
    const ends: string[] = [];
    const wait = (name: string, priority: number) =>
      run(client, engineRequest(name, fakePrompt(10), {maxTokens: 2}, {priority, engineIndex: 0})).then(() =>
        ends.push(name),
      );
    await Promise.all([busy, wait('later', 5), wait('sooner', -5)]);
    expect(ends).toEqual(['sooner', 'later']);
  });

  it('counts the prompt tokens of requests that have not begun', async () => {
    const client = await pool.start('paced', {maxNumSeqs: 1});
    const running = nextStats(client, ({numRunning, numDecodeTokens}) => numRunning === 1 && numDecodeTokens > 0);
    const controller = new AbortController();
    const {signal} = controller;
    const first = client.generate(engineRequest('first', fakePrompt(10), {maxTokens: 4000}, {engineIndex: 0}), {
      signal,
    });
    await Promise.all([first.next(), running]);
    const second = client.generate(engineRequest('second', fakePrompt(77), {}, {engineIndex: 0}), {signal}).next();
    expect(client.numOpenRequests()).toBe(2);
    expect(client.numBacklogTokens()).toBe(77);
    controller.abort();
    await second;
    expect(client.numBacklogTokens()).toBe(0);
  });
});
