/**
 * `repetition_penalty` (tokens of prompt and output), then `frequency_penalty` and `presence_penalty` (tokens of the
 * output), as vllm/model_executor/layers/utils.py: apply_penalties. Counts are kept from step to step, so the cost is
 * the number of different tokens, not the length of the text.
 */
import type {LogitsProcessor, LogitsProcessorFactory} from './logits-processor.ts';

export const penalties: LogitsProcessorFactory = (params, promptTokenIds) => {
  const {repetitionPenalty, frequencyPenalty, presencePenalty} = params;
  if (repetitionPenalty === 1 && frequencyPenalty === 0 && presencePenalty === 0) return null;
  return new Penalties(repetitionPenalty, frequencyPenalty, presencePenalty, promptTokenIds);
};

class Penalties implements LogitsProcessor {
  /** All different tokens, each with its number in the output (0 for those of the prompt alone). */
  readonly #outputCounts: Map<number, number>;
  #numCounted = 0;
  readonly #repetition: number;
  readonly #frequency: number;
  readonly #presence: number;

  constructor(repetition: number, frequency: number, presence: number, promptTokenIds: readonly number[]) {
    this.#repetition = repetition;
    this.#frequency = frequency;
    this.#presence = presence;
    this.#outputCounts = new Map(promptTokenIds.map((id) => [id, 0]));
  }

  apply(logits: Float32Array, outputTokenIds: readonly number[]): void {
    this.#countNewTokens(outputTokenIds);
    for (const [id, count] of this.#outputCounts) {
      const logit = logits[id];
      const repeated = logit > 0 ? logit / this.#repetition : logit * this.#repetition;
      logits[id] = repeated - (count > 0 ? count * this.#frequency + this.#presence : 0);
    }
  }

  #countNewTokens(outputTokenIds: readonly number[]): void {
    for (; this.#numCounted < outputTokenIds.length; this.#numCounted++) {
      const id = outputTokenIds[this.#numCounted];
      this.#outputCounts.set(id, (this.#outputCounts.get(id) ?? 0) + 1);
    }
  }
}
