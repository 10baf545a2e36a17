/** Several runs side by side: one row for each point, with mean and spread where a point was run several times. */
import type {FinishedRun} from './result-files.ts';
import type {RunOutcome} from './result-types.ts';

interface Column {
  title: string;
  measure: (run: FinishedRun) => number | string;
}

const figure = (title: string, key: string): Column => ({title, measure: ({result}) => result[key] as number});

/** What tells points apart. */
const pointColumns: Column[] = [
  {
    title: 'Concurrency',
    measure: ({outcome: {point}}) => (Number.isFinite(point.maxConcurrency) ? point.maxConcurrency : 'inf'),
  },
  {title: 'Rate', measure: ({outcome: {point}}) => (Number.isFinite(point.requestRate) ? point.requestRate : 'inf')},
];
const columns: Column[] = [
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

const gap = '  ';

/** @param width of the terminal: a table that is wider is cut into several; null = any width */
export function sweepTable(runs: readonly FinishedRun[], width: number | null): string[] {
  const groups = groupsOf(runs);
  const cellsOf = (column: Column) => aligned([column.title, ...groups.map((group) => cellOf(group, column))]);
  const shown = [...columns, ...(runs[0]?.outcome.goodput ? [goodColumn] : []), validColumn];
  const blocks = blocksThatFit(pointColumns.map(cellsOf), shown.map(cellsOf), width ?? Number.POSITIVE_INFINITY);
  return blocks.flatMap((block, index) => [...(index === 0 ? [] : ['']), ...rowsOf(block)]);
}

/** Cells of one column, all equally wide. */
type Cells = readonly string[];

function aligned(cells: Cells): Cells {
  const width = Math.max(...cells.map((cell) => cell.length));
  return cells.map((cell) => cell.padStart(width));
}

/** Each block begins with the columns that say which point it is. */
function blocksThatFit(first: readonly Cells[], others: readonly Cells[], width: number): Cells[][] {
  const blocks = [[...first]];
  for (const cells of others) {
    const block = blocks[blocks.length - 1];
    const isFull = rowsOf([...block, cells])[0].length > width && block.length > first.length;
    if (isFull) blocks.push([...first, cells]);
    else block.push(cells);
  }
  return blocks;
}

function rowsOf(block: readonly Cells[]): string[] {
  return block[0].map((_, row) => block.map((cells) => cells[row]).join(gap));
}

/** Neighbours with the same point are runs of it. */
export function groupsOf(runs: readonly FinishedRun[]): FinishedRun[][] {
  const groups: FinishedRun[][] = [];
  for (const run of runs) {
    const group = groups.at(-1);
    if (group && isSamePoint(group[0].outcome, run.outcome)) group.push(run);
    else groups.push([run]);
  }
  return groups;
}

/** Whether two runs had the same load. */
export function isSamePoint({point: a}: RunOutcome, {point: b}: RunOutcome): boolean {
  return a.maxConcurrency === b.maxConcurrency && a.requestRate === b.requestRate;
}

function cellOf(group: readonly FinishedRun[], {measure}: Column): string {
  const values = group.map(measure);
  const numbers = values.filter((value) => typeof value === 'number');
  if (numbers.length < values.length) return [...new Set(values)].join('/');
  const mean = numbers.reduce((total, value) => total + value, 0) / numbers.length;
  const spread = (Math.max(...numbers) - Math.min(...numbers)) / 2;
  const decimals = numbers.every(Number.isInteger) && spread === 0 ? 0 : decimalsOf(mean);
  return spread === 0 ? mean.toFixed(decimals) : `${mean.toFixed(decimals)}±${spread.toFixed(decimals)}`;
}

/** Small numbers need more places to be told apart. */
function decimalsOf(value: number): number {
  if (value >= 1000) return 0;
  return value >= 100 ? 1 : 2;
}
