import {describe, expect, it} from 'vitest';
import {figuresOf} from '../../../../src/bench/metrics.ts';
import {verdictOf} from '../../../../src/bench/run/client-health.ts';
import {findMaxRate} from '../../../../src/bench/run/find-max-rate.ts';
import {failureGroups, goodputOf} from '../../../../src/bench/run/outcome.ts';
import {answeredRecord} from '../../../support/bench-records.ts';

describe('goodputOf', () => {
  const records = [
    answeredRecord([100, 110, 120]),
    answeredRecord([400, 410, 420]),
    {...answeredRecord([]), failure: {type: 'truncated', message: 'cut'}} as const,
    {...answeredRecord([50]), isCancelled: true},
  ];

  it('asks for all limits, and judges failures but no cancelled requests', () => {
    const figures = figuresOf(records, [99]);
    expect(goodputOf(records, {ttft: 100, tpot: 10}, figures)).toMatchObject({good: 1, attainment: 1 / 3});
    expect(goodputOf(records, {ttft: 99}, figures)?.good).toBe(0);
    expect(goodputOf(records, {}, figures)).toBeNull();
  });

  it('counts the missing time per token of one token as 0', () => {
    const single = [answeredRecord([10])];
    expect(goodputOf(single, {tpot: 0}, figuresOf(single, [99]))?.good).toBe(1);
  });
});

it('failureGroups counts types, keeps three different messages and the first time', () => {
  const failed = (message: string, endedMs: number) => ({
    ...answeredRecord([], {plannedMs: 1000, endedMs}),
    failure: {type: 'connect', message} as const,
  });
  const asked = {url: 'http://host:1/v1/chat/completions', model: 'm', listedModels: null, hasKey: false};
  const messages = ['ECONNREFUSED: a', 'ECONNREFUSED: a', 'b', 'c', 'd'];
  const groups = failureGroups(
    messages.map((message, index) => failed(message, 1500 + index)),
    asked,
  );
  const hint = 'nothing listens at host:1: start the server, or give its address with --url';
  expect(groups).toEqual([
    {type: 'connect', count: 5, examples: ['ECONNREFUSED: a', 'b', 'c'], hint, firstAtSeconds: 0.5},
  ]);
});

describe('verdictOf', () => {
  const health = {loopDelayP99Ms: 1, gcPauseMs: 0, cpuPercent: 5, runQueueWaitPercent: 2, readCostMs: null};
  it.each([
    ['ok', {}, 20],
    ['strained', {loopDelayP99Ms: 6}, 20],
    ['strained', {runQueueWaitPercent: 11}, 20],
    ['strained', {cpuPercent: 51}, 20],
    ['strained', {loopDelayP99Ms: 30}, 200],
    ['distorted', {loopDelayP99Ms: 30}, 100],
    ['distorted', {runQueueWaitPercent: 41}, 200],
    ['ok', {cpuPercent: null, runQueueWaitPercent: null}, 20],
  ] as const)('is %s for %j with gaps of %d ms', (verdict, fields, gap) => {
    expect(verdictOf({...health, ...fields}, gap)).toBe(verdict);
  });
});

describe('findMaxRate', () => {
  const upTo =
    (limit: number, asked: number[] = []) =>
    async (rate: number) => {
      asked.push(rate);
      return rate <= limit;
    };

  it('doubles, then halves five times', async () => {
    const asked: number[] = [];
    expect(await findMaxRate(upTo(11, asked))).toBe(11);
    expect(asked).toEqual([1, 2, 4, 8, 16, 12, 10, 11, 11.5, 11.25]);
  });

  it('looks below the first rate, and finds nothing where nothing passes', async () => {
    expect(await findMaxRate(upTo(0.3))).toBeCloseTo(0.28125);
    expect(await findMaxRate(upTo(0))).toBeNull();
  });
});
