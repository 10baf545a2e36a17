import {describe, expect, it} from 'vitest';
import {type BeamSearch, checkBeamAllowlist, searchBeams} from '../../../src/core/beam-search.ts';
import type {EngineRequest} from '../../../src/core/engine/protocol.ts';
import type {TokenLogprobs} from '../../../src/core/sampling/token-logprobs.ts';
import {samplingParams} from '../../support/sampling-params.ts';
import {ScriptedEngineClient} from '../../support/scripted-engine-client.ts';

const end = 9;
const prompt = [5];

/** A model over texts of few tokens: what follows each beginning, with probabilities. */
const model: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  '': {1: 0.5, 2: 0.4, 3: 0.1},
  '1': {1: 0.4, 2: 0.35, [end]: 0.25},
  '2': {1: 0.9, 2: 0.05, [end]: 0.05},
  '11': {[end]: 0.6, 1: 0.4},
  '12': {[end]: 0.5, 1: 0.5},
  '21': {[end]: 0.9, 1: 0.1},
};

function positionOf({promptTokenIds, sampling}: EngineRequest): TokenLogprobs {
  const following = model[promptTokenIds.slice(prompt.length).join('')] ?? {1: 1};
  const ranked = Object.entries(following)
    .map(([id, probability]) => ({tokenId: Number(id), logprob: Math.log(probability)}))
    .sort((a, b) => b.logprob - a.logprob)
    .map((entry, index) => ({...entry, rank: index + 1}));
  const ids = sampling.logprobTokenIds;
  return ids === null
    ? ranked.slice(0, sampling.logprobs ?? 0)
    : [ranked[0]!, ...ranked.slice(1).filter(({tokenId}) => ids.includes(tokenId))];
}

async function search(overrides: Partial<BeamSearch> = {}) {
  const engine = new ScriptedEngineClient({
    script: (request) => [
      {
        newTokenIds: [positionOf(request)[0]!.tokenId],
        logprobs: [positionOf(request)],
        finishReason: 'length',
        numCachedTokens: 1,
      },
    ],
  });
  const given: BeamSearch = {
    request: {sampling: samplingParams(), priority: 0, cacheSalt: null},
    requestId: 'a',
    promptTokenIds: prompt,
    width: 2,
    maxTokens: 3,
    endTokenIds: new Set([end]),
    lengthPenalty: 1,
    allowedTokenIds: null,
    ...overrides,
  };
  const beams = await searchBeams(given, engine, new AbortController().signal);
  return {
    engine,
    beams,
    texts: beams.map(({tokenIds, endTokenId}) => tokenIds.join('') + (endTokenId === null ? '' : '.')),
  };
}

describe('searchBeams', () => {
  it('finds an answer that greedy decoding misses', async () => {
    const {beams, texts} = await search();
    expect(texts).toEqual(['21.', '11.']);
    expect(Math.exp(beams[0]!.logprob)).toBeCloseTo(0.4 * 0.9 * 0.9);
    expect(beams[0]).toMatchObject({endTokenId: end, numCachedTokens: 1});
  });

  it('shows for each token what it was chosen from, itself first', async () => {
    const {beams} = await search();
    expect(beams[0]!.logprobs.map((position) => position.map(({tokenId}) => tokenId))).toEqual([
      [2, 1, 3],
      [1, 2, 9],
    ]);
  });

  it('keeps beams alive until max_tokens', async () => {
    expect((await search({maxTokens: 1})).texts).toEqual(['1', '2']);
    expect((await search({endTokenIds: new Set()})).texts).toEqual([`21${end}`, `11${end}`]);
  });

  it('ranks by the length penalty: below zero short beams win', async () => {
    expect((await search({lengthPenalty: 0, width: 3})).texts[0]).toBe('21.');
    expect((await search({lengthPenalty: -2, width: 3})).texts[0]).toBe('1.');
  });

  it('looks only at allowed ids, with their scores unchanged', async () => {
    const {beams, texts} = await search({allowedTokenIds: [1, 2], maxTokens: 2});
    expect(texts).toEqual(['21', '11']);
    expect(Math.exp(beams[1]!.logprob)).toBeCloseTo(0.5 * 0.4);
  });

  it('refuses allowed ids that are none of the model, before it asks the engine', async () => {
    await expect(search({allowedTokenIds: [1, 49152, -1]})).rejects.toMatchObject({
      name: 'ValidationError',
      param: 'allowed_token_ids',
      value: [49152, -1],
    });
  });

  it('asks for one greedy token of every live beam', async () => {
    const {engine} = await search({maxTokens: 2});
    expect(engine.requests.map(({promptTokenIds}) => promptTokenIds)).toEqual([[5], [5, 1], [5, 2]]);
    expect(engine.requests[0]!.sampling).toMatchObject({maxTokens: 1, temperature: 0, logprobs: 4});
  });
});

describe('checkBeamAllowlist', () => {
  it('refuses an empty and a long list', () => {
    expect(() => checkBeamAllowlist([])).toThrow('Beam search allowed_token_ids must not be empty');
    expect(() => checkBeamAllowlist(Array.from({length: 129}, (_, id) => id))).toThrow('at most 128 ids, got 129');
    expect(() => checkBeamAllowlist(null)).not.toThrow();
  });
});
