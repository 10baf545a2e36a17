/** Resolved sampling parameters for tests: greedy, no limits, unless told otherwise. */
import type {SamplingParams} from '../../src/core/sampling/sampling-params.ts';

export function samplingParams(overrides: Partial<SamplingParams> = {}): SamplingParams {
  return {
    temperature: 0,
    topK: 0,
    topP: 1,
    minP: 0,
    presencePenalty: 0,
    frequencyPenalty: 0,
    repetitionPenalty: 1,
    seed: null,
    maxTokens: 16,
    minTokens: 0,
    eosTokenId: null,
    stopTokenIds: [],
    ignoreEos: false,
    logitBias: [],
    allowedTokenIds: null,
    badWordsTokenIds: [],
    logprobs: null,
    logprobTokenIds: null,
    promptLogprobs: null,
    constraint: null,
    thinkingBudget: null,
    repetitionDetection: null,
    ...overrides,
  };
}
