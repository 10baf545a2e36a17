import {expect, it} from 'vitest';
import {MetricRegistry} from '../../../../src/core/metrics/metric-registry.ts';
import {ServingMetrics} from '../../../../src/core/metrics/serving-metrics.ts';

const step = {
  numRunning: 2,
  numWaiting: 1,
  numUsedCacheTokens: 500,
  numPrefillTokens: 0,
  numDecodeTokens: 2,
  numPreemptions: 0,
  prefixQueryTokens: 0,
  prefixHitTokens: 0,
};

it('shows each of several engines under its own label', async () => {
  const registry = new MetricRegistry();
  const states = [
    {isUp: true, numRestarts: 0},
    {isUp: false, numRestarts: 3},
  ];
  const facts = {modelName: 'tiny', maxModelLen: 2048, kvCacheTokens: 1000, kvCacheBytesPerToken: 4};
  const metrics = new ServingMetrics(registry, {...facts, engineStates: () => states});
  metrics.onStep(step, 1);
  const lines = (await registry.render()).split('\n');
  const sampleOf = (name: string, engine: number) =>
    lines.find((line) => line.startsWith(`${name}{model_name="tiny",engine="${engine}"}`))?.split(' ')[1];
  expect([0, 1].map((engine) => sampleOf('vllm:num_requests_running', engine))).toEqual(['0', '2']);
  expect([0, 1].map((engine) => sampleOf('vllm:kv_cache_usage_perc', engine))).toEqual(['0', '0.5']);
  expect([0, 1].map((engine) => sampleOf('parlance:engine_up', engine))).toEqual(['1', '0']);
  expect([0, 1].map((engine) => sampleOf('parlance:engine_restarts', engine))).toEqual(['0', '3']);
});
