/**
 * The result as a table in the layout of `vllm bench serve`, which scripts parse: 50 columns, labels of 40, values of 10
 * with two decimals. Sections of our own come after those of vLLM.
 */
import {wrapWords} from '../../core/util/wrap-words.ts';
import type {Metric} from '../metrics.ts';
import type {Summary} from '../statistics.ts';
import {speculationOf} from '../target/server-metrics.ts';
import {percentileName} from './percentile-name.ts';
import type {RunOutcome} from './result-types.ts';

const width = 50;
const labelWidth = 40;
const valueWidth = 10;

const titles: Readonly<Record<Metric, {heading: string; short: string}>> = {
  ttfc: {heading: 'Time to First Chunk', short: 'TTFC'},
  ttft: {heading: 'Time to First Token', short: 'TTFT'},
  ttfo: {heading: 'Time to First Answer Token', short: 'TTFO'},
  tpot: {heading: 'Time per Output Token (excl. 1st token)', short: 'TPOT'},
  itl: {heading: 'Inter-token Latency', short: 'ITL'},
  icl: {heading: 'Inter-chunk Latency', short: 'ICL'},
  e2el: {heading: 'End-to-end Latency', short: 'E2EL'},
  client_queue_time: {heading: 'Client-side Queueing', short: 'Client Queue Time'},
  e2el_including_client_queue: {heading: 'Queue-inclusive End-to-end Latency', short: 'E2EL incl. Client Queue'},
};

/** @param columns sentences are broken to fit into so many; null leaves them whole. Rows have their fixed width. */
export function consoleTable(outcome: RunOutcome, columns: number | null): string[] {
  const {figures} = outcome;
  return [
    ...(outcome.isValid || figures.completed === 0 ? [] : distortedBox(outcome)),
    centred(' Serving Benchmark Result ', '='),
    ...totalRows(outcome),
    ...probeSection(outcome),
    ...shownMetrics(outcome).flatMap((metric) => metricSection(metric, figures.times[metric], outcome)),
    ...speculationSection(outcome),
    ...failureSection(outcome, columns),
    ...turnSection(outcome),
    ...clientSection(outcome, columns),
    ...serverSection(outcome),
    '='.repeat(width),
    ...outcome.warnings.flatMap((warning) => sentence(`Warning: ${warning}.`, columns)),
  ];
}

/** The times that were asked for, and the queue's where a plan had to wait for places. */
export function shownMetrics({settings, point, figures}: RunOutcome): Metric[] {
  const hasQueue =
    Number.isFinite(point.maxConcurrency) && (Number.isFinite(point.requestRate) || settings.ramp !== null);
  const hasReasoning = figures.samples.ttfo.length > 0 && !settings.percentileMetrics.includes('ttfo');
  const queue: Metric[] = hasQueue ? ['client_queue_time', 'e2el_including_client_queue'] : [];
  return [...settings.percentileMetrics, ...(hasReasoning ? (['ttfo'] as const) : []), ...queue];
}

function totalRows({figures, point, goodput, settings}: RunOutcome): string[] {
  const hasRate = Number.isFinite(point.requestRate);
  return [
    row('Successful requests:', figures.completed),
    row('Failed requests:', figures.failed),
    ...(figures.cancelled > 0 ? [row('Cancelled requests:', figures.cancelled)] : []),
    ...(Number.isFinite(point.maxConcurrency) ? [row('Maximum request concurrency:', point.maxConcurrency)] : []),
    ...(hasRate && settings.ramp === null ? [row('Request rate configured (RPS):', decimals(point.requestRate))] : []),
    row('Benchmark duration (s):', decimals(figures.durationSeconds)),
    row('Total input tokens:', figures.inputTokens),
    row('Total generated tokens:', figures.outputTokens),
    row('Request throughput (req/s):', decimals(figures.requestThroughput)),
    ...(goodput === null ? [] : [row('Request goodput (req/s):', decimals(goodput.requestGoodput))]),
    row('Output token throughput (tok/s):', decimals(figures.outputThroughput)),
    row('Peak output token throughput (tok/s):', decimals(figures.peakOutputTokens)),
    row('Peak concurrent requests:', decimals(figures.peakConcurrency)),
    row('Total token throughput (tok/s):', decimals(figures.totalTokenThroughput)),
  ];
}

function probeSection({probe}: RunOutcome): string[] {
  if (probe === null) return [];
  return [
    centred('Probe Requests', '-'),
    row('Probe requests completed:', probe.completed),
    row('Probe requests failed:', probe.failed),
    row('Median probe E2EL (ms):', decimals(probe.medianMs)),
    row('P99 probe E2EL (ms):', decimals(probe.p99Ms)),
    row('Max probe E2EL (ms):', decimals(probe.maxMs)),
  ];
}

/** The 90th percentile and the maximum are ours: a mean alone misleads. */
function metricSection(metric: Metric, summary: Summary, {settings, figures}: RunOutcome): string[] {
  const {heading, short} = titles[metric];
  if (figures.samples[metric].length === 0) return [centred(heading, '-'), 'no samples'];
  const percentiles = [...new Set([...settings.percentiles, 90])].sort((a, b) => a - b);
  return [
    centred(heading, '-'),
    row(`Mean ${short} (ms):`, decimals(summary.mean)),
    row(`Median ${short} (ms):`, decimals(summary.median)),
    ...percentiles.map((percentile) =>
      row(
        `${percentileName(percentile).toUpperCase()} ${short} (ms):`,
        decimals(summary.percentiles.get(percentile) ?? 0),
      ),
    ),
    row(`Max ${short} (ms):`, decimals(summary.max)),
  ];
}

function speculationSection({serverMetrics}: RunOutcome): string[] {
  const speculation = speculationOf(serverMetrics);
  if (speculation === null) return [];
  const {ratesByPosition} = speculation;
  return [
    centred('Speculative Decoding', '-'),
    row('Acceptance rate (%):', decimals(speculation.acceptanceRate)),
    row('Acceptance length:', decimals(speculation.acceptanceLength)),
    row('Drafts:', speculation.numDrafts),
    row('Draft tokens:', speculation.draftTokens),
    row('Accepted tokens:', speculation.acceptedTokens),
    ...(ratesByPosition.length > 0 ? ['Per-position acceptance (%):'] : []),
    ...ratesByPosition.map((rate, position) => row(`  Position ${position}:`, decimals(100 * rate))),
  ];
}

function failureSection({failures}: RunOutcome, columns: number | null): string[] {
  if (failures.length === 0) return [];
  const lines = failures.flatMap(({type, count, examples, hint, firstAtSeconds}) => [
    row(`${type} (first at ${firstAtSeconds.toFixed(1)} s):`, count),
    ...examples.flatMap((example) => sentence(example.replaceAll('\n', ' '), columns, '  ')),
    ...(hint === null ? [] : sentence(`-> ${hint}`, columns, '  ')),
  ]);
  return [centred('Failures', '-'), ...lines];
}

/** Only where conversations have several turns. */
function turnSection({records}: RunOutcome): string[] {
  const numTurns = records.reduce((most, {turn}) => Math.max(most, turn + 1), 0);
  if (numTurns < 2) return [];
  const rows = Array.from({length: numTurns}, (_, turn) => {
    const ttfts = records.filter(
      (record) => record.turn === turn && record.failure === null && record.firstMs !== null,
    );
    const mean =
      ttfts.reduce((total, {firstMs, sentMs}) => total + (firstMs ?? sentMs) - sentMs, 0) / Math.max(ttfts.length, 1);
    const cached = ttfts.reduce((total, {cachedTokens}) => total + (cachedTokens ?? 0), 0);
    return row(`Turn ${turn + 1}: mean TTFT (ms), ${ttfts.length} requests, ${cached} cached:`, decimals(mean));
  });
  return [centred('Turns', '-'), ...rows];
}

function clientSection({health, achievedRate, figures, goodput}: RunOutcome, columns: number | null): string[] {
  const {thread} = health;
  const parts = [
    `cpu ${health.cpuPercent.toFixed(0)} %`,
    ...(thread.runQueueWaitPercent === null ? [] : [`queue wait ${thread.runQueueWaitPercent.toFixed(0)} %`]),
    `loop delay p99 ${thread.loopDelayP99Ms.toFixed(1)} ms`,
    `gc ${thread.gcPauseMs.toFixed(0)} ms`,
    ...(health.stepCostMs === null ? [] : [`step cost ${health.stepCostMs.toFixed(2)} ms`]),
    ...(health.numWorkers > 1 ? [`${health.numWorkers} threads`] : []),
  ];
  return [
    centred('Client Health', '-'),
    row('Verdict:', health.verdict),
    ...sentence(parts.join(', '), columns),
    row('Most requests in flight:', figures.maxInFlight),
    row('Achieved request rate (RPS):', decimals(achievedRate)),
    ...(hasTemplateTokens(figures) ? [row('Input tokens of the data set:', figures.plannedInputTokens ?? 0)] : []),
    ...(goodput === null ? [] : [row('SLO attainment (%):', decimals(100 * goodput.attainment))]),
  ];
}

/** The server's chat template adds to the texts of the data set. */
function hasTemplateTokens({plannedInputTokens, inputTokens}: RunOutcome['figures']): boolean {
  return plannedInputTokens !== null && plannedInputTokens !== inputTokens;
}

function serverSection({serverMetrics, figures}: RunOutcome): string[] {
  if (serverMetrics === null) return [];
  const {prefix_cache_hit_rate: hitRate, preemptions, max_running: running, max_waiting: waiting} = serverMetrics;
  return [
    centred('Server', '-'),
    ...(hitRate === null ? [] : [row('Prefix cache hit rate (%):', decimals(100 * hitRate))]),
    ...(figures.cachedTokens > 0 ? [row('Cached prompt tokens:', figures.cachedTokens)] : []),
    ...(preemptions === null ? [] : [row('Preemptions:', preemptions)]),
    row('Most requests running, waiting:', `${running}, ${waiting}`),
  ];
}

function distortedBox({health: {thread}}: RunOutcome): string[] {
  const wait =
    thread.runQueueWaitPercent === null
      ? ''
      : `, ${thread.runQueueWaitPercent.toFixed(0)} % of the time in the run queue`;
  const lines = [
    'THIS RUN IS NOT VALID: the load generator itself',
    `was late (loop ${thread.loopDelayP99Ms.toFixed(0)} ms${wait}).`,
    'Take another machine for it, or give it cores.',
  ];
  const inner = Math.max(...lines.map((line) => line.length));
  const edge = `+${'-'.repeat(inner + 2)}+`;
  return [edge, ...lines.map((line) => `| ${line.padEnd(inner)} |`), edge];
}

function sentence(text: string, columns: number | null, indent = ''): string[] {
  const lines = columns === null ? [text] : wrapWords(text, columns - indent.length);
  return lines.map((line) => indent + line);
}

function centred(text: string, fill: string): string {
  const left = Math.floor((width - text.length) / 2);
  return fill.repeat(Math.max(0, left)) + text + fill.repeat(Math.max(0, width - text.length - left));
}

function row(label: string, value: number | string): string {
  return `${label.padEnd(labelWidth)} ${String(value).padEnd(valueWidth)}`;
}

function decimals(value: number): string {
  return value.toFixed(2);
}
