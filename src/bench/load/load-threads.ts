/**
 * Runs a job in this thread or, for many streams, divided over several: sessions by turns, places for requests in equal
 * parts, one common start.
 */
import {availableParallelism} from 'node:os';
import {Worker} from 'node:worker_threads';
import {findEntryFile} from '../../core/util/entry-file.ts';
import {threadEntryOf} from '../../core/util/thread-entry.ts';
import {executeJob, type JobHooks, type LoadJob} from './load-job.ts';
import type {FromWorker, ToWorker} from './load-worker.ts';
import {type ThreadHealth, worstOf} from './thread-meter.ts';

const streamsOfOneThread = 128;
const streamsPerWorker = 256;

/** One thread up to 128 streams, then one for each 256, at most one less than there are cores. */
export function workersFor(numStreams: number, wanted: number | null): number {
  if (wanted !== null) return Math.min(wanted, numStreams);
  if (numStreams <= streamsOfOneThread) return 1;
  return Math.max(1, Math.min(Math.ceil(numStreams / streamsPerWorker), availableParallelism() - 1));
}

export async function runJob(
  job: LoadJob,
  numWorkers: number,
  hooks: JobHooks,
  stop: AbortSignal,
): Promise<ThreadHealth> {
  if (numWorkers === 1) return executeJob(job, hooks, stop);
  const awaitStart = commonStart(numWorkers, hooks.awaitStart);
  const threads = shares(job, numWorkers).map((share) => runInThread(share, {...hooks, awaitStart}, stop));
  return worstOf(await Promise.all(threads));
}

/** Asks for the start once all threads are ready, and gives all of them the same. */
function commonStart(numWorkers: number, awaitStart: JobHooks['awaitStart']): JobHooks['awaitStart'] {
  let numReady = 0;
  let allReady: () => void;
  const ready = new Promise<void>((resolve) => {
    allReady = resolve;
  });
  const start = ready.then(awaitStart);
  return () => {
    numReady++;
    if (numReady === numWorkers) allReady();
    return start;
  };
}

export function shares(job: LoadJob, numWorkers: number): LoadJob[] {
  return Array.from({length: numWorkers}, (_, worker) => {
    const places = shareOf(job.load.maxConcurrency, worker, numWorkers);
    return {
      ...job,
      sessions: job.sessions.filter((_session, index) => index % numWorkers === worker),
      warmups: job.warmups.filter((_session, index) => index % numWorkers === worker),
      load: {...job.load, maxConcurrency: places},
      client: {...job.client, maxConnections: shareOf(job.client.maxConnections, worker, numWorkers)},
    };
  });
}

/** Parts that add up to the whole. */
function shareOf(total: number, worker: number, numWorkers: number): number {
  if (!Number.isFinite(total)) return total;
  return Math.floor(total / numWorkers) + (worker < total % numWorkers ? 1 : 0);
}

function runInThread(job: LoadJob, hooks: JobHooks, stop: AbortSignal): Promise<ThreadHealth> {
  const entry = findEntryFile({fromUrl: import.meta.url, source: './load-worker.ts', builtName: 'load-worker.js'});
  const worker = new Worker(threadEntryOf(entry), {workerData: job});
  const tell = (message: ToWorker) => worker.postMessage(message);
  const askToStop = () => tell({type: 'stop'});
  stop.addEventListener('abort', askToStop);
  return new Promise<ThreadHealth>((resolve, reject) => {
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'end') resolve(message.health);
      else if (message.type === 'progress') passOn(message, hooks);
      else void startThread(message, hooks, tell);
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`A thread of the load generator ended with ${code}`)));
  }).finally(() => stop.removeEventListener('abort', askToStop));
}

function passOn({numSent, records}: Extract<FromWorker, {type: 'progress'}>, {onSent, onRecord}: JobHooks): void {
  for (let count = 0; count < numSent; count++) onSent();
  for (const record of records) onRecord(record);
}

async function startThread(
  {warmups}: Extract<FromWorker, {type: 'ready'}>,
  {onWarmupRecord, awaitStart}: JobHooks,
  tell: (message: ToWorker) => void,
): Promise<void> {
  for (const record of warmups) onWarmupRecord(record);
  tell({type: 'start', startMs: await awaitStart()});
}
