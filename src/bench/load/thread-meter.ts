/**
 * How a thread of the load generator fares: late turns of its event loop, pauses for collecting garbage, time on a
 * processor and time of waiting for one. The last is what share of a processor does not show (Linux only).
 */
import {readFileSync} from 'node:fs';
import {monitorEventLoopDelay, PerformanceObserver} from 'node:perf_hooks';
import {nowMs} from '../../core/util/clock.ts';

export interface ThreadHealth {
  /** How late a timer comes that should come at once, 99th percentile. */
  loopDelayP99Ms: number;
  gcPauseMs: number;
  /** Of the time that the thread was watched; null where the system does not tell. */
  cpuPercent: number | null;
  runQueueWaitPercent: number | null;
  /** From one read of a stream to the next that waits behind it; null when none had to. */
  readCostMs: number | null;
}

/** The monitor counts this much for a loop without any delay. */
const resolutionMs = 5;
const nanosecondsPerMs = 1e6;

export class ThreadMeter {
  readonly #delay = monitorEventLoopDelay({resolution: resolutionMs});
  readonly #observer: PerformanceObserver;
  readonly #startMs = nowMs();
  readonly #startTimes = readThreadTimes();
  #gcPauseMs = 0;

  constructor() {
    this.#observer = new PerformanceObserver((list) => {
      for (const {duration} of list.getEntries()) this.#gcPauseMs += duration;
    });
    this.#observer.observe({entryTypes: ['gc']});
    this.#delay.enable();
  }

  finish(): Omit<ThreadHealth, 'readCostMs'> {
    this.#delay.disable();
    this.#observer.disconnect();
    const p99 = this.#delay.count === 0 ? 0 : this.#delay.percentile(99) / nanosecondsPerMs;
    return {loopDelayP99Ms: Math.max(0, p99 - resolutionMs), gcPauseMs: this.#gcPauseMs, ...this.#shares()};
  }

  #shares(): Pick<ThreadHealth, 'cpuPercent' | 'runQueueWaitPercent'> {
    const [before, after] = [this.#startTimes, readThreadTimes()];
    if (before === null || after === null) return {cpuPercent: null, runQueueWaitPercent: null};
    const percent = (ms: number) => (100 * ms) / Math.max(nowMs() - this.#startMs, 1);
    return {
      cpuPercent: percent(after.cpuMs - before.cpuMs),
      runQueueWaitPercent: percent(after.waitMs - before.waitMs),
    };
  }
}

/** The worst of several threads that worked side by side; pauses are those of all. */
export function worstOf(healths: readonly ThreadHealth[]): ThreadHealth {
  const most = (measure: (health: ThreadHealth) => number | null) => {
    const values = healths.map(measure).filter((value) => value !== null);
    return values.length === 0 ? null : Math.max(...values);
  };
  return {
    loopDelayP99Ms: most(({loopDelayP99Ms}) => loopDelayP99Ms) ?? 0,
    gcPauseMs: healths.reduce((total, {gcPauseMs}) => total + gcPauseMs, 0),
    cpuPercent: most(({cpuPercent}) => cpuPercent),
    runQueueWaitPercent: most(({runQueueWaitPercent}) => runQueueWaitPercent),
    readCostMs: most(({readCostMs}) => readCostMs),
  };
}

/** Of the calling thread; null where there is no such file. */
function readThreadTimes(): {cpuMs: number; waitMs: number} | null {
  try {
    const [cpuNs, waitNs] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ').map(Number);
    return {cpuMs: cpuNs / nanosecondsPerMs, waitMs: waitNs / nanosecondsPerMs};
  } catch {
    return null;
  }
}
