import {describe, expect, it} from 'vitest';
import {ValidationError} from '../../../../src/core/errors.ts';
import {checkRequestLengths, resolveMaxTokens} from '../../../../src/core/sampling/resolve-max-tokens.ts';

const noLengths = {max_tokens: null, max_completion_tokens: null, truncate_prompt_tokens: null};
const limits = {maxModelLen: 100, promptLength: 30, defaultMaxTokens: null, overrideMaxTokens: null};

describe('resolveMaxTokens', () => {
  it.each([
    ['room that is left', {}, {}, 70],
    ['request', {max_tokens: 8}, {}, 8],
    ['newer name wins', {max_tokens: 8, max_completion_tokens: 5}, {}, 5],
    ['newer name wins when larger', {max_tokens: 5, max_completion_tokens: 8}, {}, 8],
    ['room below the request', {max_tokens: 90}, {}, 70],
    ['server default', {}, {defaultMaxTokens: 6}, 6],
    ['request above the server default', {max_tokens: 9}, {defaultMaxTokens: 6}, 9],
    ['override below the request', {max_tokens: 9}, {overrideMaxTokens: 4}, 4],
    ['override below the default', {}, {defaultMaxTokens: 6, overrideMaxTokens: 4}, 4],
    ['override above the request', {max_tokens: 3}, {overrideMaxTokens: 4}, 3],
    ['limit of the device', {max_tokens: 9}, {platformMaxTokens: 2}, 2],
    ['prompt that fills the context', {}, {promptLength: 100}, 0],
    ['zero', {max_tokens: 0}, {}, 0],
    ['truncated prompt', {truncate_prompt_tokens: 10}, {promptLength: 30}, 90],
    ['truncation above the prompt', {truncate_prompt_tokens: 50}, {}, 70],
    ['truncation to the context', {truncate_prompt_tokens: -1}, {promptLength: 99}, 1],
  ])('%s', (_name, fields, changes, expected) => {
    expect(resolveMaxTokens({...noLengths, ...fields}, {...limits, ...changes})).toBe(expected);
  });

  it('refuses a prompt that is longer than the context', () => {
    const resolve = () => resolveMaxTokens(noLengths, {...limits, promptLength: 4100, maxModelLen: 4096});
    expect(resolve).toThrow(new ValidationError("Input length (4100) exceeds model's maximum context length (4096)."));
  });
});

describe('checkRequestLengths', () => {
  it.each([
    [
      {max_tokens: 101},
      'max_tokens',
      'max_tokens=101 cannot be greater than max_model_len=100. Please request fewer output tokens.',
    ],
    [
      {max_tokens: 1, max_completion_tokens: 101},
      'max_completion_tokens',
      'max_completion_tokens=101 cannot be greater than max_model_len=100. Please request fewer output tokens.',
    ],
    [
      {truncate_prompt_tokens: 101},
      'truncate_prompt_tokens',
      'truncate_prompt_tokens=101 cannot be greater than max_model_len = 100. Please request a smaller truncation size.',
    ],
  ])('%j', (fields, param, message) => {
    try {
      checkRequestLengths({...noLengths, ...fields}, 100);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(ValidationError);
      expect(error).toMatchObject({param, value: 101, message});
    }
  });

  it.each([{}, {max_tokens: 100}, {max_tokens: 500, max_completion_tokens: 1}, {truncate_prompt_tokens: 100}])(
    'accepts %j',
    (fields) => {
      expect(() => checkRequestLengths({...noLengths, ...fields}, 100)).not.toThrow();
    },
  );
});
