/** Several runs side by side: one row for each point, with mean and spread where a point was run several times. */
import type {FinishedRun} from './result-files.ts';

interface Column {
  title: string;
  measure: (run: FinishedRun) => number | string;
}

const figure = (title: string, key: string): Column => ({title, measure: ({result}) => result[key] as number});

const columns: Column[] = [
  {
    title: 'Concurrency',
    measure: ({outcome: {point}}) => (Number.isFinite(point.maxConcurrency) ? point.maxConcurrency : 'inf'),
  },
  {title: 'Rate', measure: ({outcome: {point}}) => (Number.isFinite(point.requestRate) ? point.requestRate : 'inf')},
  figure('Done', 'completed'),
  figure('Failed', 'failed'),
  figure('Req/s', 'request_throughput'),
  figure('Out tok/s', 'output_throughput'),
  figure('TTFT p50', 'median_ttft_ms'),
  figure('TTFT p99', 'p99_ttft_ms'),
  figure('TPOT p50', 'median_tpot_ms'),
  figure('ITL p99', 'p99_itl_ms'),
  figure('E2EL p50', 'median_e2el_ms'),
];
const goodColumn: Column = {title: 'Good %', measure: ({outcome}) => 100 * (outcome.goodput?.attainment ?? 0)};
const validColumn: Column = {title: 'Client', measure: ({outcome}) => outcome.health.verdict};

export function sweepTable(runs: readonly FinishedRun[]): string[] {
  const shown = [...columns, ...(runs[0]?.outcome.goodput ? [goodColumn] : []), validColumn];
  const rows = groupsOf(runs).map((group) => shown.map((column) => cellOf(group, column)));
  const cells = [shown.map(({title}) => title), ...rows];
  const widths = shown.map((_, index) => Math.max(...cells.map((row) => row[index].length)));
  return cells.map((row) => row.map((cell, index) => cell.padStart(widths[index])).join('  '));
}

/** Neighbours with the same point are runs of it. */
function groupsOf(runs: readonly FinishedRun[]): FinishedRun[][] {
  const groups: FinishedRun[][] = [];
  for (const run of runs) {
    const group = groups.at(-1);
    if (group && isSamePoint(group[0], run)) group.push(run);
    else groups.push([run]);
  }
  return groups;
}

function isSamePoint({outcome: {point: a}}: FinishedRun, {outcome: {point: b}}: FinishedRun): boolean {
  return a.maxConcurrency === b.maxConcurrency && a.requestRate === b.requestRate;
}

function cellOf(group: readonly FinishedRun[], {measure}: Column): string {
  const values = group.map(measure);
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length < values.length) return [...new Set(values)].join('/');
  const mean = numbers.reduce((total, value) => total + value, 0) / numbers.length;
  const spread = (Math.max(...numbers) - Math.min(...numbers)) / 2;
  const shown = numbers.every(Number.isInteger) && spread === 0 ? String(mean) : mean.toFixed(2);
  return spread === 0 ? shown : `${shown}±${spread.toFixed(2)}`;
}
