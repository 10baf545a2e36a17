/**
 * Outputs of a stream's choices on their way to chunks: tokens of a choice wait until there are enough for a chunk; its
 * first and last output never wait.
 */
import {type ChatOutput, joinOutputs} from './chat-outputs.ts';

/** State of one choice. */
interface ChoiceProgress {
  /** Tokens that have been given out. */
  numTokens: number;
  /** What waits for more tokens. */
  pending: ChatOutput | null;
  hasStarted: boolean;
  hasEnded: boolean;
  /** Of the tokens that have been given out. */
  numReasoningTokens: number;
}

export class OutputGatherer {
  readonly #interval: number;
  readonly #choices: ChoiceProgress[];

  /** @param interval least tokens of a chunk between the first and the last */
  constructor(numChoices: number, interval: number) {
    this.#interval = interval;
    this.#choices = Array.from({length: numChoices}, () => ({
      numTokens: 0,
      pending: null,
      hasStarted: false,
      hasEnded: false,
      numReasoningTokens: 0,
    }));
  }

  get numChoices(): number {
    return this.#choices.length;
  }

  /** Tokens of a choice that have been given out. */
  numTokens(choice: number): number {
    return this.#choices[choice]!.numTokens;
  }

  /** Tokens of a choice that were thoughts, of those that have been given out. */
  numReasoningTokens(choice: number): number {
    return this.#choices[choice]!.numReasoningTokens;
  }

  /** Over all choices. */
  get totalReasoningTokens(): number {
    return this.#choices.reduce((sum, {numReasoningTokens}) => sum + numReasoningTokens, 0);
  }

  /** Over all choices. */
  get totalTokens(): number {
    return this.#choices.reduce((sum, {numTokens}) => sum + numTokens, 0);
  }

  /** Joins an output with what waits; null while there are too few tokens. */
  push(output: ChatOutput): ChatOutput | null {
    const progress = this.#choices[output.choice]!;
    const joined = progress.pending ? joinOutputs(progress.pending, output) : output;
    const isReady = joined.finish !== null || !progress.hasStarted || joined.tokenIds.length >= this.#interval;
    progress.pending = isReady ? null : joined;
    progress.hasEnded = output.finish !== null;
    if (!isReady) return null;
    progress.hasStarted = true;
    progress.numTokens = joined.finish?.numTokens ?? progress.numTokens + joined.tokenIds.length;
    progress.numReasoningTokens = joined.reading?.numReasoningTokens ?? progress.numReasoningTokens;
    return joined;
  }

  /** The ends of the choices that are still open, when the answer is given up. */
  abortOutputs(): ChatOutput[] {
    const open = [...this.#choices.entries()].filter(([, {hasEnded}]) => !hasEnded);
    return open.map(([choice, {numTokens, pending}]) => {
      const total = numTokens + (pending?.tokenIds.length ?? 0);
      const finish = {finishReason: 'abort' as const, stopReason: null, numTokens: total};
      return {choice, text: '', tokenIds: [], logprobs: null, reading: null, finish};
    });
  }
}
