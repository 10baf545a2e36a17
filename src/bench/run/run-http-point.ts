/**
 * The run of `--backend http`: whole responses of any endpoint, as fast as the places allow, by autocannon. Its result is
 * brought into the form of the other backends; what autocannon does not see, such as broken responses, is looked for.
 */
import autocannon from 'autocannon';
import {nowMs} from '../../core/util/clock.ts';
import type {LoadPoint} from '../bench-settings.ts';
import {loadDataset} from '../datasets/load-dataset.ts';
import {RandomSource} from '../load/random-source.ts';
import {ThreadMeter} from '../load/thread-meter.ts';
import type {RunOutcome} from '../report/result-types.ts';
import {openRecord, type PlannedRequest, type RequestRecord} from '../request-record.ts';
import type {BenchContext} from './bench-context.ts';
import {ProcessMeter} from './client-health.ts';
import {showProgress} from './live-progress.ts';
import {makeOutcome} from './outcome.ts';
import {requestBody} from './request-bodies.ts';

const failuresPerPlace = 10;

export async function runHttpPoint(context: BenchContext, point: LoadPoint, seed: number): Promise<RunOutcome> {
  const {settings, terminal, target, tokenizer} = context;
  const numPrompts = settings.numPrompts ?? Math.max(100, 4 * point.maxConcurrency);
  const bodies = await bodiesFor(context, seed, numPrompts);
  const startedAt = new Date();
  const meter = new ProcessMeter();
  const threadMeter = new ThreadMeter();
  const progress = await showProgress(
    terminal.progressStream,
    settings.duration === null ? numPrompts : null,
    terminal.interrupt,
  );
  const records: RequestRecord[] = [];
  const onRecord = (record: RequestRecord) => {
    records.push(record);
    context.onRecord(record);
    progress.onRecord(record);
  };
  const sent = await runAutocannon(context, {point, numPrompts, bodies}, onRecord, progress.onSent).finally(
    progress.finish,
  );
  const [thread, processTimes] = [threadMeter.finish(), meter.finish()];
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
  const numLost = sent - records.length;
  if (numLost <= point.maxConcurrency) return outcome;
  return {
    ...outcome,
    isValid: false,
    warnings: [...outcome.warnings, `${numLost} requests got no response that could be told apart`],
  };
}

/** Null for endpoints that are only asked. */
async function bodiesFor(context: BenchContext, seed: number, numPrompts: number): Promise<string[] | null> {
  const {settings, target, tokenizer, lengths} = context;
  if (!target.endpoint.includes('completions'))
    return settings.extraBody === null ? null : [JSON.stringify(settings.extraBody)];
  const random = new RandomSource(seed);
  const {samples, ignoresEos} = await loadDataset({settings, tokenizer, random, numSamples: numPrompts, lengths}, 0);
  const options = {settings, model: target.model, ignoresEos, asksChunkUsage: false, idPrefix: ''};
  return samples.map(({turns: [turn]}) => JSON.stringify(requestBody(turn, options)));
}

interface HttpLoad {
  point: LoadPoint;
  numPrompts: number;
  bodies: string[] | null;
}

/** @returns how many requests were sent */
async function runAutocannon(
  {settings, target, terminal}: BenchContext,
  {point, numPrompts, bodies}: HttpLoad,
  onRecord: (record: RequestRecord) => void,
  onSent: () => void,
): Promise<number> {
  let index = 0;
  const url = new URL(target.url);
  const options: autocannon.Options = {
    url: url.origin,
    connections: Math.min(point.maxConcurrency, numPrompts),
    ...(settings.duration === null ? {maxOverallRequests: numPrompts} : {duration: settings.duration}),
    timeout: settings.requestTimeout || 3600,
    bailout: failuresPerPlace * point.maxConcurrency,
    requests: [
      {
        method: bodies === null ? 'GET' : 'POST',
        path: url.pathname + url.search,
        setupRequest: (request, contextOfRequest) => {
          Object.assign(contextOfRequest, {sentMs: nowMs(), index: index++});
          onSent();
          return {
            ...request,
            headers: headersOf(settings.headers, bodies),
            ...(bodies !== null && {body: bodies[(index - 1) % bodies.length]}),
          };
        },
        onResponse: (status, body, contextOfRequest) => {
          const {sentMs, index: place} = contextOfRequest as {sentMs: number; index: number};
          onRecord(recordOf({index: place, sentMs, status, body}));
        },
      },
    ],
  };
  const instance = autocannon(options);
  const stop = () => (instance as unknown as {stop(): void}).stop();
  terminal.interrupt.addEventListener('abort', stop);
  const result = await instance;
  terminal.interrupt.removeEventListener('abort', stop);
  for (let lost = 0; lost < result.errors; lost++) onRecord(connectionFailure(index++));
  return result.requests.sent;
}

function headersOf(headers: Record<string, string>, bodies: string[] | null): Record<string, string> {
  return {...headers, ...(bodies !== null && {'content-type': 'application/json'})};
}

function recordOf({
  index,
  sentMs,
  status,
  body,
}: {
  index: number;
  sentMs: number;
  status: number;
  body: string;
}): RequestRecord {
  const endedMs = nowMs();
  const record = {
    ...openRecord(plannedAt(index), sentMs, sentMs),
    status,
    headersMs: endedMs,
    firstMs: endedMs,
    lastMs: endedMs,
    endedMs,
  };
  const content = jsonOrNull(body);
  const {error, usage} = (content ?? {}) as {
    error?: unknown;
    usage?: {prompt_tokens?: number; completion_tokens?: number};
  };
  record.promptTokens = usage?.prompt_tokens ?? null;
  record.completionTokens = usage?.completion_tokens ?? 0;
  record.tokenCountSource = 'usage';
  if (status !== 200) record.failure = {type: `http_${status}`, message: body.slice(0, 200)};
  else if (error) record.failure = {type: 'error_event', message: JSON.stringify(error)};
  return record;
}

/** Autocannon says of lost connections only how many there were. */
function connectionFailure(index: number): RequestRecord {
  const record = openRecord(plannedAt(index), nowMs(), nowMs());
  return {...record, failure: {type: 'connect', message: 'The connection failed or no answer came in time.'}};
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

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
