/**
 * Where the decoding sequences stand. One forward pass computes neighbouring rows only, so before each step they are
 * brought together with the least copying: a single sequence stays where it is, a new one is exchanged to an edge, a
 * hole is filled from the cheaper edge.
 */

export interface WindowRow {
  isDecoding: boolean;
  /** Tokens that an exchange of this row must move; 0 for a row without content. */
  numTokens: number;
}

export interface RowMove {
  /** A decoding row outside the window. */
  from: number;
  /** A row inside that is not decoding. */
  to: number;
}

/** Counted per exchange on top of its tokens, so that fewer moves win over as many tokens. */
const moveOverheadTokens = 4;

/**
 * Finds the cheapest place for the window and the moves that lead there; none when all is in place.
 * @param isAtFirstRow the window begins with row 0 instead of anywhere
 */
export function planWindow(rows: readonly WindowRow[], isAtFirstRow = false): RowMove[] {
  const size = rows.filter((row) => row.isDecoding).length;
  const numStarts = isAtFirstRow ? 1 : rows.length - size + 1;
  const starts = Array.from({length: numStarts}, (_, start) => start);
  const costs = starts.map((start) => windowCost(rows, start, size));
  const start = costs.indexOf(Math.min(...costs));
  const isInside = (row: number) => row >= start && row < start + size;
  const outside = [...rows.keys()].filter((row) => rows[row].isDecoding && !isInside(row));
  const holes = [...rows.keys()].filter((row) => !rows[row].isDecoding && isInside(row));
  return outside.map((from, index) => ({from, to: holes[index]}));
}

function windowCost(rows: readonly WindowRow[], start: number, size: number): number {
  return rows.reduce((cost, {isDecoding, numTokens}, row) => {
    const isInside = row >= start && row < start + size;
    return isDecoding === isInside ? cost : cost + numTokens + moveOverheadTokens;
  }, 0);
}
