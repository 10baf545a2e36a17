/**
 * From options as they were given to settings that cannot be wrong any more: lists are read, limits are limits, and
 * combinations that make no sense are refused before anything is sent.
 */
import {existsSync} from 'node:fs';
import {UsageError} from '../core/errors.ts';
import {jsonOrNull} from '../core/util/json-or-null.ts';
import type {BenchOptions} from './bench-options.ts';
import type {Ramp} from './load/arrivals.ts';
import {METRICS, type Metric} from './metrics.ts';
import {type Assertion, parseAssertion} from './report/assertions.ts';
import {basicAuthorization, isHttpUrl, withoutCredentials} from './target/base-url.ts';

/** One setting of the load; several of them are a sweep. */
export interface LoadPoint {
  /** Infinity = no limit. */
  maxConcurrency: number;
  /** Infinity = at once. */
  requestRate: number;
}

/** As files and folders name what is swept. */
export type SweptName = 'max_concurrency' | 'request_rate';

/** Milliseconds that a good request does not exceed. */
export type Limits = Partial<Record<Metric, number>>;

type Read =
  | 'maxConcurrency'
  | 'requestRate'
  | 'burstiness'
  | 'randomRangeRatio'
  | 'header'
  | 'percentileMetrics'
  | 'metricPercentiles'
  | 'goodput'
  | 'assert'
  | 'metadata'
  | 'timelineItlThresholds'
  | 'seed';

export interface BenchSettings extends Omit<BenchOptions, Read> {
  points: LoadPoint[];
  /** Which of the two have several values. */
  sweeps: SweptName[];
  burstiness: number;
  ramp: Ramp | null;
  randomRange: {input: number; output: number};
  headers: Record<string, string>;
  percentileMetrics: Metric[];
  percentiles: number[];
  limits: Limits;
  assertions: Assertion[];
  metadata: [string, string][];
  timelineThresholdsMs: number[];
  seed: number;
}

/** @throws UsageError */
export function readSettings(options: BenchOptions): BenchSettings {
  const concurrencies = readConcurrencies(options.maxConcurrency);
  const rates = splitList(options.requestRate).map((text) => positive('--request-rate', text));
  const settings: BenchSettings = {
    ...options,
    baseUrl: withoutCredentials(options.baseUrl),
    points: concurrencies.flatMap((maxConcurrency) => rates.map((requestRate) => ({maxConcurrency, requestRate}))),
    sweeps: options.findMaxRate ? ['request_rate'] : sweptNames({max_concurrency: concurrencies, request_rate: rates}),
    burstiness: positive('--burstiness', options.burstiness),
    ramp: readRamp(options),
    randomRange: readRange(options.randomRangeRatio),
    headers: readHeaders(options),
    percentileMetrics: splitList(options.percentileMetrics).map((name) => metricNamed('--percentile-metrics', name)),
    percentiles: splitList(options.metricPercentiles).map(readPercentile),
    limits: Object.fromEntries(options.goodput.map(readLimit)),
    assertions: options.assert.map(parseAssertion),
    metadata: options.metadata.map((text) => readPair('--metadata', text)),
    timelineThresholdsMs: splitList(options.timelineItlThresholds).map((text) =>
      positive('--timeline-itl-thresholds', text),
    ),
    seed: options.seed ?? Math.floor(Math.random() * 2 ** 32),
  };
  for (const {isWrong, message, hint} of combinations) {
    if (isWrong(settings)) throw new UsageError(message, {hint});
  }
  return settings;
}

interface Combination {
  isWrong: (settings: BenchSettings) => boolean;
  message: string;
  hint: string;
}

const needsFile = ['sharegpt', 'custom', 'timed_trace', 'multi_turn'];

/** What cannot stand together. */
const combinations: Combination[] = [
  {
    isWrong: ({ramp, points}) => ramp !== null && points.some(({requestRate}) => Number.isFinite(requestRate)),
    message: '--ramp-up-strategy and --request-rate exclude each other',
    hint: 'leave --request-rate out: the rate comes from --ramp-up-start-rps and --ramp-up-end-rps',
  },
  {
    isWrong: ({datasetName, datasetPath}) => datasetPath !== null && !needsFile.includes(datasetName),
    message: '--dataset-path has no meaning for a data set that is generated',
    hint: `say which kind of file it is: --dataset-name ${needsFile.join('|')}`,
  },
  {
    isWrong: ({datasetName, datasetPath}) => datasetPath === null && needsFile.includes(datasetName),
    message: `--dataset-name ${needsFile.join('|')} needs a file`,
    hint: 'give it with --dataset-path FILE',
  },
  {
    isWrong: ({datasetPath}) => datasetPath !== null && !existsSync(datasetPath),
    message: 'There is no file at --dataset-path',
    hint: 'the path is relative to the folder that this command runs in',
  },
  {
    isWrong: ({backend, points, ramp}) =>
      backend === 'http' && (ramp !== null || points.some(({requestRate}) => Number.isFinite(requestRate))),
    message: '--backend http sends as fast as --max-concurrency allows and takes no rate',
    hint: 'its engine, autocannon, sends all requests of a second at once, which is no rate; use --backend openai-chat',
  },
  {
    isWrong: ({backend, points}) => backend === 'http' && points.some(({maxConcurrency}) => maxConcurrency > 10_000),
    message: '--backend http needs --max-concurrency',
    hint: 'for example --max-concurrency 8',
  },
  {
    isWrong: ({backend, baseUrl, insecure}) => backend === 'http' && !insecure && /^https:/.test(baseUrl ?? ''),
    message: '--backend http does not check certificates',
    hint: 'say that this is fine with --insecure',
  },
  {
    isWrong: ({wholeResponse, backend}) => wholeResponse && backend !== 'http',
    message: '--whole-response needs --backend http',
    hint: 'the other backends measure streams',
  },
  {
    isWrong: ({probeRequestRate, backend}) => probeRequestRate > 0 && backend === 'http',
    message: '--probe-request-rate needs a backend that streams',
    hint: 'leave it out, or use --backend openai-chat',
  },
  {
    isWrong: ({randomPromptAsTokenIds, backend}) => randomPromptAsTokenIds && backend === 'openai-chat',
    message: '--random-prompt-as-token-ids needs --backend openai',
    hint: 'chat messages are texts',
  },
  {
    isWrong: ({multiTurn, backend, datasetName}) =>
      (multiTurn > 1 || datasetName === 'multi_turn') && backend !== 'openai-chat',
    message: 'Conversations need --backend openai-chat',
    hint: 'text completions have no turns',
  },
  {
    isWrong: ({findMaxRate, limits}) => findMaxRate && Object.keys(limits).length === 0,
    message: '--find-max-rate needs limits that requests must meet',
    hint: 'for example --goodput ttft:500 tpot:50',
  },
  {
    isWrong: ({findMaxRate, points, ramp}) =>
      findMaxRate && (points.length > 1 || ramp !== null || Number.isFinite(points[0]?.requestRate)),
    message: '--find-max-rate chooses the rates itself',
    hint: 'leave --request-rate, lists and ramps out',
  },
  {
    isWrong: ({goodputMin, limits}) => goodputMin !== null && Object.keys(limits).length === 0,
    message: '--goodput-min needs limits that requests must meet',
    hint: 'for example --goodput ttft:500 tpot:50',
  },
  {
    isWrong: ({duration, points, ramp, findMaxRate}) =>
      duration !== null &&
      !findMaxRate &&
      (ramp !== null ||
        points.some(
          ({maxConcurrency, requestRate}) => Math.min(maxConcurrency, requestRate) === Number.POSITIVE_INFINITY,
        )),
    message: '--duration needs --max-concurrency or --request-rate',
    hint: 'without them all requests would be sent at once, without an end',
  },
  {
    isWrong: ({serve, baseUrl, host, port}) => serve !== null && [baseUrl, host, port].some((given) => given !== null),
    message: '--serve starts a server of its own, so there is no address to give',
    hint: 'leave --base-url, --host and --port out, or --serve',
  },
  {
    isWrong: ({baseUrl}) => baseUrl !== null && !isHttpUrl(baseUrl),
    message: '--base-url has to be an address such as http://127.0.0.1:8000',
    hint: 'with http:// or https:// in front',
  },
  {
    isWrong: ({toolChoice}) => toolChoice.startsWith('{') && jsonOrNull(toolChoice) === null,
    message: '--tool-choice is no valid JSON',
    hint: 'give auto, required, none, or an object such as {"type": "function", "function": {"name": "get_weather"}}',
  },
  {
    isWrong: ({compare}) => compare.length !== 0 && compare.length !== 2,
    message: '--compare takes two result files',
    hint: 'for example --compare before.json after.json',
  },
];

function sweptNames(lists: Record<SweptName, readonly number[]>): SweptName[] {
  return (Object.keys(lists) as SweptName[]).filter((name) => lists[name].length > 1);
}

function readConcurrencies(text: string | null): number[] {
  if (text === null) return [Number.POSITIVE_INFINITY];
  return splitList(text).map((item) => {
    const value = Number(item);
    if (Number.isInteger(value) && value > 0) return value;
    throw new UsageError(`--max-concurrency cannot be ${item}\nallowed: integers above 0, e.g. 64 or 1,4,16`);
  });
}

function readRamp({
  rampUpStrategy: strategy,
  rampUpStartRps: startRps,
  rampUpEndRps: endRps,
}: BenchOptions): Ramp | null {
  if (strategy === null && startRps === null && endRps === null) return null;
  if (strategy === null || startRps === null || endRps === null) {
    throw new UsageError('--ramp-up-strategy, --ramp-up-start-rps and --ramp-up-end-rps belong together');
  }
  if (startRps > endRps) throw new UsageError(`--ramp-up-start-rps ${startRps} is above --ramp-up-end-rps ${endRps}`);
  if (strategy === 'exponential' && startRps === 0) throw new UsageError('An exponential ramp cannot start at 0');
  if (endRps === 0) throw new UsageError('--ramp-up-end-rps has to be above 0');
  return {strategy, startRps, endRps};
}

function readRange(text: string): {input: number; output: number} {
  const value = jsonOrNull(text);
  const range = typeof value === 'number' ? {input: value, output: value} : (value as {input: number; output: number});
  const isRange = [range?.input, range?.output].every((share) => typeof share === 'number' && share >= 0 && share < 1);
  if (isRange) return {input: range.input, output: range.output};
  throw new UsageError(
    `--random-range-ratio cannot be ${text}\nallowed: a number from 0 to below 1, or {"input": 0.2, "output": 0.5}`,
  );
}

function readHeaders({header, apiKey, baseUrl}: BenchOptions): Record<string, string> {
  const authorization: Record<string, string> = apiKey === null ? {} : {authorization: `Bearer ${apiKey}`};
  const given = header.map((text) => readPair('--header', text));
  return {
    ...authorization,
    ...basicAuthorization(baseUrl),
    ...Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), value])),
  };
}

function readPair(flag: string, text: string): [string, string] {
  const end = text.indexOf('=');
  if (end > 0) return [text.slice(0, end), text.slice(end + 1)];
  throw new UsageError(`${flag} takes NAME=VALUE`, {hint: 'a list flag takes every value up to the next flag'});
}

function metricNamed(flag: string, name: string): Metric {
  const metric = METRICS.find((candidate) => candidate === name);
  if (metric) return metric;
  throw new UsageError(`${flag} does not know ${name}\nallowed: ${METRICS.join(', ')}`);
}

function readPercentile(text: string): number {
  const value = Number(text);
  if (value >= 0 && value <= 100) return value;
  throw new UsageError(`--metric-percentiles cannot be ${text}\nallowed: numbers from 0 to 100, e.g. 50,99.9`);
}

const limitNames: readonly Metric[] = ['ttft', 'tpot', 'e2el', 'itl', 'ttfo'];

function readLimit(text: string): [Metric, number] {
  const [name = '', value = ''] = text.split(':');
  const limit = value === '' ? Number.NaN : Number(value);
  const isKnown = limitNames.some((known) => known === name);
  if (isKnown && limit >= 0) return [metricNamed('--goodput', name), limit];
  throw new UsageError(`--goodput cannot be ${text}\nallowed: NAME:MS with ${limitNames.join(', ')}, e.g. ttft:100`, {
    hint: 'a list flag takes every value up to the next flag',
  });
}

/** A number above 0, or `inf`. */
function positive(flag: string, text: string): number {
  const value = /^inf(inity)?$/i.test(text) ? Number.POSITIVE_INFINITY : Number(text);
  if (value > 0) return value;
  throw new UsageError(`${flag} cannot be ${text}\nallowed: a number above 0, or inf`);
}

function splitList(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}
