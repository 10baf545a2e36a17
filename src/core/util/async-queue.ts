/**
 * A queue with one reader that never makes the writer wait. Items that arrive while the reader is busy are merged into
 * one, so a slow reader costs memory for its newest state only, not for every step it missed.
 */
import {ItemStream} from './item-stream.ts';
import {promiseWithResolver} from './promise-with-resolver.ts';

export class AsyncQueue<T> extends ItemStream<T> {
  readonly #merge: (older: T, newer: T) => T;
  #pending: T | null = null;
  #failure: Error | null = null;
  #isEnded = false;
  /** What a reader waits for. */
  #news: ReturnType<typeof promiseWithResolver<void>> | null = null;

  /** @param merge makes one item of two neighbours; must not lose anything of either */
  constructor(merge: (older: T, newer: T) => T) {
    super();
    this.#merge = merge;
  }

  /** Adds an item. Ignored after the end. */
  push(item: T): void {
    if (this.#isEnded) return;
    this.#pending = this.#pending === null ? item : this.#merge(this.#pending, item);
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
    this.#failure = error;
    this.end();
  }

  get isOver(): boolean {
    return this.#isEnded && !this.#hasNews;
  }

  poll(): T | null {
    const pending = this.#pending;
    this.#pending = null;
    if (pending !== null || this.#failure === null) return pending;
    const failure = this.#failure;
    this.#failure = null;
    throw failure;
  }

  ready(): Promise<void> {
    if (this.#hasNews || this.#isEnded) return Promise.resolve();
    this.#news ??= promiseWithResolver<void>();
    return this.#news.promise;
  }

  close(): void {
    this.#pending = null;
    this.#failure = null;
    this.end();
  }

  get #hasNews(): boolean {
    return this.#pending !== null || this.#failure !== null;
  }

  #wake(): void {
    this.#news?.resolve();
    this.#news = null;
  }
}
