/** How many cores were busy with something that does not belong to the benchmark. */
import {machineBusyMs, treeCpuMs} from './proc-files.ts';

/**
 * Starts to watch the machine. This process and its children count as the benchmark.
 * @returns a function that ends the watch and gives the cores that others used on average; call it before the children
 *   are stopped and after they were started
 */
export function watchOtherLoad(): () => number {
  const start = {wallMs: performance.now(), busyMs: machineBusyMs(), ownMs: treeCpuMs(process.pid)};
  return () => {
    const wallMs = performance.now() - start.wallMs;
    const otherMs = machineBusyMs() - start.busyMs - (treeCpuMs(process.pid) - start.ownMs);
    return Math.max(0, otherMs / wallMs);
  };
}
