/** Several streams as one, in the order in which their items come. */
import {ItemStream} from './item-stream.ts';
import {promiseWithResolver} from './promise-with-resolver.ts';

/**
 * The items of all streams. When the signal aborts, each stream is told by the signal given to `open`; when the reader
 * leaves or a stream fails, the others are told in the same way, so that nobody takes it for a leaving of their own reader,
 * and closed.
 */
export function mergeStreams<T>(
  numStreams: number,
  open: (index: number, signal: AbortSignal) => ItemStream<T>,
  {signal}: {signal: AbortSignal},
): ItemStream<T> {
  return new MergedStream(numStreams, open, signal);
}

class MergedStream<T> extends ItemStream<T> {
  readonly #streams: ItemStream<T>[];
  readonly #signal: AbortSignal;
  readonly #leaveAll: () => void;
  /** Streams to look at, the next one first. */
  #due: ItemStream<T>[];
  #news = promiseWithResolver<void>();
  #numOpen: number;

  constructor(numStreams: number, open: (index: number, signal: AbortSignal) => ItemStream<T>, signal: AbortSignal) {
    super();
    // A signal each: the cost of a listener grows with the listeners that its signal has, and streams can be thousands.
    const leaves = Array.from({length: numStreams}, () => new AbortController());
    this.#leaveAll = () => leaves.forEach((leave) => void leave.abort());
    this.#signal = signal;
    if (signal.aborted) this.#leaveAll();
    else signal.addEventListener('abort', this.#leaveAll, {once: true});
    this.#streams = leaves.map((leave, index) => open(index, leave.signal));
    this.#due = [...this.#streams];
    this.#numOpen = numStreams;
  }

  get isOver(): boolean {
    return this.#numOpen === 0;
  }

  poll(): T | null {
    for (let stream = this.#due.shift(); stream !== undefined; stream = this.#due.shift()) {
      const item = this.#read(stream);
      if (item !== null) {
        this.#due.push(stream);
        return item;
      }
      if (stream.isOver) this.#endOne();
      else this.#await(stream);
    }
    return null;
  }

  ready(): Promise<void> {
    return this.isOver || this.#due.length > 0 ? Promise.resolve() : this.#news.promise;
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#leaveAll);
    const isEarly = this.#numOpen > 0;
    this.#numOpen = 0;
    this.#due = [];
    if (isEarly) this.#leaveAll();
    for (const stream of this.#streams) stream.close();
    this.#tell();
  }

  #read(stream: ItemStream<T>): T | null {
    try {
      return stream.poll();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #endOne(): void {
    this.#numOpen--;
    if (this.#numOpen === 0) this.close();
  }

  #await(stream: ItemStream<T>): void {
    void stream.ready().then(() => {
      if (this.isOver) return;
      this.#due.push(stream);
      this.#tell();
    });
  }

  #tell(): void {
    this.#news.resolve();
    this.#news = promiseWithResolver();
  }
}
