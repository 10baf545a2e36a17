/** Two result files side by side, as differences in percent. */
import {readFile} from 'node:fs/promises';
import {UsageError} from '../../core/errors.ts';
import {readFault} from '../../core/util/file-fault.ts';
import type {ResultObject} from './result-json.ts';

/** Reads the last run of a result file. @throws UsageError */
export async function readResult(path: string): Promise<ResultObject> {
  try {
    const text = await readFile(path, 'utf8');
    return asResult(parseLast(text), path);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`--compare ${path} cannot be read: ${readFault(cause)}`, {cause});
  }
}

/** One object over any number of lines, or, with `--append-result`, one in each line. */
function parseLast(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(text.trim().split('\n').at(-1) ?? '');
  }
}

function asResult(value: unknown, path: string): ResultObject {
  const last = Array.isArray(value) ? value.at(-1) : value;
  if (typeof last === 'object' && last !== null && 'completed' in last) return last as ResultObject;
  throw new UsageError(`${path} is no result of a benchmark`);
}

export interface Comparison {
  key: string;
  before: number;
  after: number;
  /** Null when there is nothing to divide by. */
  percent: number | null;
}

/** Settings that look like figures. */
const settingKeys = ['max_concurrency', 'request_rate'];
/** Figures whose differences mean something: counts, throughputs, times. */
const comparedKeys =
  /^(completed|failed|duration|total_|request_|output_|max_|slo_attainment|achieved_|(mean|median|std|p[\d.]+)_)/;

export function compareResults(before: ResultObject, after: ResultObject): Comparison[] {
  const keys = Object.keys(before).filter((key) => comparedKeys.test(key) && !settingKeys.includes(key));
  return keys.flatMap((key) => {
    const [a, b] = [before[key], after[key]];
    if (typeof a !== 'number' || typeof b !== 'number') return [];
    return [{key, before: a, after: b, percent: a === 0 ? null : (100 * (b - a)) / a}];
  });
}

export function comparisonTable(rows: readonly Comparison[]): string[] {
  const cells = rows.map(({key, before, after, percent}) => [
    key,
    before.toFixed(2),
    after.toFixed(2),
    percentText(percent),
  ]);
  const all = [['', 'before', 'after', 'change'], ...cells];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column].length)));
  return all.map(([key, ...values]) =>
    [key.padEnd(widths[0]), ...values.map((value, index) => value.padStart(widths[index + 1]))].join('  '),
  );
}

function percentText(percent: number | null): string {
  return percent === null ? '-' : `${percent > 0 ? '+' : ''}${percent.toFixed(1)} %`;
}
