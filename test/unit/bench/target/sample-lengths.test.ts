import {expect, it} from 'vitest';
import {singleTurn, userTurn} from '../../../../src/bench/datasets/dataset.ts';
import type {Target} from '../../../../src/bench/target/find-target.ts';
import {checkSampleLengths} from '../../../../src/bench/target/sample-lengths.ts';

const target = (maxModelLen: number | null): Target => ({
  baseUrl: 'http://host',
  endpoint: '/v1/chat/completions',
  url: 'http://host/v1/chat/completions',
  model: 'm',
  modelId: 'm',
  listedModels: null,
  maxModelLen,
  serverVersion: null,
});
const samples = [10, 40, 90].map((promptTokens) => singleTurn(userTurn('x', {promptTokens, outputTokens: 20})));

it('refuses generated prompts that cannot fit with their answers', () => {
  expect(() => checkSampleLengths(target(100), 'random', samples)).toThrow('Prompts of 90 and answers of 20 tokens');
  expect(checkSampleLengths(target(110), 'random', samples)).toEqual([]);
});

it('warns of entries of a file, which may be few', () => {
  expect(checkSampleLengths(target(100), 'custom', samples)).toEqual([
    expect.stringMatching(/^1 of 3 prompts and answers exceed the context of 100 tokens/),
  ]);
});

it('says nothing where a length is not known', () => {
  expect(checkSampleLengths(target(null), 'random', samples)).toEqual([]);
  expect(checkSampleLengths(target(5), 'multi_turn', [singleTurn(userTurn('x'))])).toEqual([]);
});
