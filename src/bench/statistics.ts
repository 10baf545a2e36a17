/** Statistics of raw samples, as numpy computes them: population deviation, percentiles between ranks. */

export interface Summary {
  mean: number;
  median: number;
  std: number;
  max: number;
  /** By the number of the percentile, e.g. 99.9. */
  percentiles: Map<number, number>;
}

/** Every value is 0 without samples. */
export function summarize(samples: readonly number[], percentiles: readonly number[]): Summary {
  const sorted = Float64Array.from(samples).sort();
  const mean = sorted.length === 0 ? 0 : sum(sorted) / sorted.length;
  const variance = sorted.length === 0 ? 0 : sum(sorted.map((value) => (value - mean) ** 2)) / sorted.length;
  return {
    mean,
    median: percentileOf(sorted, 50),
    std: Math.sqrt(variance),
    max: sorted.at(-1) ?? 0,
    percentiles: new Map(percentiles.map((percentile) => [percentile, percentileOf(sorted, percentile)])),
  };
}

/** Linear interpolation between the two nearest ranks. @param sorted ascending */
export function percentileOf(sorted: Float64Array, percentile: number): number {
  if (sorted.length === 0) return 0;
  const rank = (percentile / 100) * (sorted.length - 1);
  const lower = Math.floor(rank);
  const upper = Math.min(lower + 1, sorted.length - 1);
  return sorted[lower] + (sorted[upper] - sorted[lower]) * (rank - lower);
}

function sum(values: Float64Array): number {
  return values.reduce((total, value) => total + value, 0);
}
