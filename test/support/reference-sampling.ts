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

/** A row as the request changes it before a token is picked, one rule after the other in the order of vLLM. */
export function referenceLogits(
  logits: Float32Array,
  params: SamplingParams,
  promptTokenIds: readonly number[],
  outputTokenIds: readonly number[],
): number[] {
  let row = [...logits];
  const {allowedTokenIds, badWordsTokenIds, logitBias} = params;
  if (allowedTokenIds) row = row.map((logit, id) => (allowedTokenIds.includes(id) ? logit : Number.NEGATIVE_INFINITY));
  for (const word of badWordsTokenIds) {
    const said = outputTokenIds.slice(outputTokenIds.length - word.length + 1);
    if (String([...said, word.at(-1)]) === String(word)) row[word.at(-1)!] = Number.NEGATIVE_INFINITY;
  }
  if (outputTokenIds.length < params.minTokens) {
    for (const id of [params.eosTokenId, ...params.stopTokenIds]) if (id !== null) row[id] = Number.NEGATIVE_INFINITY;
  }
  for (const [id, bias] of logitBias) row[id] = Math.fround(row[id]! + bias);
  return row.map((logit, id) => penalized(logit, id, params, promptTokenIds, outputTokenIds));
}

function penalized(
  logit: number,
  id: number,
  {repetitionPenalty, frequencyPenalty, presencePenalty}: SamplingParams,
  promptTokenIds: readonly number[],
  outputTokenIds: readonly number[],
): number {
  const count = outputTokenIds.filter((tokenId) => tokenId === id).length;
  const isSeen = count > 0 || promptTokenIds.includes(id);
  const repeated = !isSeen ? logit : logit > 0 ? logit / repetitionPenalty : logit * repetitionPenalty;
  return Math.fround(repeated - frequencyPenalty * count - (count > 0 ? presencePenalty : 0));
}
