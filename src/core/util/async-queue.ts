/**
 * A queue with one reader that never makes the writer wait. Items that arrive while the reader is busy are merged into
 * one, so a slow reader costs memory for its newest state only, not for every step it missed.
 */
export class AsyncQueue<T> implements AsyncIterable<T> {
  readonly #merge: (older: T, newer: T) => T;
  #pending: {item: T} | null = null;
  #failure: {error: Error} | null = null;
  #isEnded = false;
  #wakeReader: (() => void) | null = null;

  /** @param merge makes one item of two neighbours; must not lose anything of either */
  constructor(merge: (older: T, newer: T) => T) {
    this.#merge = merge;
  }

  /** Adds an item. Ignored after the end. */
  push(item: T): void {
    if (this.#isEnded) return;
    this.#pending = {item: this.#pending ? this.#merge(this.#pending.item, item) : item};
    this.#wake();
  }

  /** No further items: what is pending can still be read, then the reader ends. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Like `end()`, but the reader then throws. The first of several failures counts. */
  fail(error: Error): void {
    if (this.#isEnded) return;
    this.#failure = {error};
    this.end();
  }

  /**
   * What has been pushed since the last call; waits while there is nothing. One reader only.
   * @returns null after the end
   * @throws the failure
   */
  async take(): Promise<T | null> {
    for (;;) {
      const pending = this.#pending;
      this.#pending = null;
      if (pending) return pending.item;
      if (this.#failure) throw this.#failure.error;
      if (this.#isEnded) return null;
      await new Promise<void>((resolve) => (this.#wakeReader = resolve));
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (let item = await this.take(); item !== null; item = await this.take()) yield item;
  }

  #wake(): void {
    this.#wakeReader?.();
    this.#wakeReader = null;
  }
}
