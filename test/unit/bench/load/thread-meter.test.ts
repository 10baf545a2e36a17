/** The meter watches the thread of this test, which really is in its own way. */
import {setTimeout as delay} from 'node:timers/promises';
import {expect, it} from 'vitest';
import {ThreadMeter, worstOf} from '../../../../src/bench/load/thread-meter.ts';
import {verdictOf} from '../../../../src/bench/run/client-health.ts';
import {nowMs} from '../../../../src/core/util/clock.ts';

function block(ms: number): void {
  const end = nowMs() + ms;
  while (nowMs() < end);
}

const gapMs = 40;

it('a thread that cannot handle events in time distorts the figures', async () => {
  const meter = new ThreadMeter();
  for (let times = 0; times < 8; times++) {
    block(60);
    await delay(2);
  }
  const health = {...meter.finish(), readCostMs: null};
  expect(health.loopDelayP99Ms).toBeGreaterThan(45);
  expect(verdictOf(health, gapMs)).toBe('distorted');
});

it('several threads are as good as the worst of them', () => {
  const fine = {loopDelayP99Ms: 1, gcPauseMs: 2, cpuPercent: 5, runQueueWaitPercent: null, readCostMs: null};
  const late = {loopDelayP99Ms: 30, gcPauseMs: 3, cpuPercent: 4, runQueueWaitPercent: 50, readCostMs: 0.02};
  expect(worstOf([fine, late])).toEqual({
    loopDelayP99Ms: 30,
    gcPauseMs: 5,
    cpuPercent: 5,
    runQueueWaitPercent: 50,
    readCostMs: 0.02,
  });
});
