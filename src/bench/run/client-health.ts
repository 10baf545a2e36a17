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
  /** Until the last of all streams of a thread is read when they come together; null when no two ever did. */
  stepCostMs: number | null;
  numWorkers: number;
  verdict: ClientVerdict;
}

const limits = {
  strained: {loopDelayMs: 5, runQueueWaitPercent: 10, threadPercent: 50},
  distorted: {loopDelayMs: 20, shareOfGap: 0.25, runQueueWaitPercent: 40},
};

/** What the whole process used during the run. */
export interface ProcessTimes {
  cpuMs: number;
  wallMs: number;
}

/** Watches this process from its creation to `finish`, which comes before anything is computed from the records. */
export class ProcessMeter {
  readonly #startMs = nowMs();
  readonly #startCpu = process.cpuUsage();

  finish(): ProcessTimes {
    const {user, system} = process.cpuUsage(this.#startCpu);
    return {cpuMs: (user + system) / 1000, wallMs: Math.max(nowMs() - this.#startMs, 1)};
  }
}

export function clientHealth(
  process: ProcessTimes,
  thread: ThreadHealth,
  figures: RunFigures,
  numWorkers: number,
): ClientHealth {
  return {
    cpuPercent: (100 * process.cpuMs) / process.wallMs,
    thread,
    stepCostMs: thread.readCostMs === null ? null : (thread.readCostMs * figures.maxInFlight) / numWorkers,
    numWorkers,
    verdict: verdictOf(thread, figures.times.itl.median),
  };
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
