import {afterEach, describe, expect, it, vi} from 'vitest';
import {
  parseCompletionRequest,
  promptsOf,
  toSamplingRequest,
} from '../../../../../src/core/protocol/openai/completion.ts';

const read = (body: unknown) => () => parseCompletionRequest(body);
const embedsMissing = 'Either prompt or prompt_embeds must be provided and non-empty.';

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('reading a completion request', () => {
  it('fills in the defaults of completions', () => {
    expect(parseCompletionRequest({prompt: 'a', max_tokens: null, foo: 1})).toMatchObject({
      max_tokens: 16,
      add_special_tokens: true,
      echo: false,
      logprobs: null,
      n: 1,
      temperature: null,
    });
  });

  it.each([
    ['a text', 'a', ['a']],
    ['texts', ['a', 'b'], ['a', 'b']],
    ['token ids', [1, 2], [[1, 2]]],
    ['lists of token ids', [[1], [2, 3]], [[1], [2, 3]]],
    ['ids as texts', ['1', '2'], [[1, 2]]],
    ['nothing', [], []],
  ])('takes %s as prompts', (_name, prompt, prompts) => {
    expect(promptsOf(parseCompletionRequest({prompt}))).toEqual(prompts);
  });

  it.each([
    [{}, embedsMissing, 'prompt'],
    [{prompt: ''}, embedsMissing, 'prompt'],
    [{prompt: null, prompt_embeds: []}, embedsMissing, 'prompt'],
    [{prompt: 'a', stream_options: {a: 1}}, 'Stream options can only be defined when `stream=True`.', 'stream_options'],
    [{prompt: 'a', logprobs: 'x'}, '`logprobs` must be an integer.', 'logprobs'],
    [{prompt: 'a', logprobs: -2}, '`logprobs` must be a positive value or -1.', 'logprobs'],
    [{prompt: 'a', prompt_logprobs: -2}, '`prompt_logprobs` must be a positive value or -1.', 'prompt_logprobs'],
    [{prompt: 'a', cache_salt: ''}, "Parameter 'cache_salt' must be a non-empty string if provided.", 'cache_salt'],
    [{prompt: '', logprobs: 'x', cache_salt: ''}, embedsMissing, 'prompt'],
  ])('refuses %j before types are looked at', (body, message, param) => {
    expect(read({...body, n: 'no number'})).toThrow(expect.objectContaining({message, param}));
  });

  it('limits the number of prompts, not of token ids', () => {
    vi.stubEnv('VLLM_MAX_COMPLETION_PROMPTS', '2');
    expect(read({prompt: ['a', 'b', 'c']})).toThrow('prompt list length 3 exceeds the maximum allowed count of 2.');
    expect(read({prompt: [1, 2, 3]})).not.toThrow();
  });

  it('reports what no form of a prompt fits', () => {
    expect(read({prompt: ['a', 5]})).toThrow(
      /^5 validation errors:\n {2}\{'type': 'int_parsing', 'loc': 'body.prompt.0'/,
    );
    expect(read({prompt: [-1]})).toThrow(expect.objectContaining({param: 'body.prompt.0'}));
    expect(read({prompt: 'a', n: null})).toThrow(expect.objectContaining({param: 'body.n'}));
  });

  it.each([null, undefined])('refuses the missing body %s', (body) => {
    expect(read(body)).toThrow(expect.objectContaining({param: 'body'}));
  });
});

describe('the sampling side of a completion request', () => {
  const sampling = (fields: object) => toSamplingRequest(parseCompletionRequest({prompt: 'a', ...fields}));

  it('asks for logprobs in the terms of chat', () => {
    expect(sampling({logprobs: 3})).toMatchObject({logprobs: true, top_logprobs: 3, prompt_logprobs: null});
    expect(sampling({logprobs: 0})).toMatchObject({logprobs: true, top_logprobs: 0});
    expect(sampling({})).toMatchObject({logprobs: false, top_logprobs: 0});
  });

  it('asks for logprobs of an echoed prompt, unless the request says which', () => {
    expect(sampling({echo: true, logprobs: 3})).toMatchObject({prompt_logprobs: 3, echo: false});
    expect(sampling({echo: true, logprobs: 3, prompt_logprobs: 1})).toMatchObject({prompt_logprobs: 1});
    expect(sampling({echo: true})).toMatchObject({prompt_logprobs: null});
  });

  it('makes one token when only the prompt is wanted', () => {
    expect(sampling({echo: true, max_tokens: 0}).max_tokens).toBe(1);
    expect(sampling({max_tokens: 0}).max_tokens).toBe(0);
  });
});
