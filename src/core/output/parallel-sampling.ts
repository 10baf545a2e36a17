/** A request with `n` choices becomes `n` sequences that differ in their seed only (`vllm/v1/engine/parallel_sampling.py`). */
import type {SamplingParams} from '../sampling/sampling-params.ts';

const seedBits = 64;

/**
 * Parameters of each choice, by index: with a seed s, choice i gets s + i; without one each sequence draws its own.
 * @param numChoices at least 1
 */
export function samplingOfChoices(sampling: SamplingParams, numChoices: number): SamplingParams[] {
  return Array.from({length: numChoices}, (_, index) => ({...sampling, seed: seedOfChoice(sampling.seed, index)}));
}

function seedOfChoice(seed: bigint | null, index: number): bigint | null {
  return seed === null ? null : BigInt.asIntN(seedBits, seed + BigInt(index));
}
