/** Times and token counts of one answer, taken while its events pass. */
import type {AnswerEvent, AnswerUsage} from './answer-event.ts';

export interface AnswerStats {
  promptTokens: number | null;
  completionTokens: number;
  /** From the question to the first output; null when there was none. */
  timeToFirstTokenMs: number | null;
  /** `(tokens - 1) / (last - first)`; null where that says nothing. */
  tokensPerSecond: number | null;
  /** Tokens over the whole time, as vLLM's `--stats` has it. */
  tokensPerSecondOverall: number | null;
  totalMs: number;
  reasoningMs: number;
  reasoningPieces: number;
}

/** What comes in a moment, or is only a few tokens, has no speed that means something. */
const leastOfSpeed = {tokens: 5, milliseconds: 100};

/** Between the first token and the last. Null when there is too little to measure. */
export function speedOf(numTokens: number, milliseconds: number): number | null {
  if (numTokens < leastOfSpeed.tokens || milliseconds < leastOfSpeed.milliseconds) return null;
  return ((numTokens - 1) * 1000) / milliseconds;
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
      tokensPerSecond: speedOf(completionTokens, (this.#last ?? 0) - (this.#first ?? 0)),
      tokensPerSecondOverall: totalMs > 0 && completionTokens > 0 ? (completionTokens * 1000) / totalMs : null,
      totalMs,
      reasoningMs: this.#lastReasoning === null ? 0 : this.#lastReasoning - this.#start,
      reasoningPieces: this.#numReasoningPieces,
    };
  }
}
