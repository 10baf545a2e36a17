/** Watches a stream as it passes, and may put another one in its place when it fails. */
import {ItemStream} from './item-stream.ts';

/** How a stream ended. */
export type StreamEnd = {type: 'done'} | {type: 'left'} | {type: 'failed'; error: unknown};

export interface StreamTaps<T> {
  onItem: (item: T) => void;
  /** Called once: after the last item, when the reader leaves, or when the stream fails. */
  onEnd?: (end: StreamEnd) => void;
  /** Another stream to go on with after a failure; null = the failure is the reader's. */
  replace?: (error: unknown) => ItemStream<T> | null;
}

/** The same items; ends of both sides are passed on. @param open called with the first read */
export function tapStream<T>(open: () => ItemStream<T>, taps: StreamTaps<T>): ItemStream<T> {
  return new TappedStream(open, taps);
}

class TappedStream<T> extends ItemStream<T> {
  #source: ItemStream<T> | null = null;
  readonly #open: () => ItemStream<T>;
  readonly #taps: StreamTaps<T>;
  #hasEnded = false;

  constructor(open: () => ItemStream<T>, taps: StreamTaps<T>) {
    super();
    this.#open = open;
    this.#taps = taps;
  }

  get isOver(): boolean {
    return this.#hasEnded;
  }

  poll(): T | null {
    if (this.#hasEnded) return null;
    this.#source ??= this.#open();
    const item = this.#read(this.#source);
    if (item !== null) this.#taps.onItem(item);
    else if (this.#source.isOver) this.#end({type: 'done'});
    return item;
  }

  ready(): Promise<void> {
    return this.#source?.ready() ?? Promise.resolve();
  }

  close(): void {
    this.#source?.close();
    if (this.#source) this.#end({type: 'left'});
    this.#hasEnded = true;
  }

  #read(source: ItemStream<T>): T | null {
    try {
      return source.poll();
    } catch (error) {
      this.#source = this.#replacement(error);
      return this.#read(this.#source);
    }
  }

  /** @throws when there is none */
  #replacement(error: unknown): ItemStream<T> {
    try {
      const next = this.#taps.replace?.(error) ?? null;
      if (next !== null) return next;
      throw error;
    } catch (cause) {
      this.#end({type: 'failed', error: cause});
      throw cause;
    }
  }

  #end(end: StreamEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#taps.onEnd?.(end);
  }
}
