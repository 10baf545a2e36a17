/** Where results go: file names as `vllm bench serve` and `vllm bench sweep serve` make them, JSON and CSV. */
import {appendFile, mkdir, open, stat, unlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {ServingError, UsageError} from '../../core/errors.ts';
import {writeFault} from '../../core/util/file-fault.ts';
import type {BenchSettings, SweptName} from '../bench-settings.ts';
import {type ResultObject, timeStamp, withoutDetails} from './result-json.ts';
import type {RunOutcome} from './result-types.ts';

export interface FinishedRun {
  outcome: RunOutcome;
  /** With every list. */
  result: ResultObject;
}

/**
 * Tries every place that results will go to, so that a long run does not end without a file. Leaves no empty files.
 * @throws UsageError that names the flag
 */
export async function checkPlaces({saveResult, appendResult, resultDir, csv, html}: BenchSettings): Promise<void> {
  const places: [string, string | null][] = [
    ['--csv', csv],
    ['--html', html],
    ['--result-dir', saveResult || appendResult ? join(resultDir ?? '.', `.parlance-${process.pid}`) : null],
  ];
  for (const [flag, path] of places) {
    if (path !== null) await tryToWrite(flag, path);
  }
}

async function tryToWrite(flag: string, path: string): Promise<void> {
  try {
    await mkdir(dirname(path), {recursive: true});
    await (await open(path, 'a')).close();
    if ((await stat(path)).size === 0) await unlink(path);
  } catch (cause) {
    const shown = flag === '--result-dir' ? dirname(path) : path;
    throw new UsageError(`${flag} ${shown} cannot be written: ${writeFault(cause)}`, {cause});
  }
}

/** @returns paths that were written */
export async function saveRuns(runs: readonly FinishedRun[]): Promise<string[]> {
  const [first] = runs;
  if (!first) return [];
  const {settings} = first.outcome;
  const paths: string[] = [];
  if (settings.saveResult || settings.appendResult) {
    paths.push(
      ...(settings.sweeps.length === 0 && settings.numRuns === 1 ? await saveOne(first) : await saveSweep(runs)),
    );
  }
  if (settings.csv !== null) paths.push(await write(settings.csv, csvTable(runs.map(({result}) => result))));
  return paths;
}

async function saveOne({outcome, result}: FinishedRun): Promise<string[]> {
  const {settings} = outcome;
  const path = join(settings.resultDir ?? '.', settings.resultFilename ?? fileName(outcome));
  const line = `${JSON.stringify(settings.saveDetailed ? result : withoutDetails(result))}\n`;
  return [await write(path, line, settings.appendResult)];
}

/** `{label|backend}-{rate}qps[-concurrency{N}]-{model without owner}-{time}.json` */
export function fileName({settings, point, target, startedAt}: RunOutcome): string {
  const {ramp} = settings;
  const rate = Number.isFinite(point.requestRate) ? String(point.requestRate) : 'inf';
  const load = ramp === null ? `${rate}qps` : `ramp-up-${ramp.strategy}-${ramp.startRps}qps-${ramp.endRps}qps`;
  const places = Number.isFinite(point.maxConcurrency) ? `-concurrency${point.maxConcurrency}` : '';
  const model = target.modelId.split('/').at(-1) ?? 'model';
  return `${settings.label ?? settings.backend}-${load}${places}-${model}-${timeStamp(startedAt)}.json`;
}

/** A folder for each point, with `run=0.json` … and `summary.json`; a table over all of them at the top. */
async function saveSweep(runs: readonly FinishedRun[]): Promise<string[]> {
  const {settings, startedAt} = runs[0].outcome;
  const top = join(settings.resultDir ?? '.', `${settings.label ?? settings.backend}-${timeStamp(startedAt)}`);
  const paths: string[] = [];
  for (const [name, ofPoint] of groupByPoint(runs)) {
    const results = ofPoint.map(({result}) => (settings.saveDetailed ? result : withoutDetails(result)));
    for (const [index, result] of results.entries()) {
      paths.push(await write(join(top, name, `run=${index}.json`), JSON.stringify(result)));
    }
    paths.push(await write(join(top, name, 'summary.json'), JSON.stringify(results, null, 2)));
  }
  paths.push(await write(join(top, 'summary.csv'), csvTable(runs.map(({result}) => result))));
  return paths;
}

function groupByPoint(runs: readonly FinishedRun[]): Map<string, FinishedRun[]> {
  const groups = new Map<string, FinishedRun[]>();
  for (const run of runs) groups.set(pointName(run), [...(groups.get(pointName(run)) ?? []), run]);
  return groups;
}

function pointName({outcome: {settings, point}}: FinishedRun): string {
  const values: Record<SweptName, number> = {max_concurrency: point.maxConcurrency, request_rate: point.requestRate};
  const swept: readonly SweptName[] = settings.sweeps.length > 0 ? settings.sweeps : ['max_concurrency'];
  const parts = swept.map((name) => `${name}=${Number.isFinite(values[name]) ? values[name] : 'inf'}`);
  return `BENCH-${parts.join('-')}`;
}

/** One row for each run; columns are the keys whose value is no list and no object. */
export function csvTable(results: readonly ResultObject[]): string {
  const keys = [...new Set(results.flatMap((result) => Object.keys(result).filter((key) => isScalar(result[key]))))];
  const rows = results.map((result) => keys.map((key) => csvCell(isScalar(result[key]) ? result[key] : null)));
  return `${[keys.map(csvCell), ...rows].map((cells) => cells.join(',')).join('\n')}\n`;
}

function isScalar(value: unknown): boolean {
  return value === null || (typeof value !== 'object' && value !== undefined);
}

function csvCell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @throws ServingError that names the path */
export async function write(path: string, text: string, appends = false): Promise<string> {
  try {
    await mkdir(dirname(path), {recursive: true});
    await (appends ? appendFile : writeFile)(path, text);
    return path;
  } catch (cause) {
    throw new ServingError(`The result cannot be written to ${path}: ${writeFault(cause)}`, {cause});
  }
}
