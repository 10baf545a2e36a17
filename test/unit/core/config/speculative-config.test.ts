import {describe, expect, it} from 'vitest';
import {speculativeConfigSchema, toSpeculation} from '../../../../src/core/config/speculative-config.ts';

const ngram = {method: 'ngram', num_speculative_tokens: 4};

describe('--speculative-config', () => {
  it.each([
    [{}, 5, 5],
    [{prompt_lookup_max: 4}, 4, 4],
    [{prompt_lookup_min: 2}, 2, 2],
    [{prompt_lookup_min: 2, prompt_lookup_max: 4}, 2, 4],
  ])('with the lengths %j', (lengths, minMatch, maxMatch) => {
    const config = speculativeConfigSchema.parse({...ngram, ...lengths});
    expect(toSpeculation(config)).toEqual({maxDraftTokens: 4, minMatch, maxMatch});
  });

  it('is off when nothing is given', () => {
    expect(toSpeculation(null)).toBeNull();
  });

  it.each<[object, string]>([
    [{...ngram, method: 'eagle'}, 'method: only the method "ngram", which needs no second model'],
    [{num_speculative_tokens: 4}, 'method: only the method "ngram"'],
    [{method: 'ngram'}, 'an object with num_speculative_tokens, which is missing'],
    [{...ngram, num_speculative_tokens: 0}, 'num_speculative_tokens of at least 1'],
    [{...ngram, num_speculative_tokens: 17}, 'num_speculative_tokens of at most 16'],
    [{...ngram, prompt_lookup_max: 0}, 'prompt_lookup_max of at least 1'],
    [{...ngram, prompt_lookup_min: 5, prompt_lookup_max: 3}, 'prompt_lookup_min of at most prompt_lookup_max'],
    [
      {...ngram, model: 'small'},
      'the keys method, num_speculative_tokens, prompt_lookup_max, prompt_lookup_min; not model',
    ],
  ])('refuses %j', (config, text) => {
    const {error} = speculativeConfigSchema.safeParse(config);
    expect(error?.issues.map(({message}) => message).join('; ')).toContain(text);
  });
});
