/**
 * How many tokens of a prompt go into the next step. Where a prompt is cut depends on the company it runs in, and its
 * answer must not, so cuts are made only where they leave no trace in the numbers.
 *
 * The attention operator works through a chunk in tiles of rows; a tile of a single row takes a matrix-vector kernel with
 * other last bits than the matrix-matrix kernel of larger tiles, and rounding activations to 8 bits makes that visible
 * in the logits. Tiles are a multiple of 16 rows (twice the head size), so a chunk with one row beyond a multiple of 16
 * may end in such a tile. Measured: all other lengths give the same bits as the whole prompt at once.
 */
const tileRows = 16;

/** Tokens at the end of a sequence that are always computed together; see above. */
export const minChunkTokens = 2;

const endsInSingleRow = (length: number) => length % tileRows === 1;

/**
 * @param numMissing tokens of the sequence that are not computed yet
 * @param budget tokens that this step may still compute
 * @param isForced any chunk is better than none: the budget of a whole step is too small for a good one
 * @returns length of the chunk; 0 = wait for a step with more room
 */
export function chunkLength(numMissing: number, budget: number, isForced: boolean): number {
  const most = Math.min(budget, numMissing);
  if (numMissing === 1) return most;
  for (let length = most; length >= minChunkTokens; length--) {
    if (!endsInSingleRow(length) && numMissing - length !== 1) return length;
  }
  return isForced ? most : 0;
}
