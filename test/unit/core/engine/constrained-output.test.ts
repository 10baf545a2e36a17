import {describe, expect, it} from 'vitest';
import type {EngineCoreOptions} from '../../../../src/core/engine/engine-core.ts';
import type {OutputConstraint} from '../../../../src/core/sampling/output-constraint.ts';
import type {SamplingParams} from '../../../../src/core/sampling/sampling-params.ts';
import {buildEngine, engineRequest, fakePrompt, outputsOf, runToEnd, tokensOf} from '../../../support/build-engine.ts';
import {outputConstraint} from '../../../support/constrained-text.ts';

/** One character for each id; the last one is the end token. */
const letters = [...'abcdefghijklmnopqrstuvwxyz0123456789{}[]":, \n-.!?ABCDEFGHIJKLM'];
const endId = letters.length;
const thoughtEnd = letters.indexOf('!');

const vocabulary = {
  bytes: new Uint8Array(Buffer.from(letters.join(''))),
  ends: Uint32Array.from({length: endId + 1}, (_, id) => Math.min(id + 1, endId)),
  specialTokenIds: [endId],
};

const textOf = (tokenIds: readonly number[]) => tokenIds.map((id) => letters[id] ?? '').join('');

function run(
  constraint: OutputConstraint,
  sampling: Partial<SamplingParams> = {},
  options: Partial<EngineCoreOptions> = {},
  numRequests = 1,
) {
  const {core} = buildEngine(options, {vocabSize: endId + 1});
  core.setVocabulary(vocabulary);
  const params = {eosTokenId: endId, maxTokens: 40, constraint, ...sampling};
  core.addRequests(
    Array.from({length: numRequests}, (_, index) =>
      engineRequest(`r${index}`, fakePrompt(10, index + 1, endId), params),
    ),
  );
  return runToEnd(core);
}

async function answerTo(...given: Parameters<typeof run>) {
  const steps = await run(...given);
  const outputs = outputsOf(steps, 'r0');
  return {
    text: textOf(tokensOf(steps, 'r0')),
    finishReason: outputs.at(-1)?.finishReason,
    error: outputs.at(-1)?.error,
    outputs,
  };
}

const regex = (text: string, rest: Partial<OutputConstraint> = {}) => outputConstraint({kind: 'regex', text, ...rest});

describe('a constrained sequence', () => {
  it('matches and ends with the end token', async () => {
    const {text, finishReason} = await answerTo(regex('[a-f]{3}[0-9]{2}'));
    expect(text).toMatch(/^[a-f]{3}[0-9]{2}$/);
    expect(finishReason).toBe('stop');
  });

  it('is cut at max_tokens', async () => {
    expect(await answerTo(regex('[a-f]{30}'), {maxTokens: 4})).toMatchObject({
      finishReason: 'length',
      text: expect.stringMatching(/^[a-f]{4}$/),
    });
  });

  it('ends when nothing else can follow, whatever min_tokens says', async () => {
    expect(await answerTo(regex('ab'), {minTokens: 10})).toMatchObject({text: 'ab', finishReason: 'stop'});
  });

  it('writes end tokens only behind its end when they are ignored', async () => {
    const {text, finishReason, outputs} = await answerTo(regex('ab'), {ignoreEos: true, maxTokens: 5});
    expect({text, finishReason}).toEqual({text: 'ab', finishReason: 'length'});
    expect(outputs.flatMap(({newTokenIds}) => newTokenIds).slice(2)).toEqual([endId, endId, endId]);
  });

  it('has logprobs of what the constraint left', async () => {
    const {outputs} = await answerTo(regex('ab'), {logprobs: 1});
    expect(outputs.flatMap(({logprobs}) => logprobs ?? []).map(([chosen]) => chosen?.logprob)).toEqual([0, 0, 0]);
  });

  it('begins behind its thought', async () => {
    const logitBias: [number, number][] = [[thoughtEnd, 5]];
    const {text} = await answerTo(regex('[0-9]{2}', {startsAfter: [thoughtEnd]}), {
      logitBias,
      temperature: 1,
      seed: 1n,
    });
    expect(text).toMatch(/^[^!]*![0-9]{2}$/);
  });

  it('says which request left no token', async () => {
    const {finishReason, error} = await answerTo(regex('ab'), {allowedTokenIds: [5]});
    expect(finishReason).toBe('error');
    expect(error?.message).toBe(
      'No token can be sampled: none that the constraint allows here is left by the other parameters.',
    );
  });

  it('is refused alone when its constraint cannot be used', async () => {
    const steps = await run(regex('(a'), {}, {}, 2);
    expect(outputsOf(steps, 'r1').at(-1)).toMatchObject({
      finishReason: 'error',
      error: {message: expect.stringContaining('the group is not closed')},
    });
  });

  it('gives the same answer when it is preempted', async () => {
    const constraint = outputConstraint({
      kind: 'json',
      text: '{"type":"object","properties":{"ab":{"type":"array","items":{"type":"integer"},"minItems":6}},"required":["ab"]}',
      disablesAnyWhitespace: true,
    });
    const sampling = {temperature: 1, seed: 3n, maxTokens: 60};
    const calm = await run(constraint, sampling, {}, 6);
    const tight = await run(constraint, sampling, {kvCacheTokens: 160}, 6);
    expect(tight.reduce((sum, {stats}) => sum + stats.numPreemptions, 0)).toBeGreaterThan(0);
    for (let index = 0; index < 6; index++)
      expect(textOf(tokensOf(tight, `r${index}`))).toBe(textOf(tokensOf(calm, `r${index}`)));
  });
});

describe('a thinking budget', () => {
  const budget = (maxTokens: number, startsInside: boolean) => ({
    thinkingBudget: {maxTokens, openTokenIds: [7], closeTokenIds: [8, 9], startsInside},
    maxTokens: 8,
    eosTokenId: null,
    constraint: null,
  });
  const outputOf = async (prompt: number[], maxTokens: number, startsInside = false) => {
    const {core} = buildEngine();
    core.addRequests([engineRequest('a', prompt, {...budget(maxTokens, startsInside), badWordsTokenIds: [[7], [8]]})]);
    return tokensOf(await runToEnd(core), 'a');
  };

  it('closes a thought that the prompt opened, counting the tokens behind the opening', async () => {
    expect((await outputOf([1, 2, 7, 3], 3)).slice(2, 4)).toEqual([8, 9]);
    expect((await outputOf([1, 2, 7], 0)).slice(0, 2)).toEqual([8, 9]);
  });

  it('counts from the first token when the answer begins in a thought', async () => {
    expect((await outputOf([1, 2], 3, true)).slice(3, 5)).toEqual([8, 9]);
    expect((await outputOf([1, 7, 3], 3, true)).slice(2, 4)).toEqual([8, 9]);
  });

  it('is silent when there is no thought, or when it is over', async () => {
    expect(await outputOf([1, 2], 1)).not.toContain(8);
    expect(await outputOf([7, 8, 9, 1], 1)).not.toContain(8);
  });
});
