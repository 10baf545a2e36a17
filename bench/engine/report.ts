/** The report for people: a Markdown table with what was measured, and notes that say what to make of it. Pure. */
import type {Figure} from './figures.ts';
import type {FigureResult, SideResult} from './results.ts';
import type {LoadReading} from './samples.ts';

/** More than this of a core for others makes the figures doubtful. */
export const busyCores = 0.5;

export interface RunFacts {
  /** E.g. `2026-01-31T12:00:00.000Z`. */
  startedAt: string;
  processor: string;
  nodeVersion: string;
  threads: number;
  rounds: number;
  isQuick: boolean;
  isInterrupted: boolean;
  model: string;
  llamaVersion: string;
  servers: {ours: string; llama: string};
  loadAverage: {before: number[]; after: number[]};
  load: LoadReading[];
  /** Prompts that the two servers counted differently, as sentences. */
  mismatches: string[];
}

export function renderReport(facts: RunFacts, results: readonly FigureResult[]): string {
  return [...renderFacts(facts), '', ...renderTable(results), '', ...renderNotes(facts)].join('\n');
}

function renderFacts({startedAt, processor, nodeVersion, threads, rounds, model, llamaVersion}: RunFacts): string[] {
  return [
    `Engine benchmark of ${startedAt}: ${model}, ${plural(threads, 'thread')}, ${plural(rounds, 'round')}.`,
    `${processor}, Node ${nodeVersion}; llama.cpp through node-llama-cpp ${llamaVersion}.`,
  ];
}

const header = ['figure', 'unit', 'ours', 'llama.cpp', 'ratio', 'CPU-ms/token ours', 'llama.cpp', 'target', 'met?'];

function renderTable(results: readonly FigureResult[]): string[] {
  const rows = [header, ...results.map(tableRow)];
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const [head, ...body] = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`,
  );
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body];
}

function tableRow({figure, ours, llama, ratio, target}: FigureResult): string[] {
  return [
    figure.title,
    unitText(figure),
    spreadText(ours),
    spreadText(llama),
    ratio === null ? '' : ratio.toFixed(2),
    numberText(ours?.cpuMsPerToken ?? null),
    numberText(llama?.cpuMsPerToken ?? null),
    target?.text ?? '',
    metText(target?.isMet ?? null, target !== null),
  ];
}

function unitText({unit}: Figure): string {
  return unit === 'x' ? '' : unit;
}

function spreadText(result: SideResult | null): string {
  if (!result) return '';
  const {median, min, max, values} = result;
  return values.length === 1 ? numberText(median) : `${numberText(median)} (${numberText(min)}-${numberText(max)})`;
}

function metText(isMet: boolean | null, hasTarget: boolean): string {
  if (isMet === null) return hasTarget ? '?' : '';
  return isMet ? 'yes' : 'NO';
}

/** Three digits that count. */
export function numberText(value: number | null): string {
  if (value === null) return '';
  const decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return value.toFixed(decimals);
}

function renderNotes(facts: RunFacts): string[] {
  const {before, after} = facts.loadAverage;
  return [
    'Values are medians of the rounds (smallest-largest). Ratio: how many times better ours is, also where less is better.',
    'CPU-ms/token: CPU time of the whole process tree per output token; per prompt token for prefill and for the first',
    'token of a chat; per token of either kind for the pause.',
    `Servers: ours is ${facts.servers.ours}; llama.cpp's is ${facts.servers.llama}.`,
    `Load average before ${before.map(numberText).join(' ')}, after ${after.map(numberText).join(' ')}.`,
    ...warnings(facts).map((warning) => `WARNING: ${warning}`),
  ];
}

export function warnings({isQuick, isInterrupted, load, mismatches}: RunFacts): string[] {
  const busy = load.filter(({otherCores}) => otherCores > busyCores);
  const readings = busy.map(({label, otherCores}) => `${label} ${otherCores.toFixed(1)}`).join('; ');
  return [
    ...(isInterrupted ? ['interrupted: the table holds what was measured until then'] : []),
    ...(isQuick ? ['a quick run shows that the benchmark works; its figures are too few and too short to count'] : []),
    ...(busy.length > 0 ? [`the machine was busy, do not trust these figures. Cores used by others: ${readings}`] : []),
    ...mismatches,
  ];
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
