/**
 * What one stream costs a thread each time that it has something: the time between the reads of two streams that came in
 * the same turn of the event loop, so from the handling of one to the next that was already waiting. Where streams come in
 * steps, the last of them waits for all others. The median, because a thread that loses its processor costs no more.
 */
import {percentileOf} from '../statistics.ts';

const mostSamples = 4096;

export class ReadCost {
  #lastStream: object | null = null;
  #lastMs = 0;
  /** The latest ones. */
  readonly #samples = new Float64Array(mostSamples);
  #numSamples = 0;

  /** Null when no two streams ever came together: then none waited for another. */
  get medianMs(): number | null {
    const kept = this.#samples.slice(0, Math.min(this.#numSamples, mostSamples)).sort();
    return kept.length === 0 ? null : percentileOf(kept, 50);
  }

  /** Further pieces of the same stream belong to its read. */
  note(stream: object, timeMs: number): void {
    if (this.#lastStream === stream) return;
    if (this.#lastStream === null) setImmediate(this.#endTurn);
    else this.#samples[this.#numSamples++ % mostSamples] = timeMs - this.#lastMs;
    this.#lastStream = stream;
    this.#lastMs = timeMs;
  }

  /** Forgets what was before, such as warm-ups. */
  clear(): void {
    this.#numSamples = 0;
  }

  readonly #endTurn = () => {
    this.#lastStream = null;
  };
}
