/**
 * One process at a time does a piece of work on this disk. The lock is a file that its owner touches while it works: one
 * that has not been touched for a while was left by a process that is gone, wherever it ran.
 */
import {randomBytes} from 'node:crypto';
import {readFile, rm, stat, utimes, writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {makeFolder} from '../../util/make-folder.ts';

const touchEveryMs = 2000;
const abandonedAfterMs = 15_000;
const lookEveryMs = 200;

export interface LockOptions {
  signal: AbortSignal;
  /** Called once when another process has the lock. */
  onWait: () => void;
}

/** Runs `work` while this process has the lock. */
export async function withFileLock<T>(path: string, {signal, onWait}: LockOptions, work: () => Promise<T>): Promise<T> {
  await makeFolder(dirname(path));
  const name = `${process.pid}-${randomBytes(4).toString('hex')}`;
  let hasWaited = false;
  while (!(await take(path, name))) {
    if (!hasWaited) onWait();
    hasWaited = true;
    await discardAbandoned(path);
    await delay(lookEveryMs, undefined, {signal});
  }
  const timer = setInterval(() => touch(path), touchEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if ((await readFile(path, 'utf8').catch(() => null)) === name) await rm(path, {force: true});
  }
}

async function take(path: string, name: string): Promise<boolean> {
  try {
    await writeFile(path, name, {flag: 'wx'});
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function touch(path: string): void {
  const now = new Date();
  utimes(path, now, now).catch(() => {});
}

async function discardAbandoned(path: string): Promise<void> {
  const stats = await stat(path).catch(() => null);
  if (stats && Date.now() - stats.mtimeMs > abandonedAfterMs) await rm(path, {force: true});
}
