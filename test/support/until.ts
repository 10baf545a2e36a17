/** Waits for what no event tells. */
import {setTimeout as delay} from 'node:timers/promises';

/** Looks every few milliseconds; the time limit is that of the test. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await delay(5);
}
