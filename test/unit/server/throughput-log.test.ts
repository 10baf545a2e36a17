import {afterEach, beforeEach, describe, expect, it, vi} from 'vitest';
import type {StepStats} from '../../../src/core/engine/protocol.ts';
import type {Llm} from '../../../src/core/llm.ts';
import {startThroughputLog} from '../../../src/server/throughput-log.ts';
import {RecordingLogger} from '../../support/recording-logger.ts';

const step: StepStats = {
  numRunning: 3,
  numWaiting: 1,
  numUsedCacheTokens: 250,
  numCachedTokens: 100,
  numPrefillTokens: 60,
  numDecodeTokens: 3,
  numPreemptions: 0,
  prefixQueryTokens: 80,
  prefixHitTokens: 20,
  stepMs: 5,
};

function fakeLlm() {
  const listeners = new Set<(stats: StepStats) => void>();
  const llm = {
    modelInfo: {kvCacheTokens: 1000},
    engineStates: () => [{isUp: true, numRestarts: 0}],
    onStats(listener: (stats: StepStats) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as Llm;
  const emit = () => {
    for (const listener of listeners) listener(step);
  };
  return {llm, listeners, emit};
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('throughput log', () => {
  it('sums up an interval with work and is silent without', () => {
    const {llm, emit} = fakeLlm();
    const logger = new RecordingLogger();
    const stop = startThroughputLog(llm, logger, 10);
    emit();
    emit();
    vi.advanceTimersByTime(30_000);
    expect(logger.lines.map(({message}) => message)).toEqual([
      'prompt 12 tok/s, generation 0.6 tok/s, running 3, waiting 1, KV cache 25 %, prefix hits 25 %',
    ]);
    stop();
  });

  it('ends', () => {
    const {llm, listeners, emit} = fakeLlm();
    const logger = new RecordingLogger();
    const stop = startThroughputLog(llm, logger, 10);
    emit();
    stop();
    vi.advanceTimersByTime(30_000);
    expect([logger.lines.length, listeners.size]).toEqual([0, 0]);
  });
});
