import {describe, expect, it} from 'vitest';
import {parseAnswer} from '../../../../../../src/core/engine/client/vllm/generate-answer.ts';
import {RunningChunks} from '../../../../../../src/core/engine/client/vllm/running-chunks.ts';

const chunk = (tokenIds: number[], choice: object = {}, rest: object = {}) =>
  JSON.stringify({
    request_id: 'r',
    usage: null,
    choices: [{index: 0, finish_reason: null, token_ids: tokenIds, logprobs: null, ...choice}],
    ...rest,
  });

function learned(text: string): RunningChunks {
  const chunks = new RunningChunks();
  chunks.learn(text, parseAnswer(text));
  return chunks;
}

describe('RunningChunks', () => {
  it('reads the ids of chunks like the one it knows', () => {
    const chunks = learned(chunk([5]));
    expect(chunks.read(chunk([71]))).toEqual([71]);
    expect(chunks.read(chunk([1, 20, 300]))).toEqual([1, 20, 300]);
  });

  it('knows nothing at first', () => {
    expect(new RunningChunks().read(chunk([5]))).toBeNull();
  });

  it.each([
    ['an end', chunk([5], {finish_reason: 'stop'})],
    ['a stop token', chunk([5], {stop_reason: 7})],
    ['logprobs', chunk([5], {logprobs: {content: []}})],
    ['counts', chunk([5], {}, {usage: {prompt_tokens: 3}})],
    ['an error', chunk([5], {}, {error: {message: 'no'}})],
    ['no ids', chunk([])],
    ['another choice', chunk([5], {index: 1})],
    ['the end mark', '[DONE]'],
    ['broken ids', chunk([5]).replace('[5]', '[5,]')],
    ['a float', chunk([5]).replace('[5]', '[5.5]')],
    ['a nested list', chunk([5]).replace('[5]', '[[5]]')],
    ['text that is cut', chunk([5]).slice(0, -1)],
  ])('leaves %s to the parser', (_, text) => {
    expect(learned(chunk([9])).read(text)).toBeNull();
  });

  it.each([
    ['an end', chunk([5], {finish_reason: 'stop'})],
    ['logprobs', chunk([5], {logprobs: {content: []}})],
    ['counts', chunk([5], {}, {usage: {prompt_tokens: 3}})],
    ['no choice', JSON.stringify({choices: []})],
    ['two choices', JSON.stringify({choices: [{token_ids: [1]}, {token_ids: [2]}]})],
    ['ids that stand twice', chunk([5], {other: {token_ids: [5]}})],
  ])('does not learn from a chunk with %s', (_, text) => {
    expect(learned(text).read(text)).toBeNull();
  });
});
