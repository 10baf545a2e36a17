/**
 * From decoding rows with drafts to the inputs of a graph in turns: all tokens of the step in one list, and for each turn which of
 * them each row computes. A row that has no token left repeats its last one at the same place, which writes the same
 * keys and values again.
 */
import type {RowChunk} from './model-runner.ts';

export interface Turns {
  /** Tokens of the first row, then of the second, … */
  inputIds: BigInt64Array;
  /** For each turn the place in `inputIds` of each row's token. */
  tokensOfTurns: BigInt64Array[];
  /** For each turn the length of each row after it, minus 1. */
  lengths: Int32Array[];
  /** The longest row after the step. */
  totalLength: Int32Array;
  /** For each token its place among the results `[turn, row]`. */
  tokenOrder: BigInt64Array;
  /** Places in `inputIds` of the tokens whose logits are wanted. */
  logitsAt: BigInt64Array;
}

/** @param chunks at most `numTurns` tokens each */
export function toTurns(chunks: readonly RowChunk[], numTurns: number): Turns {
  const turns = Array.from({length: numTurns}, (_, turn) => turn);
  const firstToken = startsOf(chunks);
  const indexAt = ({tokenIds}: RowChunk, turn: number) => Math.min(turn, tokenIds.length - 1);
  const places = (visit: (chunk: RowChunk, row: number) => number[]) =>
    BigInt64Array.from(chunks.flatMap(visit), BigInt);
  const countFrom = (start: number, count: number, step: number) =>
    Array.from({length: count}, (_, i) => start + i * step);
  return {
    inputIds: places(({tokenIds}) => Array.from(tokenIds)),
    tokensOfTurns: turns.map((turn) => places((chunk, row) => [(firstToken[row] as number) + indexAt(chunk, turn)])),
    lengths: turns.map((turn) => Int32Array.from(chunks, (chunk) => chunk.start + indexAt(chunk, turn))),
    totalLength: Int32Array.of(Math.max(...chunks.map(({start, tokenIds}) => start + tokenIds.length))),
    tokenOrder: places(({tokenIds}, row) => countFrom(row, tokenIds.length, chunks.length)),
    logitsAt: places(({tokenIds, numLogits}, row) =>
      countFrom((firstToken[row] as number) + tokenIds.length - numLogits, numLogits, 1),
    ),
  };
}

function startsOf(chunks: readonly RowChunk[]): number[] {
  let next = 0;
  return chunks.map(({tokenIds}) => {
    const start = next;
    next += tokenIds.length;
    return start;
  });
}
