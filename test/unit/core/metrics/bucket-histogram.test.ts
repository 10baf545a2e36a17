/** Judged by prom-client's own histogram: the same page for the same values. */
import {Histogram, type Metric, Registry} from 'prom-client';
import {expect, it} from 'vitest';
import {BucketHistogram} from '../../../../src/core/metrics/bucket-histogram.ts';

const bounds = [0.01, 0.5, 1, 2.5];
const spec = {name: 'vllm:wait_seconds', help: 'Time in the queue'};
const values = [0, 0.01, 0.010001, 0.3, 1, 2.5, 2.6, 1e9];

it('writes the same page as the histogram of prom-client', async () => {
  const [ours, theirs] = [new Registry(), new Registry()];
  const histogram = new BucketHistogram(spec, bounds);
  ours.registerMetric(histogram as unknown as Metric);
  const expected = new Histogram({...spec, buckets: bounds, labelNames: ['engine', 'model'], registers: [theirs]});
  for (const engine of ['0', '1']) {
    const labels = {engine, model: 'a "b"'};
    const cell = histogram.open(labels);
    expected.zero(labels);
    for (const value of engine === '0' ? values : []) {
      cell.add(value);
      expected.observe(labels, value);
    }
  }
  expect(await ours.metrics()).toBe(await theirs.metrics());
});
