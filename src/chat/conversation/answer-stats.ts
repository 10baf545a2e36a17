/** Times and token counts of one answer, taken while its events pass. */
import type {AnswerEvent, AnswerUsage} from './answer-event.ts';

export interface AnswerStats {
  promptTokens: number | null;
  completionTokens: number;
  /** From the question to the first output; null when there was none. */
  timeToFirstTokenMs: number | null;
  /** `(tokens - 1) / (last - first)`; null with fewer than two. */
  tokensPerSecond: number | null;
  /** Tokens over the whole time, as vLLM's `--stats` has it. */
  tokensPerSecondOverall: number | null;
  totalMs: number;
  reasoningMs: number;
  reasoningPieces: number;
}

export class AnswerClock {
  readonly #now: () => number;
  readonly #start: number;
  #first: number | null = null;
  #last: number | null = null;
  #lastReasoning: number | null = null;
  #numPieces = 0;
  #numReasoningPieces = 0;
  #usage: AnswerUsage | null = null;

  /** @param now milliseconds of a clock that only goes forward */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#start = now();
  }

  note(event: AnswerEvent): void {
    if (event.type === 'finish') {
      this.#usage = event.usage;
      return;
    }
    const time = this.#now();
    this.#first ??= time;
    this.#last = time;
    this.#numPieces++;
    if (event.type !== 'reasoning-delta') return;
    this.#lastReasoning = time;
    this.#numReasoningPieces++;
  }

  /** Until the server tells its count, a piece counts as a token. */
  stats(): AnswerStats {
    const completionTokens = this.#usage?.completionTokens ?? this.#numPieces;
    const totalMs = this.#now() - this.#start;
    return {
      promptTokens: this.#usage?.promptTokens ?? null,
      completionTokens,
      timeToFirstTokenMs: this.#first === null ? null : this.#first - this.#start,
      tokensPerSecond: this.#rate(completionTokens),
      tokensPerSecondOverall: totalMs > 0 && completionTokens > 0 ? (completionTokens * 1000) / totalMs : null,
      totalMs,
      reasoningMs: this.#lastReasoning === null ? 0 : this.#lastReasoning - this.#start,
      reasoningPieces: this.#numReasoningPieces,
    };
  }

  #rate(tokens: number): number | null {
    if (this.#first === null || this.#last === null || this.#last <= this.#first || tokens < 2) return null;
    return ((tokens - 1) * 1000) / (this.#last - this.#first);
  }
}
