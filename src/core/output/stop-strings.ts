/**
 * Cuts a growing text at the first stop string. Text that may still become one is held back until it is decided, so
 * that nothing of a stop string is ever shown. Follows vLLM's check_stop_strings (`vllm/v1/engine/detokenizer.py`):
 * the stop string whose end comes first wins, on a tie the first in the list.
 */
import {PatternWatcher} from '../util/held-back-text.ts';

export interface StopStringsOptions {
  stop: readonly string[];
  /** Keep the stop string in the text. */
  includeStopStrInOutput: boolean;
}

export interface StopCheck {
  /** Text that is safe to show. */
  text: string;
  /** The stop string that ends the text here, else null. */
  stopString: string | null;
}

export class StopStrings {
  readonly #stop: readonly string[];
  readonly #includesStop: boolean;
  readonly #watcher: PatternWatcher;
  #held = '';

  constructor({stop, includeStopStrInOutput}: StopStringsOptions) {
    this.#stop = stop.filter(isText);
    this.#includesStop = includeStopStrInOutput;
    this.#watcher = new PatternWatcher(this.#stop);
  }

  /**
   * @param canStop false while the output is shorter than `min_tokens`: a stop string that ends in this piece does not
   *   count, one that only begins here does
   */
  push(text: string, canStop: boolean): StopCheck {
    if (this.#stop.length === 0) return {text, stopString: null};
    const match = canStop ? this.#watcher.feed(text) : null;
    if (match) return this.#cut(text, match);
    if (!canStop) this.#watcher.skip(text);
    return {text: this.#release(text), stopString: null};
  }

  /** Gives out what was held back; for an output that ends without a stop string. */
  flush(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }

  #release(text: string): string {
    const known = this.#held + text;
    const safeLength = this.#includesStop ? known.length : known.length - this.#watcher.heldLength;
    this.#held = known.slice(safeLength);
    return known.slice(0, safeLength);
  }

  #cut(text: string, {pattern, end}: {pattern: number; end: number}): StopCheck {
    const stopString = this.#stop[pattern]!;
    const kept = this.flush() + text.slice(0, end);
    return {text: this.#includesStop ? kept : kept.slice(0, kept.length - stopString.length), stopString};
  }
}

/** Generated text never holds half a character, so a stop string with a lone surrogate can only match by accident. */
function isText(stop: string): boolean {
  return !/\p{Surrogate}/u.test(stop);
}
