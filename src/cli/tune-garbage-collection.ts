/**
 * Garbage collection of a process that writes many streams. V8 collects young objects with several threads; with little
 * to collect each time, waking them costs more than they do: with 1000 streams on two cores (`npm run bench:front`) a
 * fifth of the processor time of each token.
 */
import {setFlagsFromString} from 'node:v8';

/** To be called at the start of a process. The large collections of old objects keep their threads. */
export function tuneGarbageCollection(): void {
  setFlagsFromString('--no-parallel-scavenge');
}
