/**
 * Advances token streams together, so that each forward pass holds a token of every stream that decodes. A new stream
 * computes its prompt on its own and joins with its first token.
 */
import {setImmediate} from 'node:timers/promises';

/** What becomes of a token; false ends the stream. */
type OnToken = (token: number) => boolean;

export type StreamEnd = 'ended' | 'stopped';

interface Stream {
  tokens: AsyncGenerator<number, void, void>;
  onToken: OnToken;
  finish: (end: StreamEnd) => void;
  fail: (error: unknown) => void;
}

export class StepLoop {
  readonly #decoding = new Set<Stream>();
  #isRunning = false;

  /** @returns how the stream came to its end: by itself, or because `onToken` said so */
  run(tokens: AsyncGenerator<number, void, void>, onToken: OnToken): Promise<StreamEnd> {
    return new Promise((finish, fail) => void this.#start({tokens, onToken, finish, fail}));
  }

  async #start(stream: Stream): Promise<void> {
    if (!(await this.#advance(stream))) return;
    this.#decoding.add(stream);
    if (!this.#isRunning) void this.#loop();
  }

  async #loop(): Promise<void> {
    this.#isRunning = true;
    while (this.#decoding.size > 0) {
      // Streams whose first tokens came from the same forward pass all get here before the next one.
      await setImmediate();
      await Promise.all([...this.#decoding].map((stream) => this.#step(stream)));
    }
    this.#isRunning = false;
  }

  async #step(stream: Stream): Promise<void> {
    if (!(await this.#advance(stream))) this.#decoding.delete(stream);
  }

  /** One token. @returns whether the stream goes on */
  async #advance({tokens, onToken, finish, fail}: Stream): Promise<boolean> {
    try {
      const {value, done} = await tokens.next();
      if (done) finish('ended');
      else if (onToken(value)) return true;
      else {
        await tokens.return();
        finish('stopped');
      }
    } catch (error) {
      fail(error);
    }
    return false;
  }
}
