/** When the tokens of one sequence were made, as far as they count for its answer. */
import type {SequenceOutput} from '../engine/protocol.ts';

/** Moments in milliseconds since 1970. */
export interface GenerationTiming {
  queuedMs: number;
  scheduledMs: number;
  firstTokenMs: number;
  lastTokenMs: number;
  numTokens: number;
}

export class RequestTimer {
  #queuedMs = 0;
  #scheduledMs: number | null = null;
  #firstTokenMs: number | null = null;
  #lastTokenMs = 0;
  #numTokens = 0;

  /** @param numTokens of the output's tokens that count; a stop string may end the answer before the others */
  note({start, tokenTimesMs}: Pick<SequenceOutput, 'start' | 'tokenTimesMs'>, numTokens: number): void {
    if (start !== null) {
      this.#queuedMs = start.queuedMs;
      this.#scheduledMs = start.scheduledMs;
    }
    const count = Math.min(numTokens, tokenTimesMs.length);
    if (count === 0) return;
    this.#firstTokenMs ??= tokenTimesMs[0]!;
    this.#lastTokenMs = tokenTimesMs[count - 1]!;
    this.#numTokens += count;
  }

  /** Null before the first token. */
  get timing(): GenerationTiming | null {
    if (this.#scheduledMs === null || this.#firstTokenMs === null) return null;
    return {
      queuedMs: this.#queuedMs,
      scheduledMs: this.#scheduledMs,
      firstTokenMs: this.#firstTokenMs,
      lastTokenMs: this.#lastTokenMs,
      numTokens: this.#numTokens,
    };
  }
}
