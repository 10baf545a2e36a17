/**
 * Sends sessions when their time has come and a place is free. The plan is absolute: a late send makes no other one late.
 * Waiting for a place is not hidden: each record has its planned moment beside the real one.
 */
import {setTimeout as delay} from 'node:timers/promises';
import {nowMs} from '../../core/util/clock.ts';
import type {PlannedRequest, RequestRecord} from '../request-record.ts';
import {runSession, type Session, type TurnOptions} from './session.ts';

export interface LoadOptions extends TurnOptions {
  /** Sessions under way at the same time; Infinity = no limit. */
  maxConcurrency: number;
  /** Keeps the planned gaps also when a place was waited for. */
  isStrictRate: boolean;
  /** Nothing more is sent after this many seconds; null = until the sessions end. */
  durationSeconds: number | null;
  /** How long what is under way may go on after that; then it is cancelled. */
  graceSeconds: number;
  /** What the offsets of sessions count from, in milliseconds since 1970. */
  startMs: number;
}

export interface LoadHooks {
  send: (request: PlannedRequest, plannedMs: number, signal: AbortSignal) => Promise<RequestRecord>;
  onSent: () => void;
  onRecord: (record: RequestRecord) => void;
}

/** Timers are late by up to a millisecond; the rest of a wait is spent in turns of the event loop. */
const timerSlackMs = 1.5;

/**
 * @param sessions in order of their offsets; may be endless when there is a duration
 * @param stop nothing more is sent once it is aborted; what is under way has the grace period
 * @returns when everything has ended
 */
export async function runLoad(
  sessions: Iterable<Session>,
  options: LoadOptions,
  {send, onSent, onRecord}: LoadHooks,
  stop: AbortSignal,
): Promise<void> {
  const {startMs} = options;
  const giveUp = new AbortController();
  const lost = new LostServer();
  const sendingEnds = AbortSignal.any([stopAfter(options, stop), lost.signal]);
  const places = new Places(options.maxConcurrency, sendingEnds);
  const sendOne = async (request: PlannedRequest, plannedMs: number) => {
    onSent();
    const record = await send(request, plannedMs, giveUp.signal);
    onRecord(record);
    lost.note(record);
    return record;
  };
  let lastSent: {atMs: number; offsetMs: number} | null = null;
  for (const session of sessions) {
    const offsetMs = session.offsetSeconds * 1000;
    await waitUntil(startMs + offsetMs, sendingEnds);
    await places.take();
    if (options.isStrictRate && lastSent) await waitUntil(lastSent.atMs + offsetMs - lastSent.offsetMs, sendingEnds);
    if (sendingEnds.aborted) break;
    lastSent = {atMs: nowMs(), offsetMs};
    // An unlimited closed plan has no times of its own: everything is planned for when it is sent.
    const plannedMs = offsetMs === 0 && Number.isFinite(options.maxConcurrency) ? lastSent.atMs : startMs + offsetMs;
    void runSession(session, plannedMs, sendOne, options, sendingEnds).finally(() => places.giveBack());
  }
  await endWithin(places, options.graceSeconds, giveUp, sendingEnds);
}

function stopAfter({durationSeconds, startMs}: LoadOptions, stop: AbortSignal): AbortSignal {
  if (durationSeconds === null) return stop;
  const leftMs = Math.max(0, Math.ceil(startMs + durationSeconds * 1000 - nowMs()));
  return AbortSignal.any([stop, AbortSignal.timeout(leftMs)]);
}

/** Without a stop everything ends in its own time. */
async function endWithin(places: Places, graceSeconds: number, giveUp: AbortController, stop: AbortSignal) {
  const end = places.allFree();
  if (!stop.aborted) await Promise.race([end, new Promise((resolve) => stop.addEventListener('abort', resolve))]);
  if (!stop.aborted) return;
  const grace = new AbortController();
  await Promise.race([end, delay(graceSeconds * 1000, undefined, {signal: grace.signal}).catch(() => {})]);
  grace.abort();
  giveUp.abort();
  await end;
}

/** Returns early when the signal is aborted. */
async function waitUntil(timeMs: number, signal: AbortSignal): Promise<void> {
  const waitMs = timeMs - nowMs() - timerSlackMs;
  if (waitMs > 0) await delay(waitMs, undefined, {signal}).catch(() => {});
  while (nowMs() < timeMs && !signal.aborted) await new Promise(setImmediate);
}

/** So many connections in a row that fail, without an answer in between, mean that nobody is there any more. */
export const failuresOfLostServer = 100;

/** Without it a closed load would try to connect as fast as it can until its time is over. */
class LostServer {
  readonly #controller = new AbortController();
  #failuresInARow = 0;

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  note({failure}: RequestRecord): void {
    this.#failuresInARow = failure?.type === 'connect' ? this.#failuresInARow + 1 : 0;
    if (this.#failuresInARow >= failuresOfLostServer) this.#controller.abort();
  }
}

/** A counting semaphore whose takers wait in line; nobody waits any more once the signal is aborted. */
class Places {
  readonly #limit: number;
  readonly #closes: AbortSignal;
  readonly #waiting: (() => void)[] = [];
  readonly #whenFree: (() => void)[] = [];
  #taken = 0;

  constructor(limit: number, closes: AbortSignal) {
    this.#limit = limit;
    this.#closes = closes;
    closes.addEventListener('abort', () => callAll(this.#waiting), {once: true});
  }

  /** Returns without a place when the signal is aborted. */
  async take(): Promise<void> {
    if (this.#taken >= this.#limit && !this.#closes.aborted) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (!this.#closes.aborted) this.#taken++;
  }

  giveBack(): void {
    this.#taken--;
    this.#waiting.shift()?.();
    if (this.#taken === 0) callAll(this.#whenFree);
  }

  async allFree(): Promise<void> {
    if (this.#taken > 0) await new Promise<void>((resolve) => this.#whenFree.push(resolve));
  }
}

function callAll(callbacks: (() => void)[]): void {
  for (const callback of callbacks.splice(0)) callback();
}
