/**
 * Calls of which either all count or none: what a machine finds is written down here until their group is closed, and
 * then told in one go.
 */

import type {ParseSink} from './parse-sink.ts';

type CallSink = Pick<ParseSink, 'callStart' | 'callArguments' | 'callEnd'>;

export class CallGroup implements CallSink {
  readonly #events: ((sink: CallSink) => void)[] = [];

  /** No call was found yet. */
  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  callStart(name: string, id: string | undefined): void {
    this.#events.push((sink) => sink.callStart(name, id));
  }

  callArguments(json: string): void {
    this.#events.push((sink) => sink.callArguments(json));
  }

  callEnd(): void {
    this.#events.push((sink) => sink.callEnd());
  }

  /** Tells everything that was written down. */
  release(sink: CallSink): void {
    for (const tell of this.#events) tell(sink);
  }
}
