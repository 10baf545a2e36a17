import {expect, it} from 'vitest';
import {requestMetrics} from '../../../../src/server/openai/request-metrics.ts';

const timing = {queuedMs: 1000, scheduledMs: 1010, firstTokenMs: 1060, lastTokenMs: 1260, numTokens: 5};

it('splits the time of a request', () => {
  expect(requestMetrics(timing)).toEqual({
    time_to_first_token_ms: 50,
    generation_time_ms: 200,
    queue_time_ms: 10,
    mean_itl_ms: 50,
    tokens_per_second: 20,
    speculative_decoding: null,
  });
});

it('has no time between tokens when there is one', () => {
  const metrics = requestMetrics({...timing, lastTokenMs: 1060, numTokens: 1});
  expect(metrics).toMatchObject({generation_time_ms: 0, mean_itl_ms: null, tokens_per_second: 20});
});

it('is null without a timing', () => {
  expect(requestMetrics(null)).toBeNull();
});
