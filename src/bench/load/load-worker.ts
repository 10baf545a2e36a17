/** Entry of a thread that sends a share of the load. Records go back in batches, so that messages stay few. */
import {parentPort, workerData} from 'node:worker_threads';
import {assertInvariant} from '../../core/util/assert.ts';
import type {RequestRecord} from '../request-record.ts';
import {executeJob, type JobHooks, type LoadJob} from './load-job.ts';
import type {ThreadHealth} from './thread-meter.ts';

export type FromWorker =
  | {type: 'ready'; warmups: RequestRecord[]}
  | {type: 'progress'; numSent: number; records: RequestRecord[]}
  | {type: 'end'; health: ThreadHealth};

export type ToWorker = {type: 'start'; startMs: number} | {type: 'stop'};

const msBetweenBatches = 200;

assertInvariant(parentPort !== null, 'the load worker runs in a thread');
const port = parentPort;
const stop = new AbortController();
let begin: (startMs: number) => void;
const started = new Promise<number>((resolve) => {
  begin = resolve;
});
port.on('message', (message: ToWorker) => {
  if (message.type === 'stop') stop.abort();
  else begin(message.startMs);
});

const warmups: RequestRecord[] = [];
let numSent = 0;
let records: RequestRecord[] = [];

function post(message: FromWorker): void {
  port.postMessage(message);
}

function postBatch(): void {
  if (numSent > 0 || records.length > 0) post({type: 'progress', numSent, records});
  numSent = 0;
  records = [];
}

const hooks: JobHooks = {
  onSent: () => void numSent++,
  onRecord: (record) => void records.push(record),
  onWarmupRecord: (record) => void warmups.push(record),
  awaitStart() {
    post({type: 'ready', warmups});
    return started;
  },
};
const timer = setInterval(postBatch, msBetweenBatches);
const health = await executeJob(workerData as LoadJob, hooks, stop.signal);
clearInterval(timer);
postBatch();
post({type: 'end', health});
port.close();
