/**
 * How many threads the forward pass gets when nothing is said: one for each physical core that this process may use. Two
 * threads of one core share its arithmetic units, and threads beyond a container's quota only wait for each other.
 */
import {readFileSync} from 'node:fs';
import os from 'node:os';

/** Reads a file of the system, or null where there is none. */
export type ReadSystemFile = (path: string) => string | null;

export function defaultThreads(read: ReadSystemFile = readOptional, numAllowed = os.availableParallelism()): number {
  const cores = physicalCores(read) ?? numAllowed;
  const quota = cpuQuota(read) ?? cores;
  return Math.max(1, Math.min(cores, numAllowed, Math.ceil(quota)));
}

/** Distinct cores among the processors that this process may run on; null where the system does not tell. */
function physicalCores(read: ReadSystemFile): number | null {
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(read('/proc/self/status') ?? '')?.[1];
  if (!allowed) return null;
  const siblings = expandList(allowed).map((cpu) =>
    read(`/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`),
  );
  return siblings.includes(null) ? null : new Set(siblings).size;
}

/** Processors' worth of time that the container may use; null = no limit. */
function cpuQuota(read: ReadSystemFile): number | null {
  const [quota, period] = read('/sys/fs/cgroup/cpu.max')?.trim().split(' ') ?? [
    read('/sys/fs/cgroup/cpu/cpu.cfs_quota_us')?.trim(),
    read('/sys/fs/cgroup/cpu/cpu.cfs_period_us')?.trim(),
  ];
  const processors = Number(quota) / Number(period);
  return Number.isFinite(processors) && processors > 0 ? processors : null;
}

/** `0-2,5` -> 0, 1, 2, 5 */
function expandList(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({length: last - first + 1}, (_, index) => first + index);
  });
}

function readOptional(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
