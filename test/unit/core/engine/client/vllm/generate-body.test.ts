import {describe, expect, it} from 'vitest';
import {generateBody} from '../../../../../../src/core/engine/client/vllm/generate-body.ts';
import {parseGenerateRequest} from '../../../../../../src/core/protocol/scale-out/generate-request.ts';
import {parseJson} from '../../../../../../src/core/util/parse-json.ts';
import {engineRequest} from '../../../../../support/build-engine.ts';
import {outputConstraint} from '../../../../../support/constrained-text.ts';

const bodyOf = (...request: Parameters<typeof engineRequest>) =>
  JSON.parse(generateBody(engineRequest(...request), 'tiny')) as Record<string, never>;

describe('generateBody', () => {
  it('writes the prompt, the model and who asks', () => {
    expect(bodyOf('chatcmpl-1', [5, 6, 7], {}, {priority: -3, cacheSalt: 'a'})).toMatchObject({
      model: 'tiny',
      request_id: 'chatcmpl-1',
      token_ids: [5, 6, 7],
      stream: true,
      stream_options: {include_usage: true},
      priority: -3,
      cache_salt: 'a',
    });
  });

  it('writes every parameter that the engine would heed', () => {
    const {sampling_params: params} = bodyOf('a', [1], {
      temperature: 0.7,
      topK: 40,
      topP: 0.9,
      minP: 0.05,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      repetitionPenalty: 1.1,
      maxTokens: 99,
      minTokens: 3,
      stopTokenIds: [7],
      ignoreEos: true,
      logitBias: [
        [33, 1.5],
        [2, -100],
      ],
      allowedTokenIds: [2, 33],
      badWordsTokenIds: [[4]],
      badWords: ['bad'],
      logprobs: 5,
      logprobTokenIds: [8],
      thinkingBudget: {maxTokens: 64, openTokenIds: [1], closeTokenIds: [2], startsInside: false},
      repetitionDetection: {minPatternSize: 1, maxPatternSize: 8, minCount: 3},
    });
    expect(params).toEqual({
      temperature: 0.7,
      top_k: 40,
      top_p: 0.9,
      min_p: 0.05,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      repetition_penalty: 1.1,
      max_tokens: 99,
      min_tokens: 3,
      stop_token_ids: [7],
      ignore_eos: true,
      logit_bias: {2: -100, 33: 1.5},
      allowed_token_ids: [2, 33],
      bad_words: ['bad'],
      logprobs: 5,
      logprob_token_ids: [8],
      thinking_token_budget: 64,
      repetition_detection: {min_pattern_size: 1, max_pattern_size: 8, min_count: 3},
      detokenize: false,
    });
  });

  it('keeps every digit of a seed', () => {
    expect(generateBody(engineRequest('a', [1], {seed: -(2n ** 63n)}), 'tiny')).toContain(
      '"seed":-9223372036854775808',
    );
    expect(bodyOf('a', [1]).sampling_params).not.toHaveProperty('seed');
  });

  it('asks for a whole answer where the prompt is to be scored', () => {
    const body = bodyOf('a', [1, 2], {promptLogprobs: 1});
    expect(body).toMatchObject({stream: false, sampling_params: {prompt_logprobs: 1}});
    expect(body).not.toHaveProperty('stream_options');
  });

  it.each([
    ['json', '{"type":"object"}', '{"type":"object"}'],
    ['regex', '[ab]+', '[ab]+'],
    ['choice', '["yes","no"]', ['yes', 'no']],
    ['grammar', 'root ::= "a"', 'root ::= "a"'],
    ['json_object', '', true],
    ['structural_tag', '{}', '{}'],
  ] as const)('writes a constraint of the kind %s', (kind, text, value) => {
    const body = bodyOf('a', [1], {constraint: outputConstraint({kind, text, disablesAnyWhitespace: true})});
    expect(body).toMatchObject({
      reasoning_ended: true,
      sampling_params: {structured_outputs: {[kind]: value, disable_any_whitespace: true}},
    });
  });

  it('leaves it to the server where a thought ends', () => {
    const constraint = outputConstraint({kind: 'regex', text: 'a', startsAfter: [9]});
    expect(bodyOf('a', [1], {constraint})).not.toHaveProperty('reasoning_ended');
  });

  it('is a request that our own server reads', () => {
    const sampling = {temperature: 0.5, seed: 2n ** 60n, logitBias: [[3, 2]] as [number, number][], logprobs: 2};
    const request = parseGenerateRequest(parseJson(generateBody(engineRequest('a', [1, 2], sampling), 'tiny')));
    expect(request).toMatchObject({token_ids: [1, 2], stream: true, detokenize: false, output_mode: 'tokens'});
    expect(request.sampling).toMatchObject({temperature: 0.5, seed: 2n ** 60n, top_logprobs: 2, logit_bias: {3: 2}});
  });
});
