/**
 * The run of `--backend http`: whole responses of any endpoint, as fast as the places allow, by autocannon. Its result is
 * brought into the form of the other backends; what autocannon does not see, such as broken responses, is looked for.
 */
import autocannon from 'autocannon';
import {nowMs} from '../../core/util/clock.ts';
import {jsonOrNull} from '../../core/util/json-or-null.ts';
import type {LoadPoint} from '../bench-settings.ts';
import {loadDataset} from '../datasets/load-dataset.ts';
import {RandomSource} from '../load/random-source.ts';
import {ThreadMeter} from '../load/thread-meter.ts';
import type {RunOutcome} from '../report/result-types.ts';
import {type Failure, openRecord, type PlannedRequest, type RequestRecord} from '../request-record.ts';
import {excerpt} from '../sse/answer-reader.ts';
import {messageOf} from '../sse/refusal.ts';
import type {BenchContext} from './bench-context.ts';
import {ProcessMeter} from './client-health.ts';
import {showProgress} from './live-progress.ts';
import {makeOutcome} from './outcome.ts';
import {requestBody} from './request-bodies.ts';

const failuresPerPlace = 10;

/** One run of whole responses. */
export async function runHttpPoint(context: BenchContext, point: LoadPoint, seed: number): Promise<RunOutcome> {
  const {settings, terminal, target, tokenizer} = context;
  const numPrompts = settings.numPrompts ?? Math.max(100, 4 * point.maxConcurrency);
  const bodies = await bodiesFor(context, seed, numPrompts);
  const startedAt = new Date();
  const meter = new ProcessMeter();
  const threadMeter = new ThreadMeter();
  const total = settings.duration === null ? numPrompts : null;
  const progress = await showProgress(terminal.progressStream, total, terminal.interrupt);
  const records: RequestRecord[] = [];
  const onRecord = (record: RequestRecord) => {
    records.push(record);
    context.onRecord(record);
    progress.onRecord(record);
  };
  const sent = await runAutocannon(context, {point, numPrompts, bodies}, onRecord, progress.onSent).finally(
    progress.finish,
  );
  const [thread, processTimes] = [{...threadMeter.finish(), readCostMs: null}, meter.finish()];
  const outcome = makeOutcome({
    settings,
    target,
    tokenizer,
    point,
    seed,
    startedAt,
    numPrompts,
    records,
    thread,
    processTimes,
    numWorkers: 1,
    serverMetrics: null,
    probe: null,
    ignoresEos: false,
    isInterrupted: terminal.interrupt.aborted,
  });
  return withLostRequests(outcome, sent - records.length);
}

/** Some may still be under way at the end, but no more than there are places. */
function withLostRequests(outcome: RunOutcome, numLost: number): RunOutcome {
  if (numLost <= outcome.point.maxConcurrency) return outcome;
  const warning = `${numLost} requests got no response that could be told apart`;
  return {...outcome, isValid: false, warnings: [...outcome.warnings, warning]};
}

/** Null for endpoints that are only asked. */
async function bodiesFor(context: BenchContext, seed: number, numPrompts: number): Promise<string[] | null> {
  const {settings, target, tokenizer, lengths} = context;
  if (!target.endpoint.includes('completions'))
    return settings.extraBody === null ? null : [JSON.stringify(settings.extraBody)];
  const random = new RandomSource(seed);
  const {samples, ignoresEos} = await loadDataset({settings, tokenizer, random, numSamples: numPrompts, lengths}, 0);
  const options = {settings, model: target.model, ignoresEos, usageDetail: 'none', idPrefix: ''} as const;
  return samples.map(({turns: [turn]}) => JSON.stringify(requestBody(turn, options)));
}

interface HttpLoad {
  point: LoadPoint;
  numPrompts: number;
  bodies: string[] | null;
}

/** @returns how many requests were sent */
async function runAutocannon(
  context: BenchContext,
  load: HttpLoad,
  onRecord: (record: RequestRecord) => void,
  onSent: () => void,
): Promise<number> {
  const {target, terminal} = context;
  let index = 0;
  const nextIndex = () => {
    onSent();
    return index++;
  };
  const requests = [requestFor(context, load, onRecord, nextIndex)];
  const instance = autocannon({...loadOptions(context, load), url: new URL(target.url).origin, requests});
  const stop = () => (instance as unknown as {stop(): void}).stop();
  terminal.interrupt.addEventListener('abort', stop);
  const result = await instance;
  terminal.interrupt.removeEventListener('abort', stop);
  const {errors, timeouts} = result;
  for (let count = 0; count < timeouts; count++) onRecord(failedRecord(index++, noAnswerInTime));
  for (let count = timeouts; count < errors; count++) onRecord(failedRecord(index++, noConnection));
  return result.requests.sent;
}

/** How many at once, how long, and when to give up. */
function loadOptions({settings}: BenchContext, {point, numPrompts}: HttpLoad): Omit<autocannon.Options, 'url'> {
  return {
    connections: Math.min(point.maxConcurrency, numPrompts),
    ...(settings.duration === null ? {maxOverallRequests: numPrompts} : {duration: settings.duration}),
    timeout: settings.requestTimeout || 3600,
    bailout: failuresPerPlace * point.maxConcurrency,
  };
}

/** What is sent again and again, each time with the next body. */
function requestFor(
  {settings, target}: BenchContext,
  {bodies}: HttpLoad,
  onRecord: (record: RequestRecord) => void,
  nextIndex: () => number,
): autocannon.Request {
  const {pathname, search} = new URL(target.url);
  return {
    method: bodies === null ? 'GET' : 'POST',
    path: pathname + search,
    setupRequest: (request, contextOfRequest) => {
      const index = nextIndex();
      Object.assign(contextOfRequest, {sentMs: nowMs(), index});
      const body = bodies === null ? {} : {body: bodies[index % bodies.length]};
      return {...request, headers: headersOf(settings.headers, bodies), ...body};
    },
    onResponse: (status, body, contextOfRequest, headers = {}) => {
      const {sentMs, index} = contextOfRequest as {sentMs: number; index: number};
      const isJson = bodies !== null || /json/i.test(String((headers as Record<string, unknown>)['content-type']));
      onRecord(recordOf({index, sentMs, status, body, isJson}));
    },
  };
}

function headersOf(headers: Record<string, string>, bodies: string[] | null): Record<string, string> {
  return {...headers, ...(bodies !== null && {'content-type': 'application/json'})};
}

interface HttpResponse {
  index: number;
  sentMs: number;
  status: number;
  body: string;
  /** The body has to be JSON. */
  isJson: boolean;
}

function recordOf({index, sentMs, status, body, isJson}: HttpResponse): RequestRecord {
  const endedMs = nowMs();
  const moments = {headersMs: endedMs, firstMs: endedMs, lastMs: endedMs, endedMs};
  const content = jsonOrNull(body) as {
    error?: unknown;
    usage?: {prompt_tokens?: number; completion_tokens?: number};
  } | null;
  return {
    ...openRecord(plannedAt(index), sentMs, sentMs),
    ...moments,
    status,
    promptTokens: content?.usage?.prompt_tokens ?? null,
    completionTokens: content?.usage?.completion_tokens ?? 0,
    tokenCountSource: 'usage',
    failure: failureOf(status, body, isJson && content === null, content?.error),
  };
}

function failureOf(status: number, body: string, isNoJson: boolean, error: unknown): Failure | null {
  if (status !== 200) return {type: `http_${status}`, message: messageOf(body) || 'no message'};
  if (isNoJson) return {type: 'malformed', message: `The answer is no JSON: ${excerpt(body)}`};
  return error ? {type: 'error_event', message: JSON.stringify(error)} : null;
}

/** Autocannon says of requests without a response only how many there were. */
const noConnection: Failure = {type: 'connect', message: 'The connection failed.'};
const noAnswerInTime: Failure = {type: 'timeout_total', message: 'No answer came in time.'};

function failedRecord(index: number, failure: Failure): RequestRecord {
  return {...openRecord(plannedAt(index), nowMs(), nowMs()), failure};
}

function plannedAt(index: number): PlannedRequest {
  return {
    index,
    requestId: '',
    body: {},
    promptTokens: null,
    outputTokens: null,
    sourceId: null,
    turn: 0,
    cancelAfterEvents: null,
  };
}
