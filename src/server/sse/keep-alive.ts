/** Calls back after a time of silence, again and again, until it is stopped. */
export class KeepAlive {
  readonly #intervalMs: number;
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | null = null;

  /** @param intervalSeconds 0 = never */
  constructor(intervalSeconds: number, onSilence: () => void) {
    this.#intervalMs = intervalSeconds * 1000;
    this.#onSilence = onSilence;
  }

  /** Something was sent: the silence begins anew. */
  touch(): void {
    this.stop();
    if (this.#intervalMs <= 0) return;
    this.#timer = setTimeout(() => {
      this.#onSilence();
      this.touch();
    }, this.#intervalMs);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
