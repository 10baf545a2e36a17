/**
 * Memory facts that JavaScript has no words for: how much this process may still use, and giving pages of a large buffer
 * back to the system while the buffer lives.
 */
import {readFileSync} from 'node:fs';
import os from 'node:os';
import koffi from 'koffi';
import {addressOf} from './ort/ort-tensor.ts';

const pageBytes = 4096;
/** Linux: drop the pages; they read as zero when they are touched again. */
const adviseDontNeed = 4;
/** Value of a container limit that means "none". */
const hugeLimit = 2 ** 60;

type Advise = (address: bigint, numBytes: number, advice: number) => number;
/** The system's function with the library handle that keeps it loaded; null = this system has none. */
let advise: {call: Advise; library: unknown} | null | undefined;

/**
 * Gives whole pages of this range back to the system. Their content is lost. Does nothing where the system has no such
 * call (the memory is then used again by the next owner of the row).
 */
export function givePagesBack(range: Float32Array): void {
  if (advise === undefined) advise = loadAdvise();
  if (!advise || range.byteLength < pageBytes) return;
  const start = addressOf(range);
  const first = roundUpToPage(start);
  const end = start + BigInt(range.byteLength);
  const numBytes = Number(end - (end % BigInt(pageBytes)) - first);
  if (numBytes > 0) advise.call(first, numBytes, adviseDontNeed);
}

function roundUpToPage(address: bigint): bigint {
  const page = BigInt(pageBytes);
  return ((address + page - 1n) / page) * page;
}

function loadAdvise(): typeof advise {
  if (process.platform !== 'linux') return null;
  try {
    const library = koffi.load(null);
    return {library, call: library.func('madvise', 'int', ['void*', 'size_t', 'int']) as unknown as Advise};
  } catch {
    return null;
  }
}

/** @returns bytes that this process may still take: free memory of the machine, or what its container leaves */
export function availableMemoryBytes(): number {
  const {constrainedMemory} = process as {constrainedMemory?: () => number};
  const limit = constrainedMemory?.() ?? 0;
  const free = freeMemoryBytes();
  if (limit === 0 || limit > hugeLimit) return free;
  return Math.min(free, Math.max(0, limit - containerUseBytes()));
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
