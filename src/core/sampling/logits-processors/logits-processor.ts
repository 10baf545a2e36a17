/**
 * What changes the logits of one sequence before a token is picked. Each kind has its file here and a factory that
 * returns null when the request does not ask for it, so a plain request runs none.
 */
import type {SamplingParams} from '../sampling-params.ts';

export interface LogitsProcessor {
  /**
   * @param logits one row `[vocabSize]`, changed in place; -Infinity = cannot be sampled
   * @param outputTokenIds what the sequence has generated so far; grows from call to call, never changes otherwise
   */
  apply(logits: Float32Array, outputTokenIds: readonly number[]): void;
}

/** Holds an output to a constraint. Runs first: logprobs are made of what it leaves. */
export interface OutputHolder {
  /**
   * @param logits one row `[vocabSize]`, changed in place
   * @param outputTokenIds as for a processor
   * @returns the only token that can come, whatever else the parameters say; null when it is not settled
   */
  hold(logits: Float32Array, outputTokenIds: readonly number[]): number | null;
}

export type LogitsProcessorFactory = (
  params: SamplingParams,
  promptTokenIds: readonly number[],
) => LogitsProcessor | null;

/** A token with this logit has probability 0. */
export const impossible = Number.NEGATIVE_INFINITY;
