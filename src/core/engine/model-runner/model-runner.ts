/**
 * The seam between scheduling and the forward pass. A runner owns the weights and the memory of the KV cache: `numRows`
 * rows of `rowCapacity` tokens each. Who uses which row is decided by the KV cache manager; the runner only computes
 * and moves.
 */

/** Tokens of one row that are computed in this step. */
export interface RowChunk {
  /** Row of the KV cache, 0..numRows-1. */
  row: number;
  /** Tokens already in the row's cache: the chunk is written at `[start, start + tokenIds.length)`. */
  start: number;
  tokenIds: ArrayLike<number>;
  /** Of how many tokens at the chunk's end the logits that follow them are wanted; 0 = none. */
  numLogits: number;
}

/** One forward pass. No row occurs twice. */
export interface ModelBatch {
  /**
   * In ascending order of row, without gaps: rows r, r+1, …, r+n-1. One token each, and up to `maxDraftTokens` drafts behind
   * it: tokens that may turn out to be the next ones, computed with the same bits as if one by one.
   */
  decodes: RowChunk[];
  /** Chunks of prompts, any rows. */
  prefills: RowChunk[];
}

/** Memory of the KV cache, as rows. All calls are between two `execute` calls. */
export interface KvRowStore {
  readonly numRows: number;
  /** Tokens that fit into one row. */
  readonly rowCapacity: number;
  readonly bytesPerToken: number;
  /** Rows that decode must be rows 0, 1, …; false = any neighbouring ones. */
  readonly isGatheredAtFirstRow: boolean;
  /** Copies the first `numTokens` tokens of one row over another. */
  copyRow(sourceRow: number, targetRow: number, numTokens: number): void;
  /** Exchanges two rows, of which the first so many tokens count. */
  swapRows(rowA: number, numTokensA: number, rowB: number, numTokensB: number): void;
  /** Gives memory behind the first `keepTokens` tokens back to the system where it can. The content there is lost. */
  releaseRow(row: number, keepTokens: number): void;
}

export interface ModelRunner extends KvRowStore {
  readonly vocabSize: number;
  /** Rows of logits that one step may want besides one for each sequence. */
  readonly maxExtraLogits: number;
  /** Drafts that a decoding row may have in one step; 0 = this runner checks none. */
  readonly maxDraftTokens: number;
  /**
   * Computes one step.
   * @returns logits `[decodes, then what the prefills want; vocabSize]`, in order of position, row-major float32. The array belongs to
   *   the runner and is overwritten by the next call; the caller may change it until then.
   */
  execute(batch: ModelBatch): Promise<Float32Array>;
  /** Releases every native handle. Not during `execute`. May be called twice. */
  close(): void;
}
