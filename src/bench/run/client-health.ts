/**
 * Whether the load generator itself was in the way. A client that waits for a processor measures itself, and its share of
 * processor time does not show it: the time in the run queue does.
 */
import {nowMs} from '../../core/util/clock.ts';
import type {ThreadHealth} from '../load/thread-meter.ts';
import type {RunFigures} from '../metrics.ts';

export type ClientVerdict = 'ok' | 'strained' | 'distorted';

export interface ClientHealth {
  /** Of the whole process. */
  cpuPercent: number;
  /** Of the thread that sends, or the worst of several. */
  thread: ThreadHealth;
  /** Handling the events of one engine step for all streams: a floor of every gap. */
  stepCostMs: number;
  numWorkers: number;
  verdict: ClientVerdict;
}

const limits = {
  strained: {loopDelayMs: 5, runQueueWaitPercent: 10, threadPercent: 50},
  distorted: {loopDelayMs: 20, shareOfGap: 0.25, runQueueWaitPercent: 40},
};

/** Watches this process from its creation to `finish`. */
export class ProcessMeter {
  readonly #startMs = nowMs();
  readonly #startCpu = process.cpuUsage();

  finish(thread: ThreadHealth, figures: RunFigures, numWorkers: number): ClientHealth {
    const {user, system} = process.cpuUsage(this.#startCpu);
    const cpuMs = (user + system) / 1000;
    const numEvents = figures.samples.icl.length + figures.completed;
    return {
      cpuPercent: (100 * cpuMs) / Math.max(nowMs() - this.#startMs, 1),
      thread,
      stepCostMs: numEvents === 0 ? 0 : (cpuMs / numEvents) * figures.maxInFlight,
      numWorkers,
      verdict: verdictOf(thread, figures.times.itl.median),
    };
  }
}

export function verdictOf(
  {loopDelayP99Ms, runQueueWaitPercent, cpuPercent}: ThreadHealth,
  medianGapMs: number,
): ClientVerdict {
  const {strained, distorted} = limits;
  const isLate = loopDelayP99Ms > distorted.loopDelayMs && loopDelayP99Ms > distorted.shareOfGap * medianGapMs;
  if (isLate || (runQueueWaitPercent ?? 0) > distorted.runQueueWaitPercent) return 'distorted';
  const isStrained =
    loopDelayP99Ms > strained.loopDelayMs ||
    (runQueueWaitPercent ?? 0) > strained.runQueueWaitPercent ||
    (cpuPercent ?? 0) > strained.threadPercent;
  return isStrained ? 'strained' : 'ok';
}
