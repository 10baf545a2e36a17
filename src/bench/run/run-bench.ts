/**
 * `parlance bench` from its options to its exit code: finds or starts the server, makes the runs, writes the reports, and
 * judges them by the limits that were given.
 */
import {ServingError} from '../../core/errors.ts';
import type {BenchOptions} from '../bench-options.ts';
import {type BenchSettings, type LoadPoint, readSettings} from '../bench-settings.ts';
import {estimatingTokenizer, findTokenizer} from '../datasets/prompt-tokenizer.ts';
import {missedAssertions} from '../report/assertions.ts';
import {compareResults, comparisonTable, readResult} from '../report/compare.ts';
import {consoleTable} from '../report/console-table.ts';
import {htmlPage} from '../report/html/html-page.ts';
import {openRequestLines} from '../report/request-lines.ts';
import {checkPlaces, type FinishedRun, fileName, saveRuns, write} from '../report/result-files.ts';
import {resultObject, withoutDetails} from '../report/result-json.ts';
import {sweepTable} from '../report/sweep-table.ts';
import {checkLengths, findTarget} from '../target/find-target.ts';
import type {HttpClient} from '../target/http-client.ts';
import type {BenchContext} from './bench-context.ts';
import type {BenchTerminal} from './bench-terminal.ts';
import {type Connection, connect} from './connect.ts';
import {findMaxRate} from './find-max-rate.ts';
import {probeEndpoint} from './probe-endpoint.ts';
import type {UsageDetail} from './request-bodies.ts';
import {runPoint} from './run-point.ts';

export const exitCodes = {good: 0, failed: 1, missedLimit: 3, SIGINT: 130, SIGTERM: 143} as const;

/** Reasons of the interrupting signal. */
export type Interruption = 'SIGINT' | 'SIGTERM';

export interface BenchFlags {
  /** One JSON document on stdout in place of tables. */
  json: boolean;
}

/** @throws UsageError, ServingError */
export async function runBench(options: BenchOptions, {json}: BenchFlags, terminal: BenchTerminal): Promise<number> {
  const settings = readSettings(options);
  if (settings.compare.length > 0) return compareFiles(settings, json, terminal);
  await checkPlaces(settings);
  const quiet = settings.quiet ? {...terminal, note() {}} : terminal;
  try {
    return await runOn(settings, {json}, quiet);
  } catch (error) {
    const {aborted, reason} = terminal.interrupt;
    if (aborted && error === reason) return exitCodes[reason as Interruption];
    throw error;
  }
}

async function runOn(settings: BenchSettings, flags: BenchFlags, terminal: BenchTerminal): Promise<number> {
  const {interrupt} = terminal;
  const connection = await orInterruption(connect(settings, terminal), interrupt);
  const lines = openRequestLines(settings.saveRequests, (fault) => terminal.note(`Warning: ${fault}`));
  try {
    const context = await orInterruption(makeContext(settings, connection, terminal), interrupt);
    interrupt.throwIfAborted();
    const results = await makeRuns({...context, onRecord: lines.write}, flags.json);
    return await report(results, settings, flags, terminal);
  } finally {
    lines.close();
    await connection.close();
  }
}

/** What fails behind Ctrl-C was broken off by it. */
function orInterruption<T>(work: Promise<T>, interrupt: AbortSignal): Promise<T> {
  return work.catch((error) => {
    interrupt.throwIfAborted();
    throw error;
  });
}

async function makeContext(settings: BenchSettings, connection: Connection, terminal: BenchTerminal) {
  const {client, isStarted} = connection;
  const target = await findTarget(settings, client);
  const lengths = lengthsFor(settings, isStarted);
  if (settings.datasetName === 'random')
    checkLengths(target, {...lengths, input: lengths.input + settings.randomPrefixLen});
  if (target.listedModels?.includes(target.model) === false)
    terminal.note(`Note: the server does not list ${target.model}; it may refuse to answer`);
  terminal.note(`Measuring ${target.url}, model ${target.model || '-'}, seed ${settings.seed}`);
  if (settings.temperature === null && settings.backend !== 'http')
    terminal.note('No --temperature is given, so the server decides how tokens are sampled');
  const choice = {
    named: settings.tokenizer,
    skips: settings.skipTokenizerInit,
    isEmbedded: connection.isEmbedded,
    model: target.model,
  };
  const tokenizer =
    settings.backend === 'http'
      ? estimatingTokenizer
      : await findTokenizer(choice, client, (line) => terminal.note(`Note: ${line}`));
  const usageDetail = await decideUsageDetail(settings, client, target, terminal);
  return {settings, target, client, tokenizer, lengths, usageDetail, terminal};
}

/** Shorter for a server that bench starts itself: it is small, and so is the machine. */
const contractLengths = {input: 1024, output: 128};
const startedLengths = {input: 128, output: 64};

function lengthsFor({inputLen, outputLen, randomInputLen, randomOutputLen}: BenchSettings, isStarted: boolean) {
  const defaults = isStarted ? startedLengths : contractLengths;
  return {input: inputLen ?? randomInputLen ?? defaults.input, output: outputLen ?? randomOutputLen ?? defaults.output};
}

const detailOfChoice = {on: 'every-event', off: 'at-end'} as const;
const notesOfDetail: Readonly<Record<UsageDetail, string | null>> = {
  'every-event': null,
  'at-end': 'the server refuses token counts in every event, so gaps are between events',
  none: 'the server refuses to tell token counts',
};

async function decideUsageDetail(
  settings: BenchSettings,
  client: HttpClient,
  target: BenchContext['target'],
  terminal: BenchTerminal,
): Promise<UsageDetail> {
  if (settings.backend === 'http') return 'none';
  if (settings.chunkUsage !== 'auto') return detailOfChoice[settings.chunkUsage];
  const detail = await probeEndpoint(client, target, {settings, model: target.model, ignoresEos: false, idPrefix: ''});
  const note = notesOfDetail[detail];
  if (note !== null) terminal.note(`Note: ${note}`);
  return detail;
}

interface Results {
  runs: FinishedRun[];
  /** What `--find-max-rate` found: null = no rate meets the limits; absent when it was not looked for. */
  maxRate?: number | null | undefined;
}

/** All runs of the command, one after the other; an interrupt ends with the one that is under way. */
async function makeRuns(context: BenchContext, json: boolean): Promise<Results> {
  const {settings, terminal} = context;
  const runs: FinishedRun[] = [];
  const runOne = async (point: LoadPoint) => {
    const makeRun = settings.backend === 'http' ? (await import('./run-http-point.ts')).runHttpPoint : runPoint;
    const outcome = await makeRun(context, point, settings.seed + runs.length);
    const run = {outcome, result: resultObject(outcome, terminal.version)};
    runs.push(run);
    if (!json && !settings.quiet) for (const line of consoleTable(outcome, terminal.columns)) terminal.result(line);
    return run;
  };
  if (settings.findMaxRate) return {runs, maxRate: await searchRate(settings, runOne, terminal)};
  await runAll(settings, runOne, terminal);
  return {runs};
}

async function runAll(
  {points, numRuns}: BenchSettings,
  runOne: (point: LoadPoint) => Promise<FinishedRun>,
  terminal: BenchTerminal,
): Promise<void> {
  for (const point of points) {
    for (let repetition = 0; repetition < numRuns; repetition++) {
      if (terminal.interrupt.aborted) return;
      await runOne(point);
    }
  }
}

const defaultGoodputMin = 0.95;

async function searchRate(
  {points, goodputMin}: BenchSettings,
  runOne: (point: LoadPoint) => Promise<FinishedRun>,
  terminal: BenchTerminal,
): Promise<number | null> {
  const wanted = goodputMin ?? defaultGoodputMin;
  return findMaxRate(async (requestRate) => {
    if (terminal.interrupt.aborted) return false;
    const {outcome} = await runOne({maxConcurrency: points[0].maxConcurrency, requestRate});
    return (outcome.goodput?.attainment ?? 0) >= wanted;
  });
}

async function report(
  {runs, maxRate}: Results,
  settings: BenchSettings,
  {json}: BenchFlags,
  terminal: BenchTerminal,
): Promise<number> {
  for (const path of await saveRuns(runs)) terminal.note(`Wrote ${path}`);
  for (const path of htmlPaths(settings, runs)) terminal.note(`Wrote ${await write(path, htmlPage(runs))}`);
  if (json) terminal.result(JSON.stringify(jsonDocument(runs, maxRate)));
  else if (!settings.quiet) for (const line of summary({runs, maxRate}, terminal)) terminal.result(line);
  return judge({runs, maxRate}, settings, terminal);
}

/** Behind the tables of several runs. */
function summary({runs, maxRate}: Results, {columns}: BenchTerminal): string[] {
  return [
    ...(runs.length > 1 ? sweepTable(runs, columns) : []),
    ...(maxRate === undefined ? [] : [maxRateText(maxRate)]),
  ];
}

function maxRateText(rate: number | null): string {
  return rate === null ? 'No rate meets the limits.' : `Highest rate that meets the limits: ${rate} requests a second`;
}

function htmlPaths({html, plotTimeline, resultDir}: BenchSettings, runs: readonly FinishedRun[]): string[] {
  const beside = `${resultDir ?? '.'}/${fileName(runs[0].outcome).replace(/\.json$/, '.html')}`;
  return [...(html === null ? [] : [html]), ...(plotTimeline ? [beside] : [])];
}

/** The result of a single run, a list of them, or what a search found with all of its runs. */
function jsonDocument(runs: readonly FinishedRun[], maxRate: Results['maxRate']): unknown {
  const results = runs.map(({outcome, result}) => (outcome.settings.saveDetailed ? result : withoutDetails(result)));
  if (maxRate !== undefined) return {max_request_rate: maxRate, runs: results};
  return results.length === 1 ? results[0] : results;
}

/** A search goes to where requests miss their limits or fail, so only what it found counts. */
function judge({runs, maxRate}: Results, settings: BenchSettings, terminal: BenchTerminal): number {
  if (terminal.interrupt.aborted) return exitCodes[terminal.interrupt.reason as Interruption];
  if (typeof maxRate === 'number') return exitCodes.good;
  if (runs.every(({outcome}) => outcome.figures.completed === 0)) return exitCodes.failed;
  if (maxRate === null) return exitCodes.missedLimit;
  if (runs.some(({outcome}) => outcome.figures.failed > 0 || outcome.figures.completed === 0)) return exitCodes.failed;
  const missed = runs.flatMap((run) => [...missedAssertions(settings.assertions, run.result), ...missedGoodput(run)]);
  for (const line of missed) terminal.note(`Missed: ${line}`);
  return missed.length > 0 ? exitCodes.missedLimit : exitCodes.good;
}

function missedGoodput({outcome: {goodput, settings}}: FinishedRun): string[] {
  if (goodput === null || settings.goodputMin === null || goodput.attainment >= settings.goodputMin) return [];
  return [`--goodput-min ${settings.goodputMin}: ${goodput.attainment.toFixed(4)} of the requests are good`];
}

async function compareFiles(
  {compare, assertions}: BenchSettings,
  json: boolean,
  terminal: BenchTerminal,
): Promise<number> {
  const [before, after] = await Promise.all(compare.map(readResult));
  const rows = compareResults(before, after);
  if (rows.length === 0) throw new ServingError('The two results have no figure in common');
  for (const line of json ? [JSON.stringify(rows)] : comparisonTable(rows)) terminal.result(line);
  const missed = missedAssertions(assertions, after);
  for (const line of missed) terminal.note(`Missed: ${line}`);
  return missed.length > 0 ? exitCodes.missedLimit : exitCodes.good;
}
