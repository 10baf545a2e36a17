/**
 * Watches a stream as it passes. An `async function*` around another one costs several promises for each item; here it is
 * one, which counts where an item is a token and there are thousands of streams.
 */

type Stream<T> = AsyncGenerator<T, void, undefined>;

/** How a stream ended. */
export type StreamEnd = {type: 'done'} | {type: 'left'} | {type: 'failed'; error: unknown};

export interface StreamTaps<T> {
  onItem: (item: T) => void;
  /** Called once: after the last item, when the reader leaves, or when the stream fails. */
  onEnd?: (end: StreamEnd) => void;
  /** Another stream to go on with after a failure; null = the failure is the reader's. */
  replace?: (error: unknown) => Stream<T> | null;
}

/** The same items; ends of both sides are passed on. @param open called with the first read */
export function tapStream<T>(open: () => Stream<T>, taps: StreamTaps<T>): Stream<T> {
  return new TappedStream(open, taps);
}

class TappedStream<T> implements AsyncGenerator<T, void, undefined> {
  #source: Stream<T> | null = null;
  readonly #open: () => Stream<T>;
  readonly #taps: StreamTaps<T>;
  #hasEnded = false;
  readonly #pass = (result: IteratorResult<T, void>): IteratorResult<T, void> => {
    if (result.done) this.#end({type: 'done'});
    else this.#taps.onItem(result.value);
    return result;
  };
  readonly #fail = (error: unknown): Promise<IteratorResult<T, void>> => {
    try {
      const next = this.#taps.replace?.(error) ?? null;
      if (next === null) throw error;
      this.#source = next;
    } catch (cause) {
      this.#end({type: 'failed', error: cause});
      throw cause;
    }
    return this.next();
  };

  constructor(open: () => Stream<T>, taps: StreamTaps<T>) {
    this.#open = open;
    this.#taps = taps;
  }

  next(): Promise<IteratorResult<T, void>> {
    if (this.#hasEnded) return Promise.resolve({done: true, value: undefined});
    try {
      this.#source ??= this.#open();
    } catch (error) {
      return Promise.reject(error);
    }
    return this.#source.next().then(this.#pass, this.#fail);
  }

  async return(): Promise<IteratorResult<T, void>> {
    try {
      await this.#source?.return();
    } finally {
      if (this.#source) this.#end({type: 'left'});
      this.#hasEnded = true;
    }
    return {done: true, value: undefined};
  }

  async throw(error: unknown): Promise<IteratorResult<T, void>> {
    await this.return();
    throw error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #end(end: StreamEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#taps.onEnd?.(end);
  }
}
