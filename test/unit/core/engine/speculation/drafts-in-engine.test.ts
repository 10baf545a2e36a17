/** Drafts change how many steps an answer takes, and nothing else. */
import {describe, expect, it} from 'vitest';
import type {SamplingParams} from '../../../../../src/core/sampling/sampling-params.ts';
import {buildEngine, engineRequest, fakePrompt, outputsOf, runToEnd} from '../../../../support/build-engine.ts';

const speculation = {maxDraftTokens: 4, minMatch: 2, maxMatch: 3};
const prompt = fakePrompt(24);

/** The model says its prompt again, token by token, and then the same once more. */
function echo(logits: Float32Array, tokenIds: readonly number[]): void {
  logits[tokenIds[tokenIds.length - prompt.length] ?? 0] = 12;
}

const model = {maxDraftTokens: 4, changeLogits: echo};

async function run(sampling: Partial<SamplingParams>, options: Parameters<typeof buildEngine>[0] = {}, fake = model) {
  const engine = buildEngine({maxNumBatchedTokens: 64, ...options}, fake);
  engine.core.addRequests([engineRequest('a', prompt, {maxTokens: 40, ...sampling})]);
  const steps = await runToEnd(engine.core);
  const outputs = outputsOf(steps, 'a');
  return {
    steps,
    runner: engine.runner,
    tokenIds: outputs.flatMap(({newTokenIds}) => newTokenIds),
    logprobs: outputs.flatMap(({logprobs}) => logprobs ?? []),
    end: outputs.at(-1)!,
  };
}

async function bothWays(sampling: Partial<SamplingParams>) {
  return {plain: await run(sampling), drafted: await run(sampling, {speculation})};
}

describe('drafts', () => {
  it.each<[string, Partial<SamplingParams>]>([
    ['greedy', {}],
    ['draws', {temperature: 1.5, seed: 3n}],
    ['penalties', {repetitionPenalty: 1.3, frequencyPenalty: 0.4, presencePenalty: 0.2}],
    ['bad words', {badWordsTokenIds: [[prompt[5]!, prompt[6]!]]}],
    ['a bias', {logitBias: [[prompt[9]!, -100]]}],
    ['allowed ids', {allowedTokenIds: prompt.slice(3)}],
    ['an end in the middle of a draft', {eosTokenId: prompt[10]!}],
    ['a stop token before and after min_tokens', {stopTokenIds: [prompt[10]!], minTokens: 12}],
    ['detected repetition', {repetitionDetection: {minPatternSize: 4, maxPatternSize: 30, minCount: 2}, maxTokens: 90}],
    ['a length that ends within a draft', {maxTokens: 7}],
    ['one token', {maxTokens: 1}],
  ])('change nothing about %s', async (_name, sampling) => {
    const {plain, drafted} = await bothWays({...sampling, logprobs: 2});
    expect(drafted.tokenIds).toEqual(plain.tokenIds);
    expect(drafted.logprobs).toEqual(plain.logprobs);
    expect(drafted.end).toMatchObject({finishReason: plain.end.finishReason, stopReason: plain.end.stopReason});
  });

  it('save steps where the text repeats itself, and are counted', async () => {
    const {plain, drafted} = await bothWays({});
    expect(plain.steps).toHaveLength(40);
    expect(drafted.steps.length).toBeLessThan(14);
    const stats = drafted.steps.map(({stats: {drafts}}) => drafts!);
    const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
    const numAccepted = sum(stats.map(({acceptedByPosition}) => sum(acceptedByPosition)));
    expect(numAccepted).toBe(40 - drafted.steps.length);
    expect(sum(stats.map(({numDraftTokens}) => numDraftTokens))).toBeGreaterThanOrEqual(numAccepted);
    expect(stats.every(({acceptedByPosition: [a, b, c, d]}) => a! >= b! && b! >= c! && c! >= d!)).toBe(true);
    expect(plain.steps[0]!.stats.drafts).toBeUndefined();
  });

  it('take no more than the budget, the logits and the cache leave', async () => {
    for (const options of [{maxNumBatchedTokens: 3}, {kvCacheTokens: 64}, {maxModelLen: 40}]) {
      const {tokenIds, runner} = await run({}, {speculation, ...options}, {
        ...model,
        maxExtraLogits: 2,
      } as typeof model);
      expect(tokenIds).toEqual((await run({}, options)).tokenIds);
      for (const {decodes} of runner.batches) {
        for (const {tokenIds} of decodes) expect(tokenIds.length).toBeLessThanOrEqual(3);
      }
    }
  });

  it('keep what came before a row of logits that are no numbers', async () => {
    const broken = {
      ...model,
      changeLogits: (logits: Float32Array, tokenIds: readonly number[]) => {
        echo(logits, tokenIds);
        if (tokenIds.length === prompt.length + 10) logits.fill(Number.NaN);
      },
    };
    const plain = await run({}, {}, broken);
    const drafted = await run({}, {speculation}, broken);
    expect(plain.tokenIds).toHaveLength(10);
    expect(drafted.tokenIds).toEqual(plain.tokenIds);
    expect(drafted.end).toMatchObject({finishReason: 'error', error: {name: 'GenerationError'}});
  });

  it('are refused where the model cannot check them', () => {
    expect(() => buildEngine({speculation})).toThrow('--speculative-config is not supported');
  });
});
