/** Requests that were turned away because the engine has too much to do: told by the checks, heard by the metrics. */
import type {RejectionReason} from '../core/metrics/serving-metrics.ts';

export class Rejections {
  readonly #listeners = new Set<(reason: RejectionReason) => void>();

  /** @returns the function that takes the listener off */
  listen(listener: (reason: RejectionReason) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(reason: RejectionReason): void {
    for (const listener of this.#listeners) listener(reason);
  }
}
