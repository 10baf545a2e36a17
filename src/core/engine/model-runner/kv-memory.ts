/**
 * Where the keys and values of all rows are, as the runners of this folder see it. A run over a row or over neighbouring
 * rows is framed by `prepare` and `settle`; in between `view` gives the tensors to bind as input and output.
 */
import type {KvRowStore, RowChunk} from './model-runner.ts';
import type {OrtTensor} from './ort/ort-tensor.ts';

export interface KvShape {
  numLayers: number;
  numRows: number;
  numKvHeads: number;
  /** Tokens of one row. */
  capacity: number;
  headSize: number;
}

/** Of keys and values. */
export type KvType = 'float32' | 'float16';

const bytesPerNumber: Readonly<Record<KvType, number>> = {float32: 4, float16: 2};

type RowMoves = Pick<KvRowStore, 'copyRow' | 'swapRows' | 'releaseRow'>;

export interface KvMemory extends RowMoves, Pick<KvRowStore, 'bytesPerToken' | 'isGatheredAtFirstRow'> {
  /** Before a run over these rows. */
  prepare(chunks: readonly RowChunk[], isDecode: boolean): Promise<void>;
  /** Tensors `[numRows, kv heads, capacity, head size]` over rows `firstRow`…: key and value of layer 0, of layer 1, … */
  view(firstRow: number, numRows: number): readonly OrtTensor[];
  /** After a run over these rows, which has written their tokens through the view. */
  settle(chunks: readonly RowChunk[], isDecode: boolean): Promise<void>;
  close(): void;
}

/** Bytes of one token in the cache. */
export function kvBytesPerToken(
  {numLayers, numKvHeads, headSize}: Pick<KvShape, 'numLayers' | 'numKvHeads' | 'headSize'>,
  type: KvType = 'float32',
): number {
  return 2 * numLayers * numKvHeads * headSize * bytesPerNumber[type];
}
