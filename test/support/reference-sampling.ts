/**
 * The slow, obvious form of sampling: softmax over a full sort, filters one after the other. Tests compare the fast
 * sampler with it.
 */
import type {SamplingParams} from '../../src/core/sampling/sampling-params.ts';

interface Candidate {
  id: number;
  logit: number;
  probability: number;
}

/** The tokens that may be drawn, with their probabilities (sum 1), most likely first; equal ones by id. */
export function referenceDistribution(
  logits: Float32Array,
  {temperature, minP, topK, topP}: SamplingParams,
): Map<number, number> {
  let candidates = softmax([...logits], temperature);
  if (minP > 0) candidates = candidates.filter(({probability}) => probability >= minP * candidates[0].probability);
  if (topK > 0 && topK < candidates.length) {
    const kth = candidates[topK - 1].logit;
    candidates = candidates.filter(({logit}) => logit >= kth);
  }
  if (topP < 1) candidates = smallestSetWithMass(normalize(candidates), topP);
  return new Map(normalize(candidates).map(({id, probability}) => [id, probability]));
}

function softmax(logits: number[], temperature: number): Candidate[] {
  const largest = Math.max(...logits);
  const candidates = logits.map((logit, id) => ({
    id,
    logit,
    probability: Math.exp((logit - largest) / temperature),
  }));
  return normalize(
    candidates.filter(({probability}) => probability > 0).sort((a, b) => b.logit - a.logit || a.id - b.id),
  );
}

function smallestSetWithMass(candidates: Candidate[], mass: number): Candidate[] {
  let sum = 0;
  return candidates.filter(({probability}) => {
    const isNeeded = sum < mass;
    sum += probability;
    return isNeeded;
  });
}

function normalize(candidates: Candidate[]): Candidate[] {
  const sum = candidates.reduce((total, {probability}) => total + probability, 0);
  return candidates.map((candidate) => ({...candidate, probability: candidate.probability / sum}));
}
