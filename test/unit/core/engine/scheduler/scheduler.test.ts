/** Who computes what in which step, seen through the batches that reach the model runner. */
import {describe, expect, it} from 'vitest';
import type {EngineRequest} from '../../../../../src/core/engine/protocol.ts';
import {
  buildEngine,
  engineRequest,
  fakePrompt,
  outputsOf,
  runToEnd,
  tokensOf,
} from '../../../../support/build-engine.ts';
import {greedyContinuation} from '../../../../support/fake-model-runner.ts';

type Engine = ReturnType<typeof buildEngine>;

async function steps({core}: Engine, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await core.step();
    core.checkInvariants();
  }
}

/** `[decodes, lengths of the prompt chunks]` of each step. */
function shapes({runner}: Engine): [number, number[]][] {
  return runner.batches.map(({decodes, prefills}) => [decodes.length, prefills.map(({tokenIds}) => tokenIds.length)]);
}

describe('token budget', () => {
  it('cuts a long prompt into chunks while others go on decoding', async () => {
    const engine = buildEngine({maxNumBatchedTokens: 32});
    engine.core.addRequests([engineRequest('short', fakePrompt(6), {maxTokens: 10})]);
    await steps(engine, 2);
    engine.core.addRequests([engineRequest('long', fakePrompt(80, 2), {maxTokens: 3})]);
    await steps(engine, 4);
    expect(shapes(engine)).toEqual([
      [0, [6]],
      [1, []],
      [1, [31]],
      [1, [31]],
      [1, [18]],
      [2, []],
    ]);
  });

  it('gives what one prompt leaves to the next', async () => {
    const engine = buildEngine({maxNumBatchedTokens: 32});
    engine.core.addRequests([3, 4, 5].map((seed) => engineRequest(`r${seed}`, fakePrompt(20, seed))));
    await steps(engine, 2);
    expect(shapes(engine)).toEqual([
      [0, [20, 12]],
      [1, [8, 20]],
    ]);
  });

  it('never leaves a single token of a prompt to a chunk of its own', async () => {
    const engine = buildEngine({maxNumBatchedTokens: 32});
    engine.core.addRequests([engineRequest('a', fakePrompt(33)), engineRequest('b', fakePrompt(30, 2))]);
    await steps(engine, 3);
    expect(shapes(engine)).toEqual([
      [0, [31]],
      [0, [2, 30]],
      [2, []],
    ]);
  });

  it('lets at most max_num_seqs run', async () => {
    const engine = buildEngine({maxNumSeqs: 2});
    engine.core.addRequests([1, 2, 3].map((seed) => engineRequest(`r${seed}`, fakePrompt(4, seed), {maxTokens: 2})));
    const {stats} = await engine.core.step();
    expect(stats).toMatchObject({numRunning: 2, numWaiting: 1, numPrefillTokens: 8, numDecodeTokens: 2});
  });
});

describe('order', () => {
  const request = (requestId: string, seed: number, priority: number): EngineRequest =>
    engineRequest(requestId, fakePrompt(4, seed), {maxTokens: 2}, {priority});

  async function finishOrder(schedulingPolicy: 'fcfs' | 'priority') {
    const {core} = buildEngine({schedulingPolicy, maxNumSeqs: 1});
    core.addRequests([request('first', 1, 5), request('urgent', 2, -1), request('same', 3, 5)]);
    const outputs = (await runToEnd(core)).flatMap((step) => step.outputs);
    return outputs.filter(({finishReason}) => finishReason !== null).map(({requestId}) => requestId);
  }

  it('is that of arrival', async () => {
    expect(await finishOrder('fcfs')).toEqual(['first', 'urgent', 'same']);
  });

  it('is that of priority, then arrival', async () => {
    expect(await finishOrder('priority')).toEqual(['urgent', 'first', 'same']);
  });

  it('hands the budget to an urgent prompt before one that is under way', async () => {
    const engine = buildEngine({schedulingPolicy: 'priority', maxNumBatchedTokens: 16});
    engine.core.addRequests([engineRequest('long', fakePrompt(60), {}, {priority: 1})]);
    await steps(engine, 1);
    engine.core.addRequests([engineRequest('urgent', fakePrompt(10, 2), {}, {priority: 0})]);
    await steps(engine, 1);
    expect(shapes(engine)).toEqual([
      [0, [16]],
      [0, [10, 6]],
    ]);
  });
});

describe('prefix reuse', () => {
  it('computes the prompt of several choices once', async () => {
    const engine = buildEngine({maxNumBatchedTokens: 64});
    const prompt = fakePrompt(50);
    engine.core.addRequests(['a', 'b', 'c'].map((id) => engineRequest(id, prompt, {maxTokens: 4})));
    const all = await runToEnd(engine.core);
    const numPrefillTokens = all.reduce((sum, {stats}) => sum + stats.numPrefillTokens, 0);
    expect(numPrefillTokens).toBe(50 + 2 + 2);
    expect(['a', 'b', 'c'].map((id) => outputsOf(all, id)[0].numCachedTokens)).toEqual([0, 48, 48]);
    for (const id of ['a', 'b', 'c']) expect(tokensOf(all, id)).toEqual(greedyContinuation(prompt, {maxTokens: 4}));
  });

  it('lets others pass while a prompt waits for its beginning', async () => {
    const engine = buildEngine({maxNumBatchedTokens: 40});
    const shared = fakePrompt(60);
    engine.core.addRequests([
      engineRequest('first', shared),
      engineRequest('same', [...shared, 1, 2]),
      engineRequest('other', fakePrompt(12, 9)),
    ]);
    await steps(engine, 2);
    expect(shapes(engine)).toEqual([
      [0, [40]],
      [0, [20, 12]],
    ]);
    const all = await runToEnd(engine.core);
    expect(outputsOf(all, 'same')[0].numCachedTokens).toBe(60);
  });

  it("continues a chat's next turn in its row, output of the first turn included", async () => {
    const engine = buildEngine();
    const firstTurn = fakePrompt(40);
    engine.core.addRequests([engineRequest('turn 1', firstTurn, {maxTokens: 10})]);
    const answer = tokensOf(await runToEnd(engine.core), 'turn 1');
    const secondTurn = [...firstTurn, ...answer, ...fakePrompt(8, 5)];
    engine.core.addRequests([engineRequest('turn 2', secondTurn, {maxTokens: 5})]);
    const all = await runToEnd(engine.core);
    // The last token of the answer was sampled but never fed.
    expect(outputsOf(all, 'turn 2')[0].numCachedTokens).toBe(49);
    expect(tokensOf(all, 'turn 2')).toEqual(greedyContinuation(secondTurn, {maxTokens: 5}));
    expect(engine.runner.numCopiedTokens).toBe(0);
    expect(all[0].stats).toMatchObject({prefixQueryTokens: secondTurn.length, prefixHitTokens: 49});
  });
});

describe('preemption', () => {
  it('takes the latest sequence, and its answer stays the same without repetition', async () => {
    const engine = buildEngine({kvCacheTokens: 96, maxNumBatchedTokens: 64}, {numRows: 3});
    const prompts = [fakePrompt(20, 1), fakePrompt(20, 2)];
    engine.core.addRequests(prompts.map((prompt, i) => engineRequest(`r${i}`, prompt, {maxTokens: 60})));
    const all = await runToEnd(engine.core);
    expect(all.reduce((sum, {stats}) => sum + stats.numPreemptions, 0)).toBeGreaterThan(0);
    prompts.forEach((prompt, i) => {
      expect(tokensOf(all, `r${i}`)).toEqual(greedyContinuation(prompt, {maxTokens: 60}));
    });
    const finished = all.flatMap(({outputs}) => outputs).filter(({finishReason}) => finishReason !== null);
    expect(finished.map(({requestId}) => requestId)).toEqual(['r0', 'r1']);
  });

  it('computes the prompt again in chunks and the output token by token, as the first time', async () => {
    const options = {kvCacheTokens: 96, maxNumBatchedTokens: 64, enablePrefixCaching: false};
    const engine = buildEngine(options, {numRows: 4});
    const prompts = [1, 2, 3].map((seed) => fakePrompt(20, seed));
    engine.core.addRequests(prompts.map((prompt, i) => engineRequest(`r${i}`, prompt, {maxTokens: 60})));
    const all = await runToEnd(engine.core);
    expect(all.reduce((sum, {stats}) => sum + stats.numPreemptions, 0)).toBeGreaterThan(0);
    const chunks = engine.runner.batches.flatMap(({prefills}) => prefills);
    expect(chunks.length).toBeGreaterThan(prompts.length);
    for (const {start, tokenIds} of chunks) {
      expect(start + tokenIds.length).toBeLessThanOrEqual(20);
      expect(tokenIds.length).toBeGreaterThan(1);
    }
    const repeated = engine.runner.batches.flatMap(({decodes}) => decodes).filter(({numLogits}) => numLogits === 0);
    expect(repeated.length).toBeGreaterThan(0);
    prompts.forEach((prompt, i) => {
      expect(tokensOf(all, `r${i}`)).toEqual(greedyContinuation(prompt, {maxTokens: 60}));
    });
  });
});
