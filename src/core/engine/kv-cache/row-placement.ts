/**
 * Which row a new sequence gets, and from where the common beginning of its prompt comes. All costs are counted in
 * prompt tokens that would have to be computed: moving the keys and values of a token costs a few hundredths of that,
 * losing kept content costs what its recomputation may once cost.
 */

/** A row as seen by one new sequence. */
export interface RowCandidate {
  row: number;
  /** Nobody owns the row. */
  isFree: boolean;
  /** Tokens that the row holds and the sequence can reuse. */
  commonTokens: number;
  /** Tokens that the row holds and the sequence does not have. */
  otherTokens: number;
  /** Free rows: 0 for the one used longest ago, towards 1 for the latest. */
  recency: number;
  /** A sequence that decodes here needs no move. */
  isAtWindow: boolean;
}

export interface Placement {
  row: number;
  /** Row whose first `reusedTokens` tokens are copied; null when the row itself holds what is reused. */
  copyFrom: number | null;
  reusedTokens: number;
}

/** Copying a token's keys and values against computing it; measured ratios are 1/200 to 1/400. */
const copyCost = 1 / 300;
/** An exchange moves both ways. */
const swapCost = 2 * copyCost;
/** Chance that the latest cached content is asked for again. */
const reuseChance = 0.1;

/**
 * @param candidates all rows, at least one of them free
 * @param sequenceLength tokens of the sequence
 */
export function choosePlacement(candidates: readonly RowCandidate[], sequenceLength: number): Placement {
  const source = candidates.reduce((best, candidate) =>
    candidate.commonTokens > best.commonTokens ? candidate : best,
  );
  const costs = candidates
    .filter((candidate) => candidate.isFree)
    .map((candidate) => ({candidate, cost: placementCost(candidate, source, sequenceLength)}));
  const {candidate} = costs.reduce((best, next) => (next.cost < best.cost ? next : best));
  return isCopyBetter(candidate, source)
    ? {row: candidate.row, copyFrom: source.row, reusedTokens: source.commonTokens}
    : {row: candidate.row, copyFrom: null, reusedTokens: candidate.commonTokens};
}

function placementCost(candidate: RowCandidate, source: RowCandidate, sequenceLength: number): number {
  const reuse = isCopyBetter(candidate, source)
    ? source.commonTokens * copyCost
    : source.commonTokens - candidate.commonTokens;
  const move = candidate.isAtWindow ? 0 : sequenceLength * swapCost;
  return candidate.otherTokens * candidate.recency * reuseChance + reuse + move;
}

function isCopyBetter(candidate: RowCandidate, source: RowCandidate): boolean {
  return source.commonTokens * copyCost < source.commonTokens - candidate.commonTokens;
}
