/** The slow, obvious form of logprobs: softmax in double precision over a full sort. */
import type {LogprobsRequest, TokenLogprobs} from '../../src/core/sampling/token-logprobs.ts';

export function referenceLogprobs(
  scores: Float32Array,
  tokenId: number,
  {count, tokenIds}: LogprobsRequest,
): TokenLogprobs {
  const largest = Math.max(...scores);
  const total = [...scores].reduce((sum, score) => sum + Math.exp(score - largest), 0);
  const logprob = (id: number) => Math.log(Math.exp(scores[id] - largest) / total);
  const sorted = [...scores.keys()].sort((a, b) => scores[b] - scores[a] || a - b);
  const candidates = tokenIds ?? sorted.slice(0, count === -1 ? scores.length : count);
  const ids = [...new Set([tokenId, ...candidates])];
  return ids.map((id) => ({
    tokenId: id,
    logprob: logprob(id),
    rank: candidates.lastIndexOf(id) + 1 || [...scores].filter((score) => score >= scores[tokenId]).length,
  }));
}
