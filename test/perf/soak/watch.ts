/** What a soak looks at from outside: memory of the processes, and the metrics of the server. */
import {readFileSync} from 'node:fs';

export interface MemorySample {
  atMs: number;
  serverMb: number;
  engineMb: number;
}

export function memoryNow(serverPid: number, enginePid: number, startedAtMs: number): MemorySample {
  return {atMs: performance.now() - startedAtMs, serverMb: residentMb(serverPid), engineMb: residentMb(enginePid)};
}

function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) / 1024;
}

/** Growth that a process may show between the second and the last quarter: caches and the collector's mood. */
const allowedGrowth = {part: 0.1, megabytes: 40};

/** What is wrong with the memory of a process over time; null when it is flat. */
export function growthFault(name: string, megabytes: readonly number[]): string | null {
  const quarter = Math.floor(megabytes.length / 4);
  const before = median(megabytes.slice(quarter, 2 * quarter));
  const after = median(megabytes.slice(-quarter));
  const allowed = before * (1 + allowedGrowth.part) + allowedGrowth.megabytes;
  return after <= allowed ? null : `${name} grew from ${before.toFixed(0)} to ${after.toFixed(0)} MB`;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

/** Sum of the samples of a metric. */
export async function metricOf(url: string, name: string): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text();
  const values = page
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => Number(line.slice(line.lastIndexOf(' '))));
  return values.reduce((sum, value) => sum + value, 0);
}
