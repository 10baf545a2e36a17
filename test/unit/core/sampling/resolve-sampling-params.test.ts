import {afterEach, describe, expect, it, vi} from 'vitest';
import {ParameterError} from '../../../../src/core/errors.ts';
import {parseChatCompletionRequest} from '../../../../src/core/protocol/openai/chat-completion.ts';
import {
  checkEngineLimits,
  raisedTemperature,
  resolveBadWords,
  resolveSamplingParams,
  type SamplingContext,
  samplingDefaultsFault,
} from '../../../../src/core/sampling/resolve-sampling-params.ts';
import {parseJson} from '../../../../src/core/util/parse-json.ts';

function request(fields: Record<string, unknown> | string) {
  const extra = typeof fields === 'string' ? fields : JSON.stringify(fields).slice(1, -1);
  return parseChatCompletionRequest(parseJson(`{"messages":[]${extra ? `,${extra}` : ''}}`));
}

const context: SamplingContext = {defaults: {}, maxTokens: 8, eosTokenId: 2, generationEosTokenIds: [2]};

function resolve(fields: Record<string, unknown> | string, changes: Partial<SamplingContext> = {}) {
  return resolveSamplingParams(request(fields), {...context, ...changes});
}

function errorOf(run: () => unknown): ParameterError {
  try {
    run();
  } catch (error) {
    if (error instanceof ParameterError) return error;
    throw error;
  }
  throw new Error('accepted');
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a bias that is no number', () => {
  it('forbids its token', () => {
    expect(resolve('"logit_bias":{"5":NaN}').sampling.logitBias).toEqual([[5, -100]]);
  });
});

describe('three levels', () => {
  const names = [
    ['repetition_penalty', 'repetitionPenalty', 1, 1.25, 1.5],
    ['presence_penalty', 'presencePenalty', 0, 0.25, 0.5],
    ['frequency_penalty', 'frequencyPenalty', 0, 0.25, 0.5],
    ['temperature', 'temperature', 1, 0.25, 0.5],
    ['top_p', 'topP', 1, 0.25, 0.5],
    ['top_k', 'topK', 0, 7, 9],
    ['min_p', 'minP', 0, 0.25, 0.5],
  ] as const;

  it.each(names)('%s', (field, name, openAiDefault, serverDefault, asked) => {
    const defaults = {[name]: serverDefault};
    expect(resolve({}).sampling[name]).toBe(openAiDefault);
    expect(resolve({}, {defaults}).sampling[name]).toBe(serverDefault);
    expect(resolve({[field]: null}, {defaults}).sampling[name]).toBe(serverDefault);
    expect(resolve({[field]: asked}, {defaults}).sampling[name]).toBe(asked);
  });

  it('has a server default for special tokens', () => {
    expect(resolve({}).text.skipSpecialTokens).toBe(true);
    expect(resolve({}, {defaults: {skipSpecialTokens: false}}).text.skipSpecialTokens).toBe(false);
    expect(resolve({skip_special_tokens: true}, {defaults: {skipSpecialTokens: false}}).text.skipSpecialTokens).toBe(
      true,
    );
  });
});

describe('values', () => {
  it.each<[string, Record<string, unknown> | string, object]>([
    [
      'greedy switches the filters off',
      {temperature: 0, top_p: 0.5, top_k: 3, min_p: 0.1},
      {temperature: 0, topP: 1, topK: 0, minP: 0},
    ],
    ['almost greedy', {temperature: 0.000009}, {temperature: 0}],
    ['raised', {temperature: 0.005}, {temperature: 0.01}],
    ['at the limit', {temperature: 0.00001}, {temperature: 0.01}],
    ['top_k off', {top_k: -1}, {topK: 0}],
    ['no seed', {seed: -1}, {seed: null}],
    ['seed', '"seed": 9223372036854775807', {seed: 9223372036854775807n}],
    [
      'clamped bias',
      {logit_bias: {5: 500, '-1': -500, ' 7 ': 1}},
      {
        logitBias: [
          [5, 100],
          [-1, -100],
          [7, 1],
        ],
      },
    ],
    [
      'the last of two keys for an id',
      '"logit_bias":{"7":1,"5":2,"+7":3}',
      {
        logitBias: [
          [7, 3],
          [5, 2],
        ],
      },
    ],
    ['lengths', {min_tokens: 2}, {minTokens: 2, maxTokens: 8}],
    ['own stop ids', {stop_token_ids: [9, 9]}, {stopTokenIds: [9], ignoreEos: false, eosTokenId: 2}],
    ['allowed ids', {allowed_token_ids: [1, 2]}, {allowedTokenIds: [1, 2]}],
  ])('%s', (_name, fields, expected) => {
    expect(resolve(fields).sampling).toMatchObject(expected);
  });

  it('treats further end ids of the model as stop ids, unless ends are ignored', () => {
    const changes = {generationEosTokenIds: [2, 0, 9]};
    expect(resolve({stop_token_ids: [9, 11]}, changes).sampling.stopTokenIds).toEqual([0, 9, 11]);
    expect(resolve({stop_token_ids: [11], ignore_eos: true}, changes).sampling.stopTokenIds).toEqual([11]);
  });

  it('gives the text side its own part', () => {
    const fields = {stop: 'x', include_stop_str_in_output: true, spaces_between_special_tokens: false, min_tokens: 3};
    expect(resolve(fields).text).toEqual({
      stop: ['x'],
      includeStopStrInOutput: true,
      skipSpecialTokens: true,
      spacesBetweenSpecialTokens: false,
      minTokens: 3,
    });
  });
});

describe('sampling check', () => {
  it.each<[Record<string, unknown> | string, string, string | null, unknown]>([
    [{n: 0}, 'n must be at least 1, got 0.', null, undefined],
    [
      {n: 20000},
      'n must be at most 16384, got 20000. To increase this limit, set the VLLM_MAX_N_SEQUENCES environment variable.',
      null,
      undefined,
    ],
    [
      '"vllm_xargs": {"a": 18446744073709551616}',
      'extra_args integers must be between -2**63 and 2**64 - 1.',
      'extra_args',
      undefined,
    ],
    [{presence_penalty: 2.1}, 'presence_penalty must be in [-2, 2], got 2.1.', null, undefined],
    [{frequency_penalty: -3}, 'frequency_penalty must be in [-2, 2], got -3.0.', null, undefined],
    [{repetition_penalty: 0}, 'repetition_penalty must be greater than zero, got 0.0.', null, undefined],
    ['"repetition_penalty": Infinity', 'repetition_penalty must be a finite number, got inf.', null, undefined],
    ['"temperature": NaN', 'temperature must be a finite number, got nan.', 'temperature', 'nan'],
    [{temperature: -0.5}, 'temperature must be non-negative, got -0.5.', 'temperature', '-0.5'],
    [{temperature: 2.5}, 'temperature must be in [0, 2], got 2.5.', 'temperature', '2.5'],
    [{top_p: 0}, 'top_p must be in (0, 1], got 0.0.', 'top_p', '0.0'],
    ['"top_p": Infinity', 'top_p must be in (0, 1], got inf.', 'top_p', 'inf'],
    [{top_k: -2}, 'top_k must be 0 (disable), or at least 1, got -2.', null, undefined],
    [{min_p: 1.1}, 'min_p must be in [0, 1], got 1.1.', null, undefined],
    [{min_tokens: -1}, 'min_tokens must be greater than or equal to 0, got -1.', null, undefined],
    [{min_tokens: 9}, 'min_tokens must be less than or equal to max_tokens=8, got 9.', null, undefined],
    [{stop: ['']}, 'stop cannot contain an empty string.', null, undefined],
    [{bad_words: ['']}, "bad_words cannot contain an empty string. Got bad_words=['']", null, undefined],
    [{temperature: 0, n: 2}, 'n must be 1 when using greedy sampling, got 2.', null, undefined],
    [
      {logit_bias: {x: 1}},
      "logit_bias contains key(s) that cannot be converted to integer token IDs: ['x']",
      'logit_bias',
      ['x'],
    ],
  ])('%j', (fields, message, param, value) => {
    expect(errorOf(() => resolve(fields))).toMatchObject({message, param, value});
  });

  it('refuses a prompt that leaves no room', () => {
    const error = errorOf(() => resolve({}, {maxTokens: 0}));
    expect(error).toMatchObject({message: 'max_tokens must be at least 1, got 0.', param: 'max_tokens', value: 0});
  });

  it('reports the first broken rule', () => {
    expect(errorOf(() => resolve({top_p: 2, n: 0, min_p: 5})).message).toContain('n must be at least 1');
    expect(errorOf(() => resolve({top_p: 2}, {maxTokens: 0})).message).toContain('top_p');
  });

  it('goes through the fields in a fixed order', () => {
    const faults: [string, string][] = [
      ['"n":0', 'n must be'],
      ['"vllm_xargs":{"a":18446744073709551616}', 'extra_args'],
      ['"presence_penalty":3', 'presence_penalty'],
      ['"frequency_penalty":3', 'frequency_penalty'],
      ['"repetition_penalty":0', 'repetition_penalty'],
      ['"temperature":3', 'temperature'],
      ['"top_p":0', 'top_p'],
      ['"top_k":-2', 'top_k'],
      ['"min_p":2', 'min_p'],
      ['"min_tokens":-1', 'min_tokens'],
      ['"stop":""', 'stop cannot'],
      ['"bad_words":[""]', 'bad_words'],
    ];
    for (const [index, [, start]] of faults.entries()) {
      const fields = faults.slice(index).map(([field]) => field);
      expect(errorOf(() => resolve(fields.toReversed().join(','))).message).toMatch(new RegExp(`^${start}`));
    }
    expect(errorOf(() => resolve({min_p: 2}, {maxTokens: 0})).message).toContain('min_p');
    expect(errorOf(() => resolve({min_tokens: -1}, {maxTokens: 0})).message).toContain('max_tokens must be at least 1');
    expect(errorOf(() => resolve({min_tokens: 9, stop: ''})).message).toContain('min_tokens');
    expect(errorOf(() => resolve({bad_words: [''], n: 2, temperature: 0})).message).toContain('bad_words');
  });

  it.each([
    {presence_penalty: -2, frequency_penalty: 2, repetition_penalty: 0.001, temperature: 2},
    {top_p: 1, top_k: -1, min_p: 0},
    {top_p: 0.0001, top_k: 1, min_p: 1},
    {min_tokens: 8, n: 16384},
    {min_tokens: 0, n: 1, temperature: 0},
    '"vllm_xargs":{"a":18446744073709551615,"b":-9223372036854775808,"c":1e30,"d":[1,"x",2.5]}',
  ])('accepts what lies on the limits: %j', (fields) => {
    expect(() => resolve(fields)).not.toThrow();
  });

  it.each([
    ['one too small', '{"a":-9223372036854775809}'],
    ['one in a list', '{"a":[1,18446744073709551616]}'],
  ])('refuses integers of extensions beyond 64 bits: %s', (_name, xargs) => {
    expect(errorOf(() => resolve(`"vllm_xargs":${xargs}`)).param).toBe('extra_args');
  });

  it('holds a beam search to what it uses only', () => {
    const ignored =
      '"top_p":0,"top_k":-2,"min_p":2,"presence_penalty":3,"frequency_penalty":3,"repetition_penalty":0,"min_tokens":9,' +
      '"stop":"","bad_words":[""],"logit_bias":{"x":1},"n":2,"temperature":0';
    expect(errorOf(() => resolve(ignored))).toBeDefined();
    expect(resolve(`"use_beam_search":true,${ignored}`).sampling.logitBias).toEqual([]);
    for (const used of [{n: 0}, {n: 16385}, {temperature: 3}, {temperature: -1}]) {
      expect(errorOf(() => resolve({use_beam_search: true, ...used})).message).toContain('must be');
    }
    expect(errorOf(() => resolve({use_beam_search: true}, {maxTokens: 0})).param).toBe('max_tokens');
  });

  it('takes the limit of n from the environment', () => {
    vi.stubEnv('VLLM_MAX_N_SEQUENCES', '3');
    expect(errorOf(() => resolve({n: 4})).message).toContain('n must be at most 3, got 4.');
  });

  it('checks server defaults too', () => {
    expect(errorOf(() => resolve({}, {defaults: {temperature: 3}})).param).toBe('temperature');
  });
});

describe('server defaults', () => {
  it.each([
    [{}, null],
    [{temperature: 0, topP: 0.5, maxTokens: 3}, null],
    [{temperature: 3}, 'temperature must be in [0, 2], got 3.0.'],
    [{topK: -2}, 'top_k must be 0 (disable), or at least 1, got -2.'],
    [{maxTokens: 0}, 'max_tokens must be at least 1, got 0.'],
  ])('that no request could use have a fault: %j', (defaults, fault) => {
    expect(samplingDefaultsFault(defaults)).toBe(fault);
  });
});

describe('raisedTemperature', () => {
  it.each([
    [{temperature: 0.005}, {}, {asked: 0.005, used: 0.01}],
    [{}, {temperature: 0.00001}, {asked: 0.00001, used: 0.01}],
    [{temperature: 0.01}, {temperature: 0.005}, null],
    [{temperature: 0.000009}, {}, null],
    [{}, {}, null],
  ])('%j with the default %j', (fields, defaults, expected) => {
    expect(raisedTemperature(request(fields), defaults)).toEqual(expected);
  });
});

describe('engine check', () => {
  const limits = {vocabSize: 100, promptLength: 33, maxLogprobs: 20, readsReasoning: false};
  it.each([
    [
      {stop_token_ids: [100, 5, -1]},
      'token_id(s) [100, -1] in stop_token_ids contain out-of-vocab token ids. Vocabulary size: 100',
      'stop_token_ids',
      [100, -1],
    ],
    [
      {logit_bias: {'-1': 1}},
      'token_id(s) [-1] in logit_bias contain out-of-vocab token ids. Vocabulary size: 100',
      'logit_bias',
      [-1],
    ],
    [
      '"logit_bias":{"600":1,"500":1,"-1":1}',
      'token_id(s) [600, 500, -1] in logit_bias contain out-of-vocab token ids. Vocabulary size: 100',
      'logit_bias',
      [600, 500, -1],
    ],
    [
      {logprobs: true, logprob_token_ids: [100]},
      'token_id(s) [100] in logprob_token_ids contain out-of-vocab token ids. Vocabulary size: 100',
      'logprob_token_ids',
      [100],
    ],
    [
      {logprobs: true, logprob_token_ids: Array(129).fill(1)},
      'Requested logprob_token_ids of length 129, which is greater than max allowed: 128',
      'logprob_token_ids',
      129,
    ],
    [
      {logprobs: true, top_logprobs: -1},
      'Requested sample logprobs of 100, which is greater than max allowed: 20',
      'logprobs',
      100,
    ],
    [
      {prompt_logprobs: 21},
      'Requested prompt logprobs of 21, which is greater than max allowed: 20',
      'prompt_logprobs',
      21,
    ],
    [{allowed_token_ids: []}, 'allowed_token_ids is not None and empty!', 'allowed_token_ids', []],
    [{allowed_token_ids: [1, 100]}, 'allowed_token_ids contains out-of-vocab token id!', 'allowed_token_ids', [100]],
    [
      {thinking_token_budget: 5},
      'thinking_token_budget is set but reasoning_config is not configured. Please set --reasoning-parser and/or --reasoning-config to use thinking_token_budget.',
      null,
      undefined,
    ],
    [
      {routed_experts_prompt_start: 34},
      'routed_experts_prompt_start must be between 0 and the prompt length (33), inclusive.',
      'routed_experts_prompt_start',
      34,
    ],
  ])('%j', (fields, message, param, value) => {
    expect(errorOf(() => checkEngineLimits(request(fields), limits))).toMatchObject({message, param, value});
  });

  it.each([
    {},
    {thinking_token_budget: -1},
    {stop_token_ids: [0, 99], logit_bias: {99: 1}, allowed_token_ids: [0], routed_experts_prompt_start: 33},
  ])('accepts %j', (fields) => {
    expect(() => checkEngineLimits(request(fields), limits)).not.toThrow();
  });

  it('knows no limit of logprobs but the vocabulary with -1', () => {
    const unlimited = {...limits, maxLogprobs: -1};
    for (const fields of [{logprobs: true, top_logprobs: -1}, {prompt_logprobs: 100}]) {
      expect(() => checkEngineLimits(request(fields), unlimited)).not.toThrow();
    }
    const tooMany = request({prompt_logprobs: 101});
    expect(errorOf(() => checkEngineLimits(tooMany, unlimited)).message).toContain('max allowed: 100');
  });

  it('lets a thinking budget pass where thoughts are read', () => {
    const reading = {...limits, readsReasoning: true};
    expect(() => checkEngineLimits(request({thinking_token_budget: 5}), reading)).not.toThrow();
  });

  it('refuses an empty prompt', () => {
    const error = errorOf(() => checkEngineLimits(request({}), {...limits, promptLength: 0}));
    expect(error.message).toBe('The decoder prompt cannot be empty');
  });
});

describe('resolveBadWords', () => {
  /** One token for each word, spelled by its characters; a space before a word makes another token, except before `z`. */
  const encode = (text: string) =>
    text === ' z' ? [1, 122] : [...text].length > 3 ? [1, 2] : [text.length * 1000 + text.charCodeAt(0)];

  it('adds the form with a space when it is one more token of the same length', async () => {
    expect(await resolveBadWords(['a', ' b'], encode)).toEqual([[1097], [2032], [1098], [2032]]);
    expect(await resolveBadWords(['z'], encode)).toEqual([[1122]]);
  });

  it('takes a word of white space for a space', async () => {
    const encodeSpaces = (text: string) => (text === '' ? [] : [7]);
    expect(await resolveBadWords([' ', '\n'], encodeSpaces)).toEqual([[7], [7]]);
  });

  it('refuses more than the limit', async () => {
    vi.stubEnv('VLLM_MAX_NUM_BAD_WORDS', '3');
    const words = ['a', 'b', 'c', 'd'];
    await expect(resolveBadWords(words, encode)).rejects.toMatchObject({
      message: 'Too many bad words after tokenization: 4. The max number is 3.',
      param: 'bad_words',
      value: words,
    });
  });
});
