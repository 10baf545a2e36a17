/**
 * `thinking_token_budget`: once a thought has so many tokens, its end marker is all that can come next. Tokens of the prompt
 * behind an opening marker count, as in vLLM (vllm/v1/sample/logits_processor/builtin.py, thinking budget). Where a format
 * begins in a thought that nothing opened, the first token of the output is its first; vLLM sets no limit there.
 */
import type {ThinkingBudget} from '../sampling-params.ts';
import {impossible, type LogitsProcessor, type LogitsProcessorFactory} from './logits-processor.ts';

export const thinkingBudget: LogitsProcessorFactory = ({thinkingBudget: limit}, promptTokenIds) =>
  limit === null ? null : new BudgetKeeper(limit, promptTokenIds);

class BudgetKeeper implements LogitsProcessor {
  readonly #budget: ThinkingBudget;
  /** The last tokens, as many as the longest marker has. */
  #recent: number[] = [];
  #numThought: number | null = null;
  /** Tokens of the end marker that have been forced so far. */
  #numForced = 0;
  #numSeen = 0;

  constructor(budget: ThinkingBudget, promptTokenIds: readonly number[]) {
    this.#budget = budget;
    for (const tokenId of promptTokenIds) this.#see(tokenId);
    if (budget.startsInside && this.#numThought === null) this.#open();
  }

  apply(logits: Float32Array, outputTokenIds: readonly number[]): void {
    for (; this.#numSeen < outputTokenIds.length; this.#numSeen++) this.#see(outputTokenIds[this.#numSeen]!);
    if (this.#numThought === null || this.#numThought < this.#budget.maxTokens) return;
    const forced = this.#budget.closeTokenIds[this.#numForced++ % this.#budget.closeTokenIds.length]!;
    logits.fill(impossible);
    logits[forced] = 0;
  }

  #see(tokenId: number): void {
    const {openTokenIds, closeTokenIds} = this.#budget;
    this.#recent = [...this.#recent, tokenId].slice(-Math.max(openTokenIds.length, closeTokenIds.length));
    if (endsWith(this.#recent, closeTokenIds)) this.#numThought = null;
    else if (endsWith(this.#recent, openTokenIds)) this.#open();
    else if (this.#numThought !== null) this.#numThought++;
  }

  #open(): void {
    this.#numThought = 0;
    this.#numForced = 0;
  }
}

function endsWith(tokenIds: readonly number[], tail: readonly number[]): boolean {
  const start = tokenIds.length - tail.length;
  return start >= 0 && tail.every((tokenId, index) => tokenIds[start + index] === tokenId);
}
