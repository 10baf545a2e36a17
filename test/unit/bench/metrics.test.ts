import {describe, expect, it} from 'vitest';
import {figuresOf, tokenGapsMs} from '../../../src/bench/metrics.ts';
import {answeredRecord} from '../../support/bench-records.ts';

describe('gaps between tokens', () => {
  it('do not count the time to the first one', () => {
    const record = answeredRecord([500, 510, 520]);
    expect(tokenGapsMs(record)).toEqual([10, 10]);
    expect(figuresOf([record], [99]).times).toMatchObject({ttft: {mean: 500}, itl: {mean: 10}, tpot: {mean: 10}});
  });

  it('share the gap of an event of several tokens, and are none within the first event', () => {
    const record = answeredRecord([100, 130], {chunkTokens: [2, 3], completionTokens: 5});
    expect(tokenGapsMs(record)).toEqual([0, 10, 10, 10]);
    const {times, samples} = figuresOf([record], []);
    expect(samples.icl).toEqual([30]);
    expect(times.tpot.mean).toBe(30 / 4);
  });

  it('are gaps between events where the server does not count, and the report says so', () => {
    const record = answeredRecord([100, 130], {chunkTokens: [null, null]});
    expect(tokenGapsMs(record)).toEqual([30]);
    expect(figuresOf([record], []).itlBasis).toBe('events');
    expect(figuresOf([record, answeredRecord([1, 2])], []).itlBasis).toBe('mixed');
  });
});

describe('figuresOf', () => {
  const failed = answeredRecord([9000], {failure: {type: 'truncated', message: ''}});
  const cancelled = answeredRecord([7000], {isCancelled: true});

  it('keeps failed and cancelled requests out of latencies, tokens and throughput', () => {
    const figures = figuresOf([answeredRecord([100, 200]), failed, cancelled], [99]);
    expect(figures).toMatchObject({completed: 1, failed: 1, cancelled: 1, outputTokens: 2, inputTokens: 10});
    expect(figures.samples.ttft).toEqual([100]);
    expect(figures.durationSeconds).toBe(9);
    expect(figures.outputThroughput).toBeCloseTo(2 / 9);
  });

  it('ends with the last request that ended by itself', () => {
    const late = answeredRecord([100], {isCancelled: true, endedMs: 60_000});
    expect(figuresOf([answeredRecord([100, 200]), late], []).durationSeconds).toBe(0.2);
    expect(figuresOf([late], []).durationSeconds).toBe(0);
  });

  it('says where token counts come from', () => {
    const counted = answeredRecord([1], {tokenCountSource: 'tokenizer'});
    const {tokenCountSource, tokenCountSources} = figuresOf([answeredRecord([1]), counted, counted], []);
    expect([tokenCountSource, tokenCountSources]).toEqual(['mixed', {usage: 1, tokenizer: 2}]);
  });

  it('knows the input of the data set beside that of the server, where it can', () => {
    const known = answeredRecord([1], {plannedPromptTokens: 7});
    expect(figuresOf([known, known], [])).toMatchObject({inputTokens: 20, plannedInputTokens: 14});
    expect(figuresOf([known, answeredRecord([1])], []).plannedInputTokens).toBeNull();
  });

  it('measures queueing from the plan', () => {
    const {samples} = figuresOf([answeredRecord([100], {plannedMs: 400})], []);
    expect(samples).toMatchObject({client_queue_time: [600], e2el: [100], e2el_including_client_queue: [700]});
  });

  it('has no tpot of a single token and no ttfo without reasoning', () => {
    const {samples} = figuresOf([answeredRecord([100])], []);
    expect(samples).toMatchObject({tpot: [], ttfo: []});
    const thinking = answeredRecord([100, 300], {hasReasoning: true, firstAnswerMs: 1300});
    expect(figuresOf([thinking], []).samples.ttfo).toEqual([300]);
  });

  it('counts the busiest second and the most requests at a time', () => {
    const records = [
      answeredRecord([100, 200, 1100]),
      answeredRecord([100, 900], {sentMs: 1150}),
      answeredRecord([50], {sentMs: 2100}),
    ];
    expect(figuresOf(records, [])).toMatchObject({peakOutputTokens: 3, maxInFlight: 2, peakConcurrency: 3});
  });

  it('gives zeros for nothing', () => {
    expect(figuresOf([], [99])).toMatchObject({durationSeconds: 0, completed: 0, outputThroughput: 0, maxInFlight: 0});
    expect(figuresOf([failed], [99]).times.ttft).toMatchObject({mean: 0, std: 0});
  });
});
