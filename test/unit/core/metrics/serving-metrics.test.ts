import {describe, expect, it} from 'vitest';
import {MetricRegistry} from '../../../../src/core/metrics/metric-registry.ts';
import type {SequenceRecord} from '../../../../src/core/metrics/sequence-observer.ts';
import {ServingMetrics, tokenCountBuckets} from '../../../../src/core/metrics/serving-metrics.ts';

const labels = 'model_name="tiny",engine="0"';

function openMetrics(states = [{isUp: true, numRestarts: 0}], more: {maxDraftTokens?: number} = {}) {
  const registry = new MetricRegistry();
  const engineStates = () => states;
  const facts = {
    modelName: 'tiny',
    maxModelLen: 2048,
    kvCacheTokens: 1000,
    kvCacheBytesPerToken: 4,
    engineStates,
    ...more,
  };
  const metrics = new ServingMetrics(registry, facts);
  const sampleValue = async (sample: string) => {
    const line = (await registry.render()).split('\n').find((text) => text.startsWith(`${sample} `));
    return line === undefined ? null : Number(line.slice(sample.length));
  };
  return {registry, metrics, sampleValue};
}

/** Arrives at 1 s, runs from 1.5 s, makes tokens at 2, 2.2 and 2.6 s. */
function record(change: Partial<SequenceRecord> = {}): SequenceRecord {
  return {
    requestId: 'a',
    numPromptTokens: 30,
    numCachedTokens: 10,
    numOutputTokens: 3,
    engineIndex: 0,
    maxTokens: 16,
    numPreemptions: 0,
    choiceOf: null,
    arrivedMs: 1000,
    queuedMs: 1100,
    scheduledMs: 1500,
    firstTokenMs: 2000,
    lastTokenMs: 2600,
    endedMs: 2700,
    end: 'length',
    ...change,
  };
}

describe('tokenCountBuckets', () => {
  it('counts 1, 2, 5, 10, … up to the limit', () => {
    expect(tokenCountBuckets(120)).toEqual([1, 2, 5, 10, 20, 50, 100]);
    expect(tokenCountBuckets(200).at(-1)).toBe(200);
  });
});

describe('ServingMetrics', () => {
  it('shows every family before the first request', async () => {
    const {sampleValue} = openMetrics();
    expect(await sampleValue(`vllm:request_success_total{${labels},finished_reason="repetition"}`)).toBe(0);
    expect(await sampleValue(`vllm:prompt_tokens_by_source_total{${labels},source="external_kv_transfer"}`)).toBe(0);
    expect(await sampleValue(`vllm:num_requests_waiting_by_reason{${labels},reason="deferred"}`)).toBe(0);
    expect(await sampleValue(`vllm:request_prompt_tokens_bucket{le="2000.0",${labels}}`)).toBe(0);
    expect(await sampleValue(`vllm:e2e_request_latency_seconds_created{${labels}}`)).toBeGreaterThan(1e9);
  });

  it('counts drafts where there are any', async () => {
    const step = {
      numRunning: 1,
      numWaiting: 0,
      numUsedCacheTokens: 0,
      numPrefillTokens: 0,
      numDecodeTokens: 5,
      numPreemptions: 0,
      prefixQueryTokens: 0,
      prefixHitTokens: 0,
      drafts: {numDrafts: 2, numDraftTokens: 5, acceptedByPosition: [2, 1, 0]},
    };
    const {metrics, sampleValue} = openMetrics(undefined, {maxDraftTokens: 3});
    for (let i = 0; i < 2; i++) metrics.onStep(step);
    expect(await sampleValue(`vllm:spec_decode_num_drafts_total{${labels}}`)).toBe(4);
    expect(await sampleValue(`vllm:spec_decode_num_draft_tokens_total{${labels}}`)).toBe(10);
    expect(await sampleValue(`vllm:spec_decode_num_accepted_tokens_total{${labels}}`)).toBe(6);
    const byPosition = (position: number) =>
      sampleValue(`vllm:spec_decode_num_accepted_tokens_per_pos_total{${labels},position="${position}"}`);
    expect(await Promise.all([0, 1, 2].map(byPosition))).toEqual([4, 2, 0]);
    expect(await openMetrics().sampleValue(`vllm:spec_decode_num_drafts_total{${labels}}`)).toBeNull();
  });

  it('counts the prompt with the first token, by origin', async () => {
    const {metrics, sampleValue} = openMetrics();
    metrics.onTokens(record(), [2000], null);
    metrics.onTokens(record(), [2200, 2600], 2000);
    expect(await sampleValue(`vllm:prompt_tokens_total{${labels}}`)).toBe(30);
    expect(await sampleValue(`vllm:prompt_tokens_by_source_total{${labels},source="local_compute"}`)).toBe(20);
    expect(await sampleValue(`vllm:prompt_tokens_cached_total{${labels}}`)).toBe(10);
    expect(await sampleValue(`vllm:generation_tokens_total{${labels}}`)).toBe(3);
  });

  it('measures the first token from the arrival and each later one from the one before', async () => {
    const {metrics, sampleValue} = openMetrics();
    metrics.onTokens(record(), [2000, 2200], null);
    metrics.onTokens(record(), [2600], 2200);
    expect(await sampleValue(`vllm:time_to_first_token_seconds_sum{${labels}}`)).toBeCloseTo(1);
    expect(await sampleValue(`vllm:time_to_first_token_seconds_count{${labels}}`)).toBe(1);
    expect(await sampleValue(`vllm:inter_token_latency_seconds_count{${labels}}`)).toBe(2);
    expect(await sampleValue(`vllm:inter_token_latency_seconds_sum{${labels}}`)).toBeCloseTo(0.6);
  });

  it.each([
    ['e2e_request_latency', 1.7],
    ['request_queue_time', 0.4],
    ['request_prefill_time', 0.5],
    ['request_inference_time', 1.1],
    ['request_decode_time', 0.6],
    ['request_time_per_output_token', 0.3],
  ])('measures %s when a sequence ends', async (name, seconds) => {
    const {metrics, sampleValue} = openMetrics();
    metrics.onEnd(record());
    expect(await sampleValue(`vllm:${name}_seconds_sum{${labels}}`)).toBeCloseTo(seconds);
    expect(await sampleValue(`vllm:${name}_seconds_count{${labels}}`)).toBe(1);
  });

  it('counts no time that a sequence never had', async () => {
    const {metrics, sampleValue} = openMetrics();
    const never = {queuedMs: null, scheduledMs: null, firstTokenMs: null, lastTokenMs: null, numCachedTokens: null};
    metrics.onEnd(record({...never, numOutputTokens: 0, end: 'abort'}));
    expect(await sampleValue(`vllm:request_success_total{${labels},finished_reason="abort"}`)).toBe(1);
    expect(await sampleValue(`vllm:e2e_request_latency_seconds_count{${labels}}`)).toBe(1);
    expect(await sampleValue(`vllm:request_queue_time_seconds_count{${labels}}`)).toBe(0);
    expect(await sampleValue(`vllm:request_decode_time_seconds_count{${labels}}`)).toBe(0);
  });

  it('counts a request with several choices once, with the longest of them', async () => {
    const {metrics, sampleValue} = openMetrics();
    const choiceOf = {requestId: 'a', numChoices: 2};
    metrics.onEnd(record({requestId: 'a.0', choiceOf, numOutputTokens: 7}));
    expect(await sampleValue(`vllm:request_params_n_count{${labels}}`)).toBe(0);
    metrics.onEnd(record({requestId: 'a.1', choiceOf, numOutputTokens: 4}));
    expect(await sampleValue(`vllm:request_params_n_sum{${labels}}`)).toBe(2);
    expect(await sampleValue(`vllm:request_params_n_count{${labels}}`)).toBe(1);
    expect(await sampleValue(`vllm:request_max_num_generation_tokens_sum{${labels}}`)).toBe(7);
    expect(await sampleValue(`vllm:request_success_total{${labels},finished_reason="length"}`)).toBe(2);
  });

  it('shows the state of the last step and sums up the steps', async () => {
    const {metrics, sampleValue} = openMetrics();
    const step = {
      numRunning: 2,
      numWaiting: 3,
      numUsedCacheTokens: 250,
      numPrefillTokens: 20,
      numDecodeTokens: 2,
      numPreemptions: 1,
      prefixQueryTokens: 40,
      prefixHitTokens: 20,
    };
    metrics.onStep(step);
    metrics.onStep({...step, numPrefillTokens: 0, numDecodeTokens: 0});
    expect(await sampleValue(`vllm:num_requests_running{${labels}}`)).toBe(2);
    expect(await sampleValue(`vllm:num_requests_waiting{${labels}}`)).toBe(3);
    expect(await sampleValue(`vllm:kv_cache_usage_perc{${labels}}`)).toBe(0.25);
    expect(await sampleValue(`vllm:num_preemptions_total{${labels}}`)).toBe(2);
    expect(await sampleValue(`vllm:prefix_cache_hits_total{${labels}}`)).toBe(40);
    expect(await sampleValue(`vllm:iteration_tokens_total_sum{${labels}}`)).toBe(22);
    expect(await sampleValue(`vllm:iteration_tokens_total_count{${labels}}`)).toBe(1);
  });
});
