/**
 * From the records of a run to its figures. Failed and cancelled requests enter no latency and no throughput. Samples are
 * in milliseconds, throughputs per second; definitions as in `docs/benchmarking.md`.
 */
import {isSuccess, type RequestRecord} from './request-record.ts';
import {type Summary, summarize} from './statistics.ts';

/** Every time that is reported with mean, median, deviation and percentiles. */
export const METRICS = [
  'ttfc',
  'ttft',
  'ttfo',
  'tpot',
  'itl',
  'icl',
  'e2el',
  'client_queue_time',
  'e2el_including_client_queue',
] as const;
export type Metric = (typeof METRICS)[number];

export interface RunFigures {
  durationSeconds: number;
  completed: number;
  failed: number;
  cancelled: number;
  /** As the server counts them, with its chat template. */
  inputTokens: number;
  /** As the data set counts the texts; null when it does not know all of them. */
  plannedInputTokens: number | null;
  outputTokens: number;
  requestThroughput: number;
  outputThroughput: number;
  totalTokenThroughput: number;
  /** Tokens of the busiest second, counted from the first send. */
  peakOutputTokens: number;
  /** As vLLM counts it: a request is there in every second that it touches. */
  peakConcurrency: number;
  /** The most requests that were under way at one moment. */
  maxInFlight: number;
  times: Record<Metric, Summary>;
  samples: Record<Metric, number[]>;
  /** Whether gaps are between tokens, or between events for want of running token counts. */
  itlBasis: 'tokens' | 'events' | 'mixed';
  tokenCountSource: RequestRecord['tokenCountSource'] | 'mixed';
  /** Answers by where their count comes from. */
  tokenCountSources: Record<string, number>;
  finishReasons: Record<string, number>;
  cachedTokens: number;
}

export function figuresOf(records: readonly RequestRecord[], percentiles: readonly number[]): RunFigures {
  const good = records.filter(isSuccess);
  const durationSeconds = durationOf(records);
  const perSecond = (amount: number) => (durationSeconds > 0 ? amount / durationSeconds : 0);
  const inputTokens = sumOf(good, (record) => record.promptTokens ?? record.plannedPromptTokens ?? 0);
  const outputTokens = sumOf(good, numOutputTokens);
  const samples = samplesOf(good);
  return {
    durationSeconds,
    completed: good.length,
    failed: records.filter(({failure, isCancelled}) => failure !== null && !isCancelled).length,
    cancelled: records.filter(({isCancelled}) => isCancelled).length,
    inputTokens,
    plannedInputTokens: plannedInputTokensOf(good),
    outputTokens,
    requestThroughput: perSecond(good.length),
    outputThroughput: perSecond(outputTokens),
    totalTokenThroughput: perSecond(inputTokens + outputTokens),
    peakOutputTokens: peakOutputTokens(good),
    peakConcurrency: peakConcurrency(good),
    maxInFlight: maxInFlight(records),
    times: mapMetrics((metric) => summarize(samples[metric], percentiles)),
    samples,
    itlBasis: commonOf(good.filter(({outputTimesMs}) => outputTimesMs.length > 1).map(gapBasis), 'tokens'),
    tokenCountSource: commonOf(
      good.map(({tokenCountSource}) => tokenCountSource),
      'usage',
    ),
    tokenCountSources: countBy(good.map(({tokenCountSource}) => tokenCountSource)),
    finishReasons: countBy(good.map(({finishReason}) => finishReason ?? 'none')),
    cachedTokens: sumOf(good, ({cachedTokens}) => cachedTokens ?? 0),
  };
}

function plannedInputTokensOf(good: readonly RequestRecord[]): number | null {
  const isKnown = good.every(({plannedPromptTokens, turn}) => plannedPromptTokens !== null && turn === 0);
  return isKnown ? sumOf(good, ({plannedPromptTokens}) => plannedPromptTokens ?? 0) : null;
}

/** Of the server when it tells, else one for each event. */
export function numOutputTokens({completionTokens, outputTimesMs}: RequestRecord): number {
  return completionTokens ?? outputTimesMs.length;
}

export function latencyMs({lastMs, sentMs}: RequestRecord): number {
  return (lastMs ?? sentMs) - sentMs;
}

export function timeToFirstTokenMs({firstMs, sentMs}: RequestRecord): number {
  return (firstMs ?? sentMs) - sentMs;
}

/** Null for answers of one token: there is no gap to divide. */
export function timePerOutputTokenMs(record: RequestRecord): number | null {
  const numTokens = numOutputTokens(record);
  return numTokens > 1 ? (latencyMs(record) - timeToFirstTokenMs(record)) / (numTokens - 1) : null;
}

/** Between events with output, in order. */
export function gapsMs({outputTimesMs}: RequestRecord): number[] {
  return outputTimesMs.slice(1).map((time, index) => time - outputTimesMs[index]);
}

/** Between tokens: the gap before an event of k tokens counts as k gaps, further tokens of the first event as none. */
export function tokenGapsMs(record: RequestRecord): number[] {
  if (gapBasis(record) === 'events') return gapsMs(record);
  const [first, ...rest] = record.chunkTokens as number[];
  const gaps = gapsMs(record);
  const ofFirst = new Array<number>(Math.max((first ?? 1) - 1, 0)).fill(0);
  return [...ofFirst, ...rest.flatMap((numTokens, index) => split(gaps[index], numTokens))];
}

/** An event without a token of its own, such as text that was held back, adds its gap all the same. */
function split(gap: number, numTokens: number): number[] {
  const parts = Math.max(numTokens, 1);
  return new Array<number>(parts).fill(gap / parts);
}

function gapBasis({chunkTokens}: RequestRecord): 'tokens' | 'events' {
  return chunkTokens.every((numTokens) => numTokens !== null) ? 'tokens' : 'events';
}

function samplesOf(good: readonly RequestRecord[]): Record<Metric, number[]> {
  const after = (momentOf: (record: RequestRecord) => number | null) =>
    good.flatMap((record) => (momentOf(record) === null ? [] : [(momentOf(record) as number) - record.sentMs]));
  return {
    ttfc: after(({firstChunkMs}) => firstChunkMs),
    ttft: good.map(timeToFirstTokenMs),
    ttfo: after(({firstAnswerMs, hasReasoning}) => (hasReasoning ? firstAnswerMs : null)),
    tpot: good.flatMap((record) => timePerOutputTokenMs(record) ?? []),
    itl: good.flatMap(tokenGapsMs),
    icl: good.flatMap(gapsMs),
    e2el: good.map(latencyMs),
    client_queue_time: good.map(({sentMs, plannedMs}) => sentMs - plannedMs),
    e2el_including_client_queue: good.map((record) => latencyMs(record) + record.sentMs - record.plannedMs),
  };
}

/** From the first planned send to the end of the last request that ended by itself: cancelled ones add waiting only. */
function durationOf(records: readonly RequestRecord[]): number {
  const ended = records.filter(({isCancelled}) => !isCancelled);
  if (ended.length === 0) return 0;
  const start = minOf(records, ({plannedMs}) => plannedMs);
  return (maxOf(ended, ({endedMs}) => endedMs) - start) / 1000;
}

function peakOutputTokens(good: readonly RequestRecord[]): number {
  const start = minOf(good, ({sentMs}) => sentMs);
  const perSecond = new Map<number, number>();
  for (const {outputTimesMs, chunkTokens} of good) {
    for (const [index, time] of outputTimesMs.entries()) {
      const second = Math.floor((time - start) / 1000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + (chunkTokens[index] ?? 1));
    }
  }
  return Math.max(0, ...perSecond.values());
}

function peakConcurrency(good: readonly RequestRecord[]): number {
  const start = minOf(good, ({sentMs}) => sentMs);
  const perSecond = new Map<number, number>();
  for (const record of good) {
    const from = Math.floor((record.sentMs - start) / 1000);
    const to = Math.floor((record.sentMs + latencyMs(record) - start) / 1000);
    for (let second = from; second <= to; second++) perSecond.set(second, (perSecond.get(second) ?? 0) + 1);
  }
  return Math.max(0, ...perSecond.values());
}

function maxInFlight(records: readonly RequestRecord[]): number {
  const changes = records.flatMap(({sentMs, endedMs}) => [
    {at: sentMs, by: 1},
    {at: endedMs, by: -1},
  ]);
  // What ends at the same moment makes room before something begins.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let inFlight = 0;
  return changes.reduce((most, {by}) => {
    inFlight += by;
    return Math.max(most, inFlight);
  }, 0);
}

function mapMetrics<T>(makeValue: (metric: Metric) => T): Record<Metric, T> {
  return Object.fromEntries(METRICS.map((metric) => [metric, makeValue(metric)])) as Record<Metric, T>;
}

/** The one value that all have, or `mixed`. */
function commonOf<T extends string>(values: readonly T[], whenEmpty: T): T | 'mixed' {
  const different = new Set(values);
  if (different.size === 0) return whenEmpty;
  return different.size === 1 ? (values[0] as T) : 'mixed';
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

function sumOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((total, item) => total + numberOf(item), 0);
}

function minOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((least, item) => Math.min(least, numberOf(item)), Number.POSITIVE_INFINITY);
}

function maxOf<T>(items: readonly T[], numberOf: (item: T) => number): number {
  return items.reduce((most, item) => Math.max(most, numberOf(item)), Number.NEGATIVE_INFINITY);
}
