/** One run at one setting of the load: data, plan, warm-ups, the measured requests, and what they left. */
import {randomBytes} from 'node:crypto';
import {nowMs} from '../../core/util/clock.ts';
import type {BenchSettings, LoadPoint} from '../bench-settings.ts';
import {type Sample, singleTurn, userTurn} from '../datasets/dataset.ts';
import {type LoadedData, loadDataset} from '../datasets/load-dataset.ts';
import {planArrivals} from '../load/arrivals.ts';
import type {LoadJob} from '../load/load-job.ts';
import {runJob, workersFor} from '../load/load-threads.ts';
import {Probe, type ProbeFigures} from '../load/probe.ts';
import {RandomSource} from '../load/random-source.ts';
import type {Session} from '../load/session.ts';
import type {ThreadHealth} from '../load/thread-meter.ts';
import type {RunOutcome} from '../report/result-types.ts';
import type {PlannedRequest, RequestRecord} from '../request-record.ts';
import type {StreamClientOptions} from '../sse/stream-client.ts';
import {checkSampleLengths} from '../target/sample-lengths.ts';
import {type ServerMetrics, ServerMetricsWatch} from '../target/server-metrics.ts';
import type {BenchContext} from './bench-context.ts';
import type {BenchTerminal} from './bench-terminal.ts';
import {ProcessMeter, type ProcessTimes} from './client-health.ts';
import {hiddenProgress, showProgress} from './live-progress.ts';
import {makeOutcome} from './outcome.ts';
import {type BodyOptions, planSessions} from './request-bodies.ts';
import {countMissingTokens} from './token-counts.ts';

interface PlannedRun {
  sessions: Session[];
  warmups: Session[];
  /** The request of `--probe-request-rate`. */
  probe: PlannedRequest;
  numPrompts: number;
  point: LoadPoint;
  /** Answers are asked to have exactly the planned length. */
  ignoresEos: boolean;
}

export async function runPoint(context: BenchContext, point: LoadPoint, seed: number): Promise<RunOutcome> {
  const plan = await planRun(context, point, seed);
  const measured = await measure(context, plan);
  await countMissingTokens(measured.records, context.tokenizer);
  const {numPrompts, ignoresEos} = plan;
  const isInterrupted = context.terminal.interrupt.aborted;
  return makeOutcome({...context, ...measured, point, seed, numPrompts, ignoresEos, isInterrupted});
}

async function planRun(context: BenchContext, point: LoadPoint, seed: number): Promise<PlannedRun> {
  const {settings} = context;
  const random = new RandomSource(seed);
  const data = await loadDataset(
    {
      settings,
      tokenizer: context.tokenizer,
      random,
      numSamples: numSamplesFor(settings, point),
      lengths: context.lengths,
    },
    settings.numWarmups ?? (settings.readyCheckTimeoutSec > 0 ? 1 : 0),
  );
  const lengthNotes = checkSampleLengths(context.target, settings.datasetName, data.samples);
  for (const note of [...data.notes, ...lengthNotes]) context.terminal.note(`Note: ${note}`);
  const body = bodyOptions(context, data);
  const offsets = offsetsOf(data.samples, settings, point, random);
  const sessions = withCancellations(planSessions(data.samples, offsets, body), settings, random);
  const noOffsets = data.warmups.map(() => 0);
  const warmups = planSessions(data.warmups, noOffsets, {...body, idPrefix: `${body.idPrefix}warmup-`});
  const probe = probeRequest({...body, idPrefix: `${body.idPrefix}probe-`});
  return {sessions, warmups, probe, numPrompts: data.samples.length, point, ignoresEos: body.ignoresEos};
}

function probeRequest(body: BodyOptions): PlannedRequest {
  const [session] = planSessions([singleTurn(userTurn('Hi', {outputTokens: 1}))], [0], body);
  return {...session.turns[0], requestId: body.idPrefix};
}

function bodyOptions({settings, target, usageDetail}: BenchContext, {ignoresEos}: LoadedData): BodyOptions {
  const idPrefix = settings.requestIdPrefix ?? `bench-${randomBytes(4).toString('hex')}-`;
  return {settings, model: target.model, ignoresEos: ignoresEos || settings.ignoreEos, usageDetail, idPrefix};
}

const leastPrompts = 100;
const promptsPerPlace = 4;

/** A timed run at a rate needs as many as fit; a trace is sent whole. */
function numSamplesFor({numPrompts, duration, datasetName}: BenchSettings, point: LoadPoint): number {
  if (duration !== null && Number.isFinite(point.requestRate))
    return Math.max(1, Math.round(duration * point.requestRate));
  if (numPrompts !== null) return numPrompts;
  if (datasetName === 'timed_trace') return Number.MAX_SAFE_INTEGER;
  return Math.max(leastPrompts, Number.isFinite(point.maxConcurrency) ? promptsPerPlace * point.maxConcurrency : 0);
}

function offsetsOf(
  samples: readonly Sample[],
  settings: BenchSettings,
  point: LoadPoint,
  random: RandomSource,
): number[] {
  if (settings.selfTimed && samples.every(({offsetSeconds}) => offsetSeconds !== null)) {
    return samples.map(({offsetSeconds}) => offsetSeconds as number);
  }
  const {burstiness, ramp, duration} = settings;
  const offsets = planArrivals({numRequests: samples.length, requestRate: point.requestRate, burstiness, ramp}, random);
  // A rate of less than one request in this time still sends one.
  return duration === null ? offsets : offsets.map((offset) => Math.min(offset, duration));
}

/** A plan that lasts as long as the sending has its last request at the very end, which is not to be lost to a timer. */
const lastSendSlackSeconds = 0.05;

function sendingSeconds({duration}: BenchSettings, {requestRate}: LoadPoint): number | null {
  if (duration === null) return null;
  return Number.isFinite(requestRate) ? duration + lastSendSlackSeconds : duration;
}

const mostEventsBeforeCancel = 16;

function withCancellations(
  sessions: Session[],
  {requestCancellationRate}: BenchSettings,
  random: RandomSource,
): Session[] {
  if (requestCancellationRate === 0) return sessions;
  return sessions.map((session) => ({
    ...session,
    turns: session.turns.map((turn) => {
      const isGivenUp = random.next() < requestCancellationRate;
      const numEvents = random.integer(
        1,
        Math.min(mostEventsBeforeCancel, turn.outputTokens ?? mostEventsBeforeCancel),
      );
      return {...turn, cancelAfterEvents: isGivenUp ? numEvents : null};
    }),
  }));
}

function jobFor({settings, target}: BenchContext, {sessions, warmups, point}: PlannedRun): LoadJob {
  const repeats = settings.duration !== null && !Number.isFinite(point.requestRate);
  return {
    sessions,
    warmups,
    repeatStride: repeats ? numRequestsOf(sessions) : null,
    load: {
      maxConcurrency: point.maxConcurrency,
      isStrictRate: settings.strictRequestRate,
      durationSeconds: sendingSeconds(settings, point),
      graceSeconds: settings.gracePeriod,
      turnDelayMs: settings.turnDelayMs,
      keepsReasoning: settings.keepReasoning,
    },
    client: clientOptions({settings, target}, point.maxConcurrency),
  };
}

function clientOptions(
  {settings, target}: Pick<BenchContext, 'settings' | 'target'>,
  maxConnections: number,
): StreamClientOptions {
  return {
    url: target.url,
    headers: settings.headers,
    maxConnections,
    isInsecure: settings.insecure,
    limits: {first: settings.ttftTimeout, idle: settings.idleTimeout, total: settings.requestTimeout},
  };
}

function startProbe(context: BenchContext, request: PlannedRequest, startMs: number): Probe | null {
  const {probeRequestRate: rate, gracePeriod: graceSeconds} = context.settings;
  if (rate === 0) return null;
  return new Probe({rate, request, startMs, graceSeconds, client: clientOptions(context, Number.POSITIVE_INFINITY)});
}

function numRequestsOf(sessions: readonly Session[]): number {
  return sessions.reduce((total, {turns}) => total + turns.length, 0);
}

interface Measured {
  records: RequestRecord[];
  thread: ThreadHealth;
  processTimes: ProcessTimes;
  numWorkers: number;
  startedAt: Date;
  serverMetrics: ServerMetrics | null;
  probe: ProbeFigures | null;
}

/** Threads get the start a little later, so that all of them know it in time. */
const startLeadMs = 20;

async function measure(context: BenchContext, plan: PlannedRun): Promise<Measured> {
  const {settings, terminal} = context;
  const numWorkers = workersFor(Math.min(plan.point.maxConcurrency, plan.sessions.length), settings.clientWorkers);
  const total = settings.duration === null ? numRequestsOf(plan.sessions) : null;
  const records: RequestRecord[] = [];
  const warmups: RequestRecord[] = [];
  const prepared = {
    meter: new ProcessMeter(),
    startedAt: new Date(),
    watch: null as ServerMetricsWatch | null,
    probe: null as Probe | null,
  };
  let progress = hiddenProgress;
  const awaitStart = async () => {
    reportWarmups(warmups, terminal);
    prepared.watch = await ServerMetricsWatch.start(context.client);
    progress = await showProgress(terminal.progressStream, total, terminal.interrupt);
    Object.assign(prepared, {meter: new ProcessMeter(), startedAt: new Date()});
    const startMs = nowMs() + (numWorkers > 1 ? startLeadMs : 0);
    prepared.probe = startProbe(context, plan.probe, startMs);
    return startMs;
  };
  const onRecord = (record: RequestRecord) => {
    records.push(record);
    context.onRecord(record);
    progress.onRecord(record);
  };
  const hooks = {
    onSent: () => progress.onSent(),
    onRecord,
    onWarmupRecord: (record: RequestRecord) => void warmups.push(record),
    awaitStart,
  };
  const thread = await runJob(jobFor(context, plan), numWorkers, hooks, terminal.interrupt).finally(() =>
    progress.finish(),
  );
  const processTimes = prepared.meter.finish();
  const probe = (await prepared.probe?.finish()) ?? null;
  const serverMetrics = (await prepared.watch?.finish()) ?? null;
  records.sort((a, b) => a.index - b.index);
  return {records, thread, numWorkers, serverMetrics, probe, processTimes, startedAt: prepared.startedAt};
}

function reportWarmups(warmups: readonly RequestRecord[], terminal: BenchTerminal): void {
  const [first, ...others] = warmups.flatMap(({failure}) => failure ?? []);
  if (first)
    terminal.note(`Warning: ${1 + others.length} warm-ups failed, the first with ${first.type}: ${first.message}`);
  else if (warmups.length > 0) terminal.note(`${warmups.length} warm-ups are done`);
}
