/**
 * The result of a run as the JSON object that `vllm bench serve --save-result` writes: same keys, same order, same units,
 * so that tools for its files read ours. What is ours comes after.
 */
import {availableParallelism, cpus, platform, release} from 'node:os';
import {rateAt} from '../load/arrivals.ts';
import {gapsMs, latencyMs, METRICS, type Metric, numOutputTokens, timeToFirstTokenMs} from '../metrics.ts';
import {isSuccess, type RequestRecord} from '../request-record.ts';
import {speculationOf} from '../target/server-metrics.ts';
import {shownMetrics} from './console-table.ts';
import {percentileName} from './percentile-name.ts';
import type {RunOutcome} from './result-types.ts';

export type ResultObject = Record<string, unknown>;

const schemaVersion = 1;

/** Lists that only `--save-detailed` keeps; `latencies` and `queue_times` always stay, as in vLLM. */
const detailKeys = [
  'input_lens',
  'output_lens',
  'start_times',
  'ttfts',
  'itls',
  'generated_texts',
  'errors',
  'chunk_tokens',
  'requests',
];

/** With every list. */
export function resultObject(outcome: RunOutcome, version: string): ResultObject {
  return {
    ...identity(outcome),
    ...totals(outcome),
    ...requestLists(outcome.records),
    max_output_tokens_per_s: outcome.figures.peakOutputTokens,
    max_concurrent_requests: outcome.figures.peakConcurrency,
    rtfx: 0,
    ...probeEntries(outcome),
    ...rateChanges(outcome),
    ...speculationEntries(outcome),
    ...contractStatistics(outcome),
    ...ours(outcome, version),
  };
}

export function withoutDetails(result: ResultObject): ResultObject {
  return Object.fromEntries(Object.entries(result).filter(([key]) => !detailKeys.includes(key)));
}

function identity({startedAt, settings, target, tokenizerId, numPrompts, point}: RunOutcome): ResultObject {
  const {ramp} = settings;
  return {
    date: timeStamp(startedAt),
    endpoint_type: settings.backend,
    backend: settings.backend,
    label: settings.label,
    model_id: target.modelId,
    tokenizer_id: tokenizerId,
    num_prompts: numPrompts,
    ...Object.fromEntries(settings.metadata),
    request_rate: finiteOrText(point.requestRate),
    burstiness: finiteOrText(settings.burstiness),
    max_concurrency: Number.isFinite(point.maxConcurrency) ? point.maxConcurrency : null,
    ...(ramp !== null && {
      ramp_up_strategy: ramp.strategy,
      ramp_up_start_rps: ramp.startRps,
      ramp_up_end_rps: ramp.endRps,
    }),
  };
}

/** `20261130-074512`, local time. */
export function timeStamp(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
  return `${day}-${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`;
}

/** JSON has no infinity. */
function finiteOrText(value: number): number | 'inf' {
  return Number.isFinite(value) ? value : 'inf';
}

function totals({figures, goodput}: RunOutcome): ResultObject {
  return {
    duration: figures.durationSeconds,
    completed: figures.completed,
    failed: figures.failed,
    total_input_tokens: figures.inputTokens,
    total_output_tokens: figures.outputTokens,
    request_throughput: figures.requestThroughput,
    request_goodput: goodput?.requestGoodput ?? null,
    output_throughput: figures.outputThroughput,
    total_token_throughput: figures.totalTokenThroughput,
  };
}

/** One entry for each request in the order of the plan, in seconds; failed ones are zeros. */
function requestLists(records: readonly RequestRecord[]): ResultObject {
  const listOf = <T>(whenGood: (record: RequestRecord) => T, otherwise: T) =>
    records.map((record) => (isSuccess(record) ? whenGood(record) : otherwise));
  return {
    input_lens: records.map(({promptTokens, plannedPromptTokens}) => promptTokens ?? plannedPromptTokens ?? 0),
    output_lens: listOf(numOutputTokens, 0),
    ttfts: listOf((record) => seconds(timeToFirstTokenMs(record)), 0),
    itls: listOf<number[]>((record) => gapsMs(record).map(seconds), []),
    latencies: listOf((record) => seconds(latencyMs(record)), 0),
    start_times: records.map(({sentMs}) => seconds(sentMs)),
    queue_times: records.map(({sentMs, plannedMs}) => seconds(sentMs - plannedMs)),
    generated_texts: listOf(({content, reasoning}) => (content === '' ? reasoning : content), ''),
    errors: records.map(errorText),
  };
}

function errorText({failure, isCancelled}: RequestRecord): string {
  if (isCancelled) return 'cancelled';
  return failure === null ? '' : `${failure.type}: ${failure.message}`;
}

function seconds(ms: number): number {
  return ms / 1000;
}

function probeEntries({probe}: RunOutcome): ResultObject {
  if (probe === null) return {};
  return {
    probe_completed: probe.completed,
    probe_failed: probe.failed,
    probe_median_e2el_ms: probe.medianMs,
    probe_p99_e2el_ms: probe.p99Ms,
    probe_max_e2el_ms: probe.maxMs,
  };
}

/** When a ramp came to each further whole number of requests per second. */
function rateChanges({settings: {ramp}, records, numPrompts}: RunOutcome): ResultObject {
  if (ramp === null) return {};
  let reached = Math.floor(ramp.startRps) - 1;
  const begins = records.filter(({turn}) => turn === 0);
  const changes = begins.flatMap(({plannedMs}, place) => {
    const from = reached + 1;
    reached = Math.max(reached, Math.floor(rateAt(ramp, place, numPrompts)));
    const timestamp = new Date(plannedMs).toISOString();
    return Array.from({length: reached - from + 1}, (_, step) => ({rps: from + step, timestamp}));
  });
  return {rps_change_events: changes};
}

/** In vLLM's names, when the server speculates. */
function speculationEntries({serverMetrics}: RunOutcome): ResultObject {
  const speculation = speculationOf(serverMetrics);
  if (speculation === null) return {};
  return {
    spec_decode_acceptance_rate: speculation.acceptanceRate,
    spec_decode_acceptance_length: speculation.acceptanceLength,
    spec_decode_num_drafts: speculation.numDrafts,
    spec_decode_draft_tokens: speculation.draftTokens,
    spec_decode_accepted_tokens: speculation.acceptedTokens,
    spec_decode_per_position_acceptance_rates: speculation.ratesByPosition,
  };
}

/** The metrics of vLLM, each with mean, median, deviation and the percentiles that were asked for. */
function contractStatistics(outcome: RunOutcome): ResultObject {
  const entries = contractMetrics(outcome).flatMap((metric) => {
    const {mean, median, std, percentiles} = outcome.figures.times[metric];
    const asked = outcome.settings.percentiles.map(
      (percentile) => [`${percentileName(percentile)}_${metric}_ms`, percentiles.get(percentile) ?? 0] as const,
    );
    return [[`mean_${metric}_ms`, mean], [`median_${metric}_ms`, median], [`std_${metric}_ms`, std], ...asked] as const;
  });
  return Object.fromEntries(entries);
}

const ownMetrics: readonly Metric[] = ['ttfc', 'ttfo', 'icl'];

function contractMetrics(outcome: RunOutcome): Metric[] {
  const shown = shownMetrics(outcome);
  return METRICS.filter((metric) => !ownMetrics.includes(metric) && shown.includes(metric));
}

function ours(outcome: RunOutcome, version: string): ResultObject {
  const {figures, records, settings, goodput, failures} = outcome;
  return {
    tool_version: version,
    schema_version: schemaVersion,
    seed: outcome.seed,
    valid: outcome.isValid,
    interrupted: outcome.isInterrupted,
    cancelled: figures.cancelled,
    failures: Object.fromEntries(
      failures.map(({type, count, examples, hint, firstAtSeconds}) => [
        type,
        {count, examples, hint, first_at_s: firstAtSeconds},
      ]),
    ),
    token_count_source: figures.tokenCountSource,
    token_count_sources: figures.tokenCountSources,
    planned_input_tokens: figures.plannedInputTokens,
    itl_basis: figures.itlBasis,
    slo: goodput === null ? null : settings.limits,
    slo_attainment: goodput?.attainment ?? null,
    max_in_flight: figures.maxInFlight,
    achieved_request_rate: outcome.achievedRate,
    ...ownStatistics(outcome),
    finish_reasons: figures.finishReasons,
    cached_tokens: figures.cachedTokens,
    warnings: outcome.warnings,
    client: clientObject(outcome),
    server_metrics: outcome.serverMetrics,
    environment: environment(outcome),
    settings: shownSettings(outcome),
    chunk_tokens: records.map(({chunkTokens}) => chunkTokens.slice(1)),
    requests: records.map(requestSummary),
  };
}

/** Percentiles that are always there, maxima, and the metrics of ours; keys that vLLM has keep their place. */
function ownStatistics({figures}: RunOutcome): ResultObject {
  const entries = METRICS.flatMap((metric) => {
    const {mean, median, std, max, percentiles} = figures.times[metric];
    const named = {mean, median, std, ...percentileEntries(percentiles), max};
    return Object.entries(named).map(([name, value]) => [`${name}_${metric}_ms`, value] as const);
  });
  return Object.fromEntries(entries);
}

function percentileEntries(percentiles: ReadonlyMap<number, number>): Record<string, number> {
  return Object.fromEntries([...percentiles].map(([percentile, value]) => [percentileName(percentile), value]));
}

function clientObject({health}: RunOutcome): ResultObject {
  const {thread} = health;
  return {
    client_cpu_percent: health.cpuPercent,
    client_busiest_thread_percent: thread.cpuPercent,
    client_run_queue_wait_percent: thread.runQueueWaitPercent,
    client_event_loop_delay_p99_ms: thread.loopDelayP99Ms,
    client_gc_pause_ms: thread.gcPauseMs,
    client_step_cost_ms: health.stepCostMs,
    client_workers: health.numWorkers,
    client_verdict: health.verdict,
  };
}

function environment({target}: RunOutcome): ResultObject {
  return {
    cpu: cpus()[0]?.model ?? null,
    cores: availableParallelism(),
    node: process.version,
    os: `${platform()} ${release()}`,
    server: target.baseUrl,
    server_version: target.serverVersion,
  };
}

/** As given, without secrets. */
function shownSettings({settings}: RunOutcome): ResultObject {
  const {headers, apiKey, header: _header, points: _points, ...rest} = settings as typeof settings & {header?: unknown};
  const hidden = Object.fromEntries(Object.keys(headers).map((name) => [name, '***']));
  return {
    ...rest,
    burstiness: finiteOrText(settings.burstiness),
    headers: hidden,
    apiKey: apiKey === null ? null : '***',
  };
}

/** What ties a request to its entry in the data set. */
function requestSummary({index, requestId, sourceId, turn, status, finishReason, toolCalls, reasoning}: RequestRecord) {
  return {
    index,
    request_id: requestId,
    id: sourceId,
    turn,
    status,
    finish_reason: finishReason,
    reasoning,
    tool_calls: toolCalls,
  };
}
