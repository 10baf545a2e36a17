/** The report as one HTML page that needs nothing else: figures, plots of latencies and throughput, a timeline, sweeps. */

import {latencyMs, type Metric, timeToFirstTokenMs} from '../../metrics.ts';
import {isSuccess, type RequestRecord} from '../../request-record.ts';
import {percentileOf} from '../../statistics.ts';
import {consoleTable} from '../console-table.ts';
import type {FinishedRun} from '../result-files.ts';
import type {RunOutcome} from '../result-types.ts';
import {groupsOf, isSamePoint, sweepTable} from '../sweep-table.ts';
import {type Bar, escapeText, linePlot, plotStyle, type Series, timeline} from './svg-plot.ts';

const style = `
:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{max-width:720px;margin:2rem auto;padding:0 1rem}
figure{margin:1.4rem 0;overflow-x:auto}
svg{width:100%;min-width:480px;height:auto;font-size:12px;fill:currentColor}
${plotStyle.trim()}
pre{overflow-x:auto;font-size:13px;line-height:1.35}
summary{cursor:pointer;font-weight:600;margin:.8rem 0}
@media(max-width:480px){pre{font-size:11px}}
h2{margin-top:2.2rem;font-size:1.15rem}
.bad{border:2px solid #dc2626;padding:.5rem 1rem}
figcaption{opacity:.7;font-size:.9em}
`;

export function htmlPage(runs: readonly FinishedRun[]): string {
  const [{outcome: first}] = runs;
  const title = `Benchmark of ${first.target.modelId || first.target.url}`;
  const sections =
    runs.length === 1
      ? ['<h2>Result</h2>', runSection(first)]
      : [sweepSection(runs), ...runs.map((run) => foldedRun(run, runs))];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeText(title)}</title><style>${style}</style></head>
<body><h1>${escapeText(title)}</h1><p>${escapeText(`${first.target.url} · ${first.startedAt.toISOString()} · ${first.settings.datasetName} · seed ${first.settings.seed}`)}</p>
${sections.join('\n')}
</body></html>
`;
}

/** As many fit beside each other on a page of the usual width. */
const preColumns = 80;

/** One of several, which would be a long page. */
function foldedRun({outcome}: FinishedRun, runs: readonly FinishedRun[]): string {
  const {point} = outcome;
  const load = `concurrency ${point.maxConcurrency}, rate ${point.requestRate}`.replaceAll('Infinity', 'inf');
  const ofPoint = runs.filter((run) => isSamePoint(run.outcome, outcome)).map((run) => run.outcome);
  const place = ofPoint.length > 1 ? `, run ${ofPoint.indexOf(outcome) + 1} of ${ofPoint.length}` : '';
  return `<details><summary>${escapeText(load + place)}</summary>\n${runSection(outcome)}\n</details>`;
}

function runSection(outcome: RunOutcome): string {
  const {figures} = outcome;
  return [
    outcome.isValid || figures.completed === 0
      ? ''
      : '<p class="bad">This run is not valid: the load generator itself was late.</p>',
    `<pre>${escapeText(consoleTable({...outcome, isValid: true}, preColumns).join('\n'))}</pre>`,
    figures.completed === 0 ? '<p>No request was answered.</p>' : plots(outcome),
  ].join('\n');
}

function plots(outcome: RunOutcome): string {
  return [
    figure('Latency percentiles', percentilePlot(outcome, ['ttft', 'e2el'])),
    figure('Gaps between tokens and time per token, percentiles', percentilePlot(outcome, ['itl', 'tpot'])),
    figure('Output tokens in each second', throughputPlot(outcome)),
    figure('Latencies over the run', overTimePlot(outcome)),
    figure(timelineCaption(outcome), timelinePlot(outcome)),
  ].join('\n');
}

function figure(caption: string, plot: string): string {
  return `<figure>${plot}<figcaption>${escapeText(caption)}</figcaption></figure>`;
}

const plottedPercentiles = [...Array.from({length: 99}, (_, index) => index + 1), 99.5, 99.9, 100];

function percentilePlot({figures}: RunOutcome, metrics: readonly Metric[]): string {
  const series = metrics.map((metric): Series => {
    const sorted = Float64Array.from(figures.samples[metric]).sort();
    return {
      name: metric.toUpperCase(),
      points: plottedPercentiles.map((percentile) => [percentile, percentileOf(sorted, percentile)]),
    };
  });
  return linePlot({xLabel: 'percentile', yLabel: 'ms', series});
}

function throughputPlot({records}: RunOutcome): string {
  const startMs = startOf(records);
  const perSecond = new Map<number, number>();
  for (const {outputTimesMs, chunkTokens} of records.filter(isSuccess)) {
    for (const [index, time] of outputTimesMs.entries()) {
      const second = Math.floor((time - startMs) / 1000);
      perSecond.set(second, (perSecond.get(second) ?? 0) + (chunkTokens[index] ?? 1));
    }
  }
  const last = Math.max(1, ...perSecond.keys());
  const points = Array.from({length: last + 1}, (_, second) => [second, perSecond.get(second) ?? 0] as const);
  return linePlot({xLabel: 'seconds', yLabel: 'tokens', series: [{name: 'tokens', points}]});
}

function overTimePlot({records}: RunOutcome): string {
  const startMs = startOf(records);
  const good = records.filter(isSuccess).sort((a, b) => a.sentMs - b.sentMs);
  const seriesOf = (name: string, measure: (record: RequestRecord) => number): Series => ({
    name,
    points: good.map((record) => [(record.sentMs - startMs) / 1000, measure(record)]),
  });
  return linePlot({
    xLabel: 'sent, seconds',
    yLabel: 'ms',
    series: [seriesOf('TTFT', timeToFirstTokenMs), seriesOf('E2EL', latencyMs)],
    marks: 'dots',
  });
}

function timelineCaption({settings}: RunOutcome): string {
  const steps = settings.timelineThresholdsMs.map((limit) => `${limit} ms`).join(' and ');
  return `Requests over time: grey until the first token, then coloured by the gap before each event (steps at ${steps}); red = failed`;
}

const mostRows = 400;
const mostBarsOfRequest = 60;
const gapKinds = ['gap0', 'gap1', 'gap2', 'gap3'];

function timelinePlot({records, settings}: RunOutcome): string {
  const startMs = startOf(records);
  const shown = [...records].sort((a, b) => a.sentMs - b.sentMs).slice(0, mostRows);
  const bars = shown.flatMap((record, row) => requestBars(record, row, startMs, settings.timelineThresholdsMs));
  return timeline(
    bars,
    shown.length,
    records.length > mostRows ? `seconds (the first ${mostRows} requests)` : 'seconds',
  );
}

function requestBars(record: RequestRecord, row: number, startMs: number, thresholds: readonly number[]): Bar[] {
  const at = (ms: number) => (ms - startMs) / 1000;
  const title = `${record.requestId}: ${record.failure?.type ?? `${latencyMs(record).toFixed(1)} ms`}`;
  if (!isSuccess(record)) return [{row, from: at(record.sentMs), to: at(record.endedMs), kind: 'failed', title}];
  const {outputTimesMs, sentMs} = record;
  const waiting = {row, from: at(sentMs), to: at(outputTimesMs[0] ?? record.endedMs), kind: 'wait', title};
  // Many events become a few bars, each with the longest gap in it.
  const stride = Math.max(1, Math.ceil((outputTimesMs.length - 1) / mostBarsOfRequest));
  const bars: Bar[] = [];
  for (let index = 1; index < outputTimesMs.length; index += stride) {
    const end = Math.min(index + stride, outputTimesMs.length);
    const gaps = outputTimesMs.slice(index, end).map((time, offset) => time - outputTimesMs[index + offset - 1]);
    const level = thresholds.filter((limit) => Math.max(...gaps) > limit).length;
    const kind = gapKinds[Math.min(level, gapKinds.length - 1)];
    bars.push({row, from: at(outputTimesMs[index - 1]), to: at(outputTimesMs[end - 1]), kind, title});
  }
  return [waiting, ...bars];
}

/** Points are the means of their runs. */
function sweepSection(runs: readonly FinishedRun[]): string {
  const points = groupsOf(runs);
  const meanOf = (group: readonly FinishedRun[], key: string) =>
    group.reduce((sum, {result}) => sum + (result[key] as number), 0) / group.length;
  const curve = (xKey: string, yKey: string, name: string): Series => ({
    name,
    points: points.map((group) => [meanOf(group, xKey), meanOf(group, yKey)] as const),
    labels: points.map(([{outcome}]) => pointText(outcome)),
  });
  return [
    '<h2>Sweep</h2>',
    `<pre>${escapeText(sweepTable(runs, preColumns).join('\n'))}</pre>`,
    figure(
      'Median time to the first token over the throughput',
      linePlot({
        xLabel: 'tokens/s (total)',
        yLabel: 'ms',
        series: [curve('total_token_throughput', 'median_ttft_ms', 'TTFT')],
        marks: 'line-and-dots',
      }),
    ),
    figure(
      'Output throughput over the requests in flight',
      linePlot({
        xLabel: 'requests in flight',
        yLabel: 'tokens/s',
        series: [curve('max_in_flight', 'output_throughput', 'tokens/s')],
        marks: 'line-and-dots',
      }),
    ),
  ].join('\n');
}

/** What was swept, short: the number of places, or the rate where there is one. */
function pointText({point}: RunOutcome): string {
  return Number.isFinite(point.requestRate)
    ? `${point.requestRate}/s`
    : `${point.maxConcurrency}`.replace('Infinity', 'inf');
}

function startOf(records: readonly RequestRecord[]): number {
  return records.reduce((least, {sentMs}) => Math.min(least, sentMs), Number.POSITIVE_INFINITY);
}
