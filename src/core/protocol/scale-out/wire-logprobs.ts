/** Logprobs as the token route writes them: ids and numbers, no texts. */

interface WireCandidate {
  token_id: number;
  logprob: number;
  rank?: number | null;
}

/** One position: the token that stands there, and the candidates, where it may stand again. */
export interface WirePosition extends WireCandidate {
  top_logprobs: WireCandidate[];
}

/** The token that stands there first, then the candidates; no token is twice. */
export function logprobsOfPosition({top_logprobs: candidates, ...own}: WirePosition) {
  const others = candidates.filter(({token_id}) => token_id !== own.token_id);
  return [own, ...others].map(({token_id, logprob, rank}) => ({tokenId: token_id, logprob, rank: rank ?? 0}));
}
