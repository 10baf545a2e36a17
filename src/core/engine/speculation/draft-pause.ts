/**
 * When a sequence is drafted for: after drafts of which nothing was right, it waits, twice as long each time. Checking costs
 * more than a plain step, and a text that does not repeat itself should not pay for it.
 */

/** Longest wait is 2 ** this many tokens. */
const mostDoublings = 5;

export class DraftPause {
  #numMisses = 0;
  #resumesAt = 0;

  /** @param numOutputTokens tokens that the sequence has made */
  isOver(numOutputTokens: number): boolean {
    return numOutputTokens >= this.#resumesAt;
  }

  /** Says how many tokens of a draft were right. */
  note(numAccepted: number, numOutputTokens: number): void {
    this.#numMisses = numAccepted > 0 ? 0 : Math.min(this.#numMisses + 1, mostDoublings);
    this.#resumesAt = numOutputTokens + (this.#numMisses === 0 ? 0 : 2 ** this.#numMisses);
  }
}
