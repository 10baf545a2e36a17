/** From what a run left to what it means: figures, goodput, failures by type, warnings, and whether it is valid at all. */
import type {Limits, LoadPoint} from '../bench-settings.ts';
import type {ProbeFigures} from '../load/probe.ts';
import {failuresOfLostServer} from '../load/run-load.ts';
import type {ThreadHealth} from '../load/thread-meter.ts';
import {
  figuresOf,
  latencyMs,
  type Metric,
  numOutputTokens,
  type RunFigures,
  timePerOutputTokenMs,
  timeToFirstTokenMs,
  tokenGapsMs,
} from '../metrics.ts';
import type {FailureGroup, RunOutcome} from '../report/result-types.ts';
import {isSuccess, type RequestRecord} from '../request-record.ts';
import {type AskedServer, failureHint} from '../target/fault-hints.ts';
import type {ServerMetrics} from '../target/server-metrics.ts';
import type {BenchContext} from './bench-context.ts';
import {type ClientHealth, clientHealth, type ProcessTimes} from './client-health.ts';

export interface RawOutcome extends Pick<BenchContext, 'settings' | 'target' | 'tokenizer'> {
  point: LoadPoint;
  seed: number;
  startedAt: Date;
  numPrompts: number;
  ignoresEos: boolean;
  records: RequestRecord[];
  thread: ThreadHealth;
  processTimes: ProcessTimes;
  numWorkers: number;
  serverMetrics: ServerMetrics | null;
  probe: ProbeFigures | null;
  isInterrupted: boolean;
}

/** Always computed, beside the ones that were asked for. */
const standardPercentiles = [50, 90, 99];

export function makeOutcome(raw: RawOutcome): RunOutcome {
  const {settings, records, point, tokenizer} = raw;
  const figures = figuresOf(records, [...new Set([...settings.percentiles, ...standardPercentiles])]);
  const health = clientHealth(raw.processTimes, raw.thread, figures, raw.numWorkers);
  const achievedRate = rateOf(records);
  return {
    settings,
    point,
    seed: raw.seed,
    target: raw.target,
    tokenizerId: tokenizer.id,
    startedAt: raw.startedAt,
    numPrompts: raw.numPrompts,
    records,
    figures,
    goodput: goodputOf(records, settings.limits, figures),
    failures: failureGroups(records, {...raw.target, hasKey: 'authorization' in settings.headers}),
    health,
    serverMetrics: raw.serverMetrics,
    probe: raw.probe,
    isInterrupted: raw.isInterrupted,
    isValid: health.verdict !== 'distorted',
    achievedRate,
    warnings: warningsOf(raw, figures, health, achievedRate),
  };
}

export function goodputOf(
  records: readonly RequestRecord[],
  limits: Limits,
  figures: RunFigures,
): RunOutcome['goodput'] {
  if (Object.keys(limits).length === 0) return null;
  const good = records.filter((record) => isSuccess(record) && meets(record, limits)).length;
  const judged = figures.completed + figures.failed;
  return {
    good,
    requestGoodput: figures.durationSeconds > 0 ? good / figures.durationSeconds : 0,
    attainment: judged === 0 ? 0 : good / judged,
  };
}

/** Values of one request by metric; a request without a sample counts as 0. */
const valuesOf: Partial<Record<Metric, (record: RequestRecord) => number>> = {
  ttft: timeToFirstTokenMs,
  tpot: (record) => timePerOutputTokenMs(record) ?? 0,
  e2el: latencyMs,
  itl: (record) => tokenGapsMs(record).reduce((most, gap) => Math.max(most, gap), 0),
  ttfo: ({firstAnswerMs, sentMs}) => (firstAnswerMs ?? sentMs) - sentMs,
};

function meets(record: RequestRecord, limits: Limits): boolean {
  return Object.entries(limits).every(([metric, limit]) => (valuesOf[metric as Metric]?.(record) ?? 0) <= limit);
}

const mostExamples = 3;

/** What failed by type, the most frequent first; what we gave up ourselves is no failure. */
export function failureGroups(records: readonly RequestRecord[], asked: AskedServer): FailureGroup[] {
  const startMs = records.reduce((least, {plannedMs}) => Math.min(least, plannedMs), Number.POSITIVE_INFINITY);
  const groups = new Map<string, FailureGroup>();
  const failed = records.filter(({failure, isCancelled}) => failure !== null && !isCancelled);
  for (const {failure, endedMs} of failed) {
    if (failure === null) continue;
    const firstAtSeconds = (endedMs - startMs) / 1000;
    const hint = failureHint(failure.type, failure.message, asked);
    const group = groups.get(failure.type) ?? {type: failure.type, count: 0, examples: [], hint, firstAtSeconds};
    groups.set(failure.type, group);
    group.count++;
    group.firstAtSeconds = Math.min(group.firstAtSeconds, firstAtSeconds);
    if (group.examples.length < mostExamples && !group.examples.includes(failure.message))
      group.examples.push(failure.message);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

/** Sends per second between the first and the last; 0 when they are too few to tell. */
function rateOf(records: readonly RequestRecord[]): number {
  const sends = records.map(({sentMs}) => sentMs).sort((a, b) => a - b);
  const seconds = sends.length < 2 ? 0 : (sends[sends.length - 1] - sends[0]) / 1000;
  return seconds > 0 ? (sends.length - 1) / seconds : 0;
}

/** The rate that the plan itself has between its first and its last request. */
function plannedRateOf(records: readonly RequestRecord[]): number {
  const planned = records.map(({plannedMs}) => plannedMs).sort((a, b) => a - b);
  const seconds = planned.length < 2 ? 0 : (planned[planned.length - 1] - planned[0]) / 1000;
  return seconds > 0 ? (planned.length - 1) / seconds : 0;
}

const toleratedRateLoss = 0.02;
const toleratedPromptDifference = 0.02;
/** A median gap below this share of the mean means that events come in bursts. */
const burstShare = 0.2;

function warningsOf(raw: RawOutcome, figures: RunFigures, health: ClientHealth, achievedRate: number): string[] {
  const good = raw.records.filter(isSuccess);
  return [
    ...interruptionWarning(raw),
    ...lostServerWarning(raw),
    ...rateWarning(raw, health, achievedRate),
    ...lengthWarning(raw, good),
    ...promptWarning(good, raw.tokenizer.source),
    ...burstWarning(figures),
    ...onePieceWarning(good),
    ...countWarning(figures),
    ...warmupWarning(raw),
  ];
}

function interruptionWarning({isInterrupted, records, numPrompts}: RawOutcome): string[] {
  if (!isInterrupted) return [];
  const numBegun = records.filter(({turn}) => turn === 0).length;
  return [`This run was interrupted after ${numBegun} of ${numPrompts} requests; the figures are of those`];
}

function lostServerWarning({records}: RawOutcome): string[] {
  const latest = [...records].sort((a, b) => a.endedMs - b.endedMs).slice(-failuresOfLostServer);
  const isLost = latest.length === failuresOfLostServer && latest.every(({failure}) => failure?.type === 'connect');
  return isLost
    ? [`The server was gone: ${failuresOfLostServer} connections in a row failed, so no more were tried`]
    : [];
}

function rateWarning({point, records}: RawOutcome, {verdict}: ClientHealth, achievedRate: number): string[] {
  const plannedRate = plannedRateOf(records);
  if (!Number.isFinite(point.requestRate) || achievedRate >= plannedRate * (1 - toleratedRateLoss)) return [];
  const hadPlaces = verdict !== 'ok' || !Number.isFinite(point.maxConcurrency);
  const cause = hadPlaces ? 'this machine was too busy' : 'all places of --max-concurrency were taken';
  return [`Requests went out at ${achievedRate.toFixed(2)} a second, ${plannedRate.toFixed(2)} were planned: ${cause}`];
}

function lengthWarning({ignoresEos}: RawOutcome, good: readonly RequestRecord[]): string[] {
  if (!ignoresEos) return [];
  const others = good.filter(
    (record) => record.plannedOutputTokens !== null && numOutputTokens(record) !== record.plannedOutputTokens,
  );
  return others.length === 0
    ? []
    : [`${others.length} of ${good.length} answers have another length than was asked for`];
}

function promptWarning(good: readonly RequestRecord[], source: string): string[] {
  const known = good.filter(
    ({promptTokens, plannedPromptTokens, turn}) => promptTokens !== null && plannedPromptTokens !== null && turn === 0,
  );
  if (known.length === 0 || source === 'estimate') return [];
  const seen = known.reduce((total, {promptTokens}) => total + (promptTokens ?? 0), 0) / known.length;
  const wanted = known.reduce((total, {plannedPromptTokens}) => total + (plannedPromptTokens ?? 0), 0) / known.length;
  if (Math.abs(seen - wanted) <= wanted * toleratedPromptDifference) return [];
  return [
    `Prompts have ${seen.toFixed(1)} tokens on the server and ${wanted.toFixed(1)} in the data set; the chat template adds some`,
  ];
}

function burstWarning({times, completed}: RunFigures): string[] {
  const {mean, median} = times.icl;
  if (completed === 0 || mean < 1 || median >= mean * burstShare) return [];
  return [
    `Events come in bursts: the median gap between them is ${median.toFixed(2)} ms, the mean ${mean.toFixed(2)} ms`,
  ];
}

/** Events of an answer that lie closer together than this came at once. */
const onePieceMs = 1;

function onePieceWarning(good: readonly RequestRecord[]): string[] {
  const streamed = good.filter(({outputTimesMs}) => outputTimesMs.length > 2);
  const inOnePiece = streamed.filter((record) => latencyMs(record) - timeToFirstTokenMs(record) < onePieceMs);
  if (inOnePiece.length === 0 || inOnePiece.length < streamed.length / 2) return [];
  return [
    `${inOnePiece.length} of ${good.length} answers came in one piece: the server, or a proxy before it, holds streams back, so times to the first token are those of whole answers`,
  ];
}

function countWarning({tokenCountSource, itlBasis, completed}: RunFigures): string[] {
  if (completed === 0) return [];
  const notes: Record<string, string> = {
    events: 'The server told no token counts: each event counts as one token, so figures per token are estimates',
    tokenizer: 'The server told no token counts: answers were counted with the tokenizer',
    mixed: 'Not all answers came with token counts: the others are counted another way',
  };
  const note = notes[tokenCountSource];
  if (note !== undefined) return [note];
  return itlBasis === 'tokens' ? [] : ['Gaps are between events: the server told no running token counts'];
}

function warmupWarning({settings, point}: RawOutcome): string[] {
  const {numWarmups} = settings;
  const isShort =
    numWarmups !== null && numWarmups > 0 && Number.isFinite(point.maxConcurrency) && numWarmups < point.maxConcurrency;
  return isShort ? [`${numWarmups} warm-ups open fewer connections than the ${point.maxConcurrency} of the run`] : [];
}
