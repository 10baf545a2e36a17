/** The events of one choice, from the outputs of its sequence: one output may mean several events, or none. */
import type {SequenceOutput} from './engine/protocol.ts';
import type {ChatEvent} from './parsers/events.ts';
import {ItemStream} from './util/item-stream.ts';

export class ChoiceEvents extends ItemStream<ChatEvent> {
  readonly #outputs: ItemStream<SequenceOutput>;
  readonly #read: (output: SequenceOutput) => ChatEvent[];
  readonly #isFinished: () => boolean;
  /** Those of the last output that have not been given out, the next one last. */
  #waiting: ChatEvent[] = [];

  /** @param isFinished asked after each output: the rest of the sequence is not wanted */
  constructor(
    outputs: ItemStream<SequenceOutput>,
    read: (output: SequenceOutput) => ChatEvent[],
    isFinished: () => boolean,
  ) {
    super();
    this.#outputs = outputs;
    this.#read = read;
    this.#isFinished = isFinished;
  }

  get isOver(): boolean {
    return this.#waiting.length === 0 && this.#outputs.isOver;
  }

  poll(): ChatEvent | null {
    while (this.#waiting.length === 0) {
      const output = this.#outputs.poll();
      if (output === null) return null;
      this.#waiting = this.#read(output).reverse();
      if (this.#isFinished()) this.#outputs.close();
    }
    return this.#waiting.pop()!;
  }

  ready(): Promise<void> {
    return this.#outputs.ready();
  }

  close(): void {
    this.#waiting = [];
    this.#outputs.close();
  }
}
