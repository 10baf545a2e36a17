/**
 * Streams with one reader that can be read without a promise for each item: what is there is taken at once, and only the
 * wait for more is a promise, made by the source alone however many layers stand on it. That counts where an item is a
 * token and there are thousands of streams. Each is an async generator as well, for loops that need no such care.
 */

export abstract class ItemStream<T> implements AsyncGenerator<T, void, undefined> {
  /**
   * The next item, when it is there; null = nothing now, and `isOver` says whether there will be more.
   * @throws the failure of the stream, once; it is over then
   */
  abstract poll(): T | null;

  /** Nothing will come any more. Asked after `poll`. */
  abstract get isOver(): boolean;

  /** Resolves when `poll` should be called again. Never rejects. */
  abstract ready(): Promise<void>;

  /** The reader leaves: the stream is over, and its source is told. */
  abstract close(): void;

  async next(): Promise<IteratorResult<T, void>> {
    for (;;) {
      const item = this.#pollOrClose();
      if (item !== null) return {value: item, done: false};
      if (this.isOver) return {value: undefined, done: true};
      await this.ready();
    }
  }

  /** A loop over a generator that has thrown does not leave it, so nobody else would tell the source. */
  #pollOrClose(): T | null {
    try {
      return this.poll();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<T, void>> {
    this.close();
    return {value: undefined, done: true};
  }

  async throw(error: unknown): Promise<IteratorResult<T, void>> {
    this.close();
    throw error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/**
 * Hands every item to `take`, and waits where that gives something to wait for. Closes the stream at the end.
 * @throws what the stream or `take` throws
 */
export async function readItems<T>(stream: ItemStream<T>, take: (item: T) => Promise<void> | undefined): Promise<void> {
  try {
    for (;;) {
      const item = stream.poll();
      const wait = item === null ? (stream.isOver ? null : stream.ready()) : take(item);
      if (wait === null) return;
      if (wait) await wait;
    }
  } finally {
    stream.close();
  }
}

/** An async generator as a stream: a promise for each item. Leaving it runs what it does at its end, unawaited. */
export function streamOf<T>(generator: AsyncGenerator<T, void, undefined>): ItemStream<T> {
  return new GeneratedStream(generator);
}

/** A stream that takes time to open; nothing happens before the first read. A reader that leaves closes it once it is open. */
export function openStream<T>(open: () => Promise<ItemStream<T>>): ItemStream<T> {
  return new OpeningStream(open);
}

class GeneratedStream<T> extends ItemStream<T> {
  readonly #generator: AsyncGenerator<T, void, undefined>;
  #arrived: T | null = null;
  #failure: {error: unknown} | null = null;
  #next: Promise<void> | null = null;
  isOver = false;

  constructor(generator: AsyncGenerator<T, void, undefined>) {
    super();
    this.#generator = generator;
  }

  poll(): T | null {
    const arrived = this.#arrived;
    this.#arrived = null;
    this.#throwFailure();
    if (arrived === null && !this.isOver) this.#next ??= this.#read();
    return arrived;
  }

  ready(): Promise<void> {
    return this.#next ?? Promise.resolve();
  }

  close(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#arrived = null;
    // Nobody is left to hear of a failure.
    this.#generator.return().catch(() => {});
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure) throw failure.error;
  }

  async #read(): Promise<void> {
    try {
      const {value, done} = await this.#generator.next();
      if (this.isOver) return;
      if (done) this.isOver = true;
      else this.#arrived = value;
    } catch (error) {
      if (!this.isOver) this.#failure = {error};
      this.isOver = true;
    } finally {
      this.#next = null;
    }
  }
}

class OpeningStream<T> extends ItemStream<T> {
  readonly #open: () => Promise<ItemStream<T>>;
  #opening: Promise<void> | null = null;
  #stream: ItemStream<T> | null = null;
  #failure: {error: unknown} | null = null;
  #hasLeft = false;

  constructor(open: () => Promise<ItemStream<T>>) {
    super();
    this.#open = open;
  }

  get isOver(): boolean {
    return this.#hasLeft || (this.#stream?.isOver ?? false);
  }

  poll(): T | null {
    if (this.#stream) return this.#stream.poll();
    if (this.#failure && !this.#hasLeft) {
      this.#hasLeft = true;
      throw this.#failure.error;
    }
    if (!this.#hasLeft) this.#opening ??= this.#begin();
    return null;
  }

  ready(): Promise<void> {
    return this.#stream?.ready() ?? this.#opening ?? Promise.resolve();
  }

  close(): void {
    this.#hasLeft = true;
    this.#stream?.close();
  }

  async #begin(): Promise<void> {
    try {
      this.#stream = await this.#open();
      if (this.#hasLeft) this.#stream.close();
    } catch (error) {
      this.#failure = {error};
    }
  }
}
