/** 99 -> `p99`, 99.9 -> `p99.9`. */
export function percentileName(percentile: number): string {
  return `p${percentile}`;
}
