/**
 * Logprobs of one position: from a row of logits to the token itself and the candidates that a request asked for.
 * Neutral to formats: the text side adds texts, each route has its own form for the wire. Scores are logarithms of
 * probabilities, or plain logits in two of the modes of `--logprobs-mode`.
 */
import {GenerationError} from '../errors.ts';

/** One token at one position. */
export interface TokenLogprob {
  tokenId: number;
  /** At most 0; -Infinity when the token could not be sampled. */
  logprob: number;
  /**
   * 1 = the most likely one. Of a token that is no candidate: how many tokens are at least as likely. Of a candidate:
   * its place in the list (as vllm/v1/engine/logprobs.py does).
   */
  rank: number;
}

/** A position: first the token that stands there, then the candidates in order. No token is twice. */
export type TokenLogprobs = TokenLogprob[];

/** The same with texts; the token's text is empty while it is only a part of a character. */
export interface DecodedLogprob extends TokenLogprob {
  text: string;
}

export type DecodedLogprobs = DecodedLogprob[];

/** Which candidates are listed. */
export interface LogprobsRequest {
  /** So many of the most likely tokens; -1 = all. */
  count: number;
  /** Exactly these in place of the most likely ones. */
  tokenIds: readonly number[] | null;
}

/** How scores are read: log-softmax of them, or as they are. */
export type ScoreKind = 'logits' | 'logprobs';

/** Lists longer than this are made by sorting everything. */
const maxSelected = 256;
/** exp(-32) times a large vocabulary is below what a float32 logprob can show. */
const negligibleDistance = 32;

/**
 * @param scores one row `[vocabSize]`; only read
 * @param tokenId the token that stands at this position
 * @throws GenerationError when the row holds NaN or no finite number
 */
export function logprobsOf(
  scores: Float32Array,
  tokenId: number,
  {count, tokenIds}: LogprobsRequest,
  kind: ScoreKind = 'logprobs',
): TokenLogprobs {
  const offset = kind === 'logprobs' ? logSumExp(scores) : 0;
  const logprobOf = (id: number) => Math.fround(scores[id] - offset);
  const candidates = tokenIds ?? mostLikely(scores, count === -1 ? scores.length : count);
  const entries = new Map([[tokenId, {tokenId, logprob: logprobOf(tokenId), rank: rankOf(scores, tokenId)}]]);
  candidates.forEach((id, index) => {
    entries.set(id, {tokenId: id, logprob: logprobOf(id), rank: index + 1});
  });
  return [...entries.values()];
}

/** Logarithm of the sum of exp(score). Hot loop over the vocabulary. */
function logSumExp(scores: Float32Array): number {
  let largest = Number.NEGATIVE_INFINITY;
  for (let id = 0; id < scores.length; id++) if (scores[id] > largest) largest = scores[id];
  let sum = 0;
  for (let id = 0; id < scores.length; id++) {
    const distance = largest - scores[id];
    // NaN fails the comparison and so gets into the sum, where it is noticed.
    if (!(distance > negligibleDistance)) sum += Math.exp(-distance);
  }
  const result = largest + Math.log(sum);
  if (Number.isFinite(result)) return result;
  throw new GenerationError('The model produced logits that are not finite numbers; they have no logprobs.');
}

/** How many tokens are at least as likely. Hot loop over the vocabulary. */
function rankOf(scores: Float32Array, tokenId: number): number {
  const score = scores[tokenId];
  let rank = 0;
  for (let id = 0; id < scores.length; id++) if (scores[id] >= score) rank++;
  return rank;
}

/** Ids of the largest scores, largest first; of equal ones the lowest id first. Hot loop over the vocabulary. */
function mostLikely(scores: Float32Array, count: number): number[] {
  if (count === 0) return [];
  if (count > maxSelected) return sortedIds(scores).slice(0, count);
  const selected: number[] = [];
  const numFirst = Math.min(count, scores.length);
  for (let id = 0; id < numFirst; id++) insert(selected, id, scores);
  let least = scores[selected[numFirst - 1]];
  for (let id = numFirst; id < scores.length; id++) {
    if (scores[id] <= least) continue;
    insert(selected, id, scores);
    selected.pop();
    least = scores[selected[numFirst - 1]];
  }
  return selected;
}

function insert(selected: number[], id: number, scores: Float32Array): void {
  let position = selected.length;
  while (position > 0 && scores[selected[position - 1]] < scores[id]) position--;
  selected.splice(position, 0, id);
}

function sortedIds(scores: Float32Array): number[] {
  return Array.from(scores.keys()).sort((a, b) => compareDescending(scores[a], scores[b]) || a - b);
}

/** Subtracting would make NaN of two infinities. */
function compareDescending(a: number, b: number): number {
  return a === b ? 0 : a > b ? -1 : 1;
}
