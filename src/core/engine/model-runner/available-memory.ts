/**
 * How much memory this process may still take, from the kernel's estimate and the limit of the container. Reads system
 * files only, so that the server can ask before an engine is started.
 */
import {readFileSync} from 'node:fs';
import os from 'node:os';

/** Value of a container limit that means "none". */
const hugeLimit = 2 ** 60;

/** @returns bytes that this process may still take: free memory of the machine, or what its container leaves */
export function availableMemoryBytes(): number {
  const {constrainedMemory} = process as {constrainedMemory?: () => number};
  const limit = constrainedMemory?.() ?? 0;
  const free = freeMemoryBytes();
  if (limit === 0 || limit > hugeLimit) return free;
  return Math.min(free, Math.max(0, limit - containerUseBytes()));
}

/** @returns bytes of the machine, or of its container */
export function totalMemoryBytes(): number {
  const {constrainedMemory} = process as {constrainedMemory?: () => number};
  const limit = constrainedMemory?.() ?? 0;
  return limit === 0 || limit > hugeLimit ? os.totalmem() : Math.min(limit, os.totalmem());
}

/** On Linux the kernel's own estimate, which counts caches that it would drop. */
function freeMemoryBytes(): number {
  const meminfo = readOptional('/proc/meminfo');
  const available = meminfo && /^MemAvailable:\s+(\d+) kB$/m.exec(meminfo);
  return available ? Number(available[1]) * 1024 : os.freemem();
}

function containerUseBytes(): number {
  const text =
    readOptional('/sys/fs/cgroup/memory.current') ?? readOptional('/sys/fs/cgroup/memory/memory.usage_in_bytes');
  return text ? Number(text) : process.memoryUsage().rss;
}

function readOptional(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
