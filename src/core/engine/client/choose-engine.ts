/**
 * Which of several engines gets a request: the one that has the least to do until the request's answer is complete. All
 * costs are counted in prompt tokens to compute, so a known beginning and a shorter queue can be weighed against each
 * other: the longest known prefix wins, unless its engine is so busy that computing the prompt elsewhere is quicker.
 */

/** An engine as seen by one new request. */
export interface EngineCandidate {
  index: number;
  /** Tokens of the prompt whose keys and values are probably there. */
  knownTokens: number;
  /** Prompt tokens that wait for their first step there. */
  backlogTokens: number;
  /** Sequences handed in and not finished. */
  openSequences: number;
}

/** What one more decoding sequence beside it costs an answer of usual length, in prompt tokens (measured ratio of step times). */
const sequenceCost = 100;

/**
 * @param candidates at least one
 * @param after the index that was chosen last: of equals the next one in turn is taken
 */
export function chooseEngine(candidates: readonly EngineCandidate[], promptTokens: number, after: number): number {
  const inTurn = [...candidates.filter(({index}) => index > after), ...candidates.filter(({index}) => index <= after)];
  return inTurn.reduce((best, next) => (costOf(next, promptTokens) < costOf(best, promptTokens) ? next : best)).index;
}

function costOf({knownTokens, backlogTokens, openSequences}: EngineCandidate, promptTokens: number): number {
  return promptTokens - knownTokens + backlogTokens + openSequences * sequenceCost;
}
