/** Statistics of the benchmark: pure functions over small lists of numbers. */

export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** @param values at least one */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** @param values at least one */
export function spread(values: readonly number[]): Spread {
  return {median: median(values), min: Math.min(...values), max: Math.max(...values)};
}

/** Distances between neighbours. */
export function gaps(times: readonly number[]): number[] {
  return times.slice(1).map((time, index) => time - times[index]);
}
