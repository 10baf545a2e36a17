/** What measuring gives: one sample per figure, side and round. */
import {median} from './statistics.ts';

export interface Sample {
  /** In the unit of its figure. */
  value: number;
  /** CPU milliseconds of the whole process tree per token; null where a figure has no tokens of its own. */
  cpuMsPerToken: number | null;
}

/** Figure id -> its sample of one side in one round. */
export type Samples = Record<string, Sample>;

/** What else the machine did while one part was measured. */
export interface LoadReading {
  /** E.g. `round 1, parlance, http`. */
  label: string;
  /** Cores kept busy by processes that are not part of the benchmark. */
  otherCores: number;
}

/** Median of values and of CPU times, each for itself. */
export function medianSample(runs: readonly Sample[]): Sample {
  const cpu = runs.flatMap(({cpuMsPerToken}) => cpuMsPerToken ?? []);
  return {value: median(runs.map(({value}) => value)), cpuMsPerToken: cpu.length > 0 ? median(cpu) : null};
}
