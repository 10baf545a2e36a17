/**
 * Reads `/proc`: CPU time and peak memory of a process with all its children, and how busy the whole machine is.
 * Processes that vanish while they are read count as zero.
 */
import {readdirSync, readFileSync} from 'node:fs';

/** Unit of the times in `/proc` (USER_HZ); 100 on every Linux that Node runs on. */
const msPerTick = 1000 / 100;

interface ProcessStat {
  pid: number;
  parentPid: number;
  /** Own time and that of children which have ended. */
  cpuMs: number;
}

/** CPU time of a process and everything it started, in milliseconds since their start. */
export function treeCpuMs(rootPid: number): number {
  return processTree(rootPid).reduce((sum, {cpuMs}) => sum + cpuMs, 0);
}

/** CPU time of one process since its start, in microseconds; its children do not count. */
export function cpuTime(pid: number): {userMicroseconds: number; systemMicroseconds: number} {
  const [user, system] = statFields(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    .slice(11, 13)
    .map(Number);
  const microseconds = (ticks: number) => ticks * msPerTick * 1000;
  return {userMicroseconds: microseconds(user), systemMicroseconds: microseconds(system)};
}

/** Sum of the peak resident sizes of a process and its children. */
export function treePeakMemoryBytes(rootPid: number): number {
  return processTree(rootPid).reduce((sum, {pid}) => sum + peakMemoryBytes(pid), 0);
}

/** Time that all cores together were not idle since boot, in milliseconds. */
export function machineBusyMs(): number {
  return parseMachineBusyMs(readFileSync('/proc/stat', 'utf8'));
}

/** @param text content of `/proc/stat` */
export function parseMachineBusyMs(text: string): number {
  const [user, nice, system, _idle, _iowait, irq, softirq, steal] = text
    .split('\n')[0]
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return (user + nice + system + irq + softirq + steal) * msPerTick;
}

/** @param text content of `/proc/<pid>/stat` */
export function parseProcessStat(text: string): ProcessStat {
  const fields = statFields(text);
  const [utime, stime, cutime, cstime] = fields.slice(11, 15).map(Number);
  return {
    pid: Number.parseInt(text, 10),
    parentPid: Number(fields[1]),
    cpuMs: (utime + stime + cutime + cstime) * msPerTick,
  };
}

/** What follows the command in brackets, which may hold anything, even brackets. */
function statFields(text: string): string[] {
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** @returns the process and its descendants */
export function selectTree(all: readonly ProcessStat[], rootPid: number): ProcessStat[] {
  const root = all.filter(({pid}) => pid === rootPid);
  const children = all.filter(({parentPid}) => parentPid === rootPid);
  return [...root, ...children.flatMap(({pid}) => selectTree(all, pid))];
}

function processTree(rootPid: number): ProcessStat[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readOrNothing(`/proc/${pid}/stat`).map(parseProcessStat));
  return selectTree(all, rootPid);
}

function peakMemoryBytes(pid: number): number {
  const [status = ''] = readOrNothing(`/proc/${pid}/status`);
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

function readOrNothing(path: string): string[] {
  try {
    return [readFileSync(path, 'utf8')];
  } catch {
    return [];
  }
}
