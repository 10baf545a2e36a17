/**
 * A share of a run as plain data, and its execution in whatever thread this is: connections, warm-ups, then the load from
 * a start that all threads have in common, records, and how the thread itself fared.
 */
import type {RequestRecord} from '../request-record.ts';
import {StreamClient, type StreamClientOptions} from '../sse/stream-client.ts';
import {warmUpCode} from '../sse/warm-up-code.ts';
import {type LoadOptions, runLoad} from './run-load.ts';
import type {Session} from './session.ts';
import {type ThreadHealth, ThreadMeter} from './thread-meter.ts';

export interface LoadJob {
  sessions: Session[];
  /** Sessions come again and again, each time with numbers higher by this; null = once. */
  repeatStride: number | null;
  /** Sent before, over the same connections, and not counted. */
  warmups: Session[];
  load: Omit<LoadOptions, 'startMs'>;
  client: StreamClientOptions;
}

export interface JobHooks {
  onSent: () => void;
  onRecord: (record: RequestRecord) => void;
  onWarmupRecord: (record: RequestRecord) => void;
  /** Called when warm-ups are done. @returns the start of the run, in milliseconds since 1970 */
  awaitStart: () => Promise<number>;
}

export async function executeJob(job: LoadJob, hooks: JobHooks, stop: AbortSignal): Promise<ThreadHealth> {
  await warmUpCode();
  const client = new StreamClient(job.client);
  try {
    await sendWarmups(job, client, hooks, stop);
    const startMs = await hooks.awaitStart();
    client.readCost.clear();
    const meter = new ThreadMeter();
    await runLoad(sessionsOf(job), {...job.load, startMs}, {...hooks, send: client.send.bind(client)}, stop);
    return {...meter.finish(), readCostMs: client.readCost.medianMs};
  } finally {
    await client.close();
  }
}

/** Under the same limit of places as the run. */
async function sendWarmups(
  {warmups, load}: LoadJob,
  client: StreamClient,
  {onWarmupRecord}: JobHooks,
  stop: AbortSignal,
) {
  const once: LoadOptions = {...load, durationSeconds: null, startMs: 0};
  await runLoad(warmups, once, {send: client.send.bind(client), onSent() {}, onRecord: onWarmupRecord}, stop);
}

/** Endless when sessions repeat. */
function* sessionsOf({sessions, repeatStride}: LoadJob): Iterable<Session> {
  yield* sessions;
  if (repeatStride === null || sessions.length === 0) return;
  for (let round = 1; ; round++) yield* sessions.map((session) => renumbered(session, round * repeatStride));
}

function renumbered({offsetSeconds, turns}: Session, added: number): Session {
  return {
    offsetSeconds,
    turns: turns.map((turn) => {
      const index = turn.index + added;
      return {...turn, index, requestId: turn.requestId.replace(/\d+$/, String(index))};
    }),
  };
}
