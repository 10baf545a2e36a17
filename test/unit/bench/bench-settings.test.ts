import {describe, expect, it} from 'vitest';
import {type BenchOptions, benchOptionsSchema} from '../../../src/bench/bench-options.ts';
import {readSettings} from '../../../src/bench/bench-settings.ts';
import {UsageError} from '../../../src/core/errors.ts';

const settings = (options: Partial<BenchOptions>) => readSettings(benchOptionsSchema.parse(options));

describe('readSettings', () => {
  it('reads lists as points of a sweep', () => {
    const {points, sweeps} = settings({requestRate: '1, 2.5,inf', maxConcurrency: '8'});
    expect(points.map(({requestRate}) => requestRate)).toEqual([1, 2.5, Number.POSITIVE_INFINITY]);
    expect(sweeps).toEqual(['request_rate']);
    expect(settings({maxConcurrency: '1,2'}).sweeps).toEqual(['max_concurrency']);
    expect(settings({maxConcurrency: '1,2', requestRate: '3,4'}).sweeps).toEqual(['max_concurrency', 'request_rate']);
    expect(settings({findMaxRate: true, goodput: ['ttft:9']}).sweeps).toEqual(['request_rate']);
    expect(settings({}).sweeps).toEqual([]);
  });

  it('reads limits, ranges, headers and metadata', () => {
    const read = settings({
      goodput: ['ttft:100', 'tpot:50.5'],
      randomRangeRatio: '{"input": 0.2, "output": 0}',
      header: ['X-Team=a=b'],
      apiKey: 'k',
      metadata: ['build=7'],
    });
    expect(read.limits).toEqual({ttft: 100, tpot: 50.5});
    expect(read.randomRange).toEqual({input: 0.2, output: 0});
    expect(read.headers).toEqual({authorization: 'Bearer k', 'x-team': 'a=b'});
    expect(read.metadata).toEqual([['build', '7']]);
  });

  it('takes a time for each step of a search', () => {
    expect(settings({findMaxRate: true, goodput: ['ttft:9'], duration: 2}).duration).toBe(2);
    expect(() => settings({duration: 2})).toThrow(/--duration needs/);
  });

  it('takes a fresh seed unless one is given', () => {
    expect(settings({}).seed).not.toBe(settings({}).seed);
    expect(settings({seed: 0}).seed).toBe(0);
  });

  it.each<[string, Partial<BenchOptions>, RegExp]>([
    ['no places', {maxConcurrency: '0'}, /max-concurrency cannot be 0/],
    ['a negative limit', {goodput: ['ttft:-1']}, /--goodput cannot be ttft:-1/],
    ['an empty limit', {goodput: ['ttft:']}, /--goodput cannot be ttft:/],
    ['an unknown limit', {goodput: ['latency:5']}, /--goodput cannot be latency:5/],
    ['an unknown percentile metric', {percentileMetrics: 'ttft,nope'}, /does not know nope/],
    ['a percentile above 100', {metricPercentiles: '101'}, /--metric-percentiles cannot be 101/],
    ['a range of 1', {randomRangeRatio: '1'}, /--random-range-ratio cannot be 1/],
    ['half a ramp', {rampUpStrategy: 'linear'}, /belong together/],
    ['a falling ramp', {rampUpStrategy: 'linear', rampUpStartRps: 5, rampUpEndRps: 2}, /is above/],
    [
      'an exponential ramp from 0',
      {rampUpStrategy: 'exponential', rampUpStartRps: 0, rampUpEndRps: 2},
      /cannot start at 0/,
    ],
    [
      'a ramp and a rate',
      {rampUpStrategy: 'linear', rampUpStartRps: 1, rampUpEndRps: 2, requestRate: '3'},
      /exclude each other/,
    ],
    ['a file for random', {datasetPath: 'x.json'}, /--dataset-path has no meaning/],
    ['no file for custom', {datasetName: 'custom'}, /needs a file/],
    ['a rate for http', {backend: 'http', requestRate: '5', maxConcurrency: '2'}, /takes no rate/],
    ['an endless burst', {duration: 5}, /--duration needs/],
    ['a search without limits', {findMaxRate: true}, /--find-max-rate needs limits/],
    ['an address without a scheme', {baseUrl: 'localhost:8000'}, /--base-url has to be/],
    ['one file to compare', {compare: ['a.json']}, /--compare takes two/],
    ['an assertion without a number', {assert: ['p99_ttft_ms<fast']}, /--assert cannot be/],
  ])('refuses %s', (_what, options, message) => {
    expect(() => settings(options)).toThrow(UsageError);
    expect(() => settings(options)).toThrow(message);
  });
});
