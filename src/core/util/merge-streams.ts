/** Several async generators as one, in the order in which their values come. */

type Stream<T> = AsyncGenerator<T, void, undefined>;

interface Arrival<T> {
  index: number;
  result: IteratorResult<T, void>;
}

/**
 * Yields the values of all streams with the index of the stream. Each stream is read one value ahead, so a slow reader
 * slows the streams down. When the reader leaves, a stream fails or the signal aborts, all streams are told to stop by
 * the signal given to `open`, and closed.
 */
export async function* mergeStreams<T>(
  numStreams: number,
  open: (index: number, signal: AbortSignal) => Stream<T>,
  {signal}: {signal: AbortSignal},
): AsyncGenerator<{index: number; value: T}, void, undefined> {
  // A signal each: the cost of a listener grows with the listeners that its signal has, and streams can be thousands.
  const leaves = Array.from({length: numStreams}, () => new AbortController());
  const leaveAll = () => leaves.forEach((leave) => void leave.abort());
  if (signal.aborted) leaveAll();
  else signal.addEventListener('abort', leaveAll, {once: true});
  const streams = leaves.map((leave, index) => open(index, leave.signal));
  const arrivals = new ArrivalQueue<T>();
  const read = (index: number) => arrivals.expect(index, streams[index]!.next());
  try {
    for (const index of streams.keys()) read(index);
    for (let numOpen = streams.length; numOpen > 0; ) {
      const {index, result} = await arrivals.take();
      if (result.done) {
        numOpen--;
        continue;
      }
      yield {index, value: result.value};
      read(index);
    }
  } finally {
    signal.removeEventListener('abort', leaveAll);
    leaveAll();
    await Promise.allSettled(streams.map((stream) => stream.return()));
  }
}

/** Results in order of arrival, with one reader. */
class ArrivalQueue<T> {
  readonly #arrived: Arrival<T>[] = [];
  #failure: {error: unknown} | null = null;
  #wake: (() => void) | null = null;

  expect(index: number, next: Promise<IteratorResult<T, void>>): void {
    next
      .then(
        (result) => {
          this.#arrived.push({index, result});
        },
        (error: unknown) => {
          this.#failure ??= {error};
        },
      )
      .finally(() => this.#wake?.());
  }

  /** Values that came before a failure are given out before it. */
  async take(): Promise<Arrival<T>> {
    while (this.#arrived.length === 0) {
      if (this.#failure) throw this.#failure.error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#arrived.shift()!;
  }
}
