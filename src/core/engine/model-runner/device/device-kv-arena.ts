/**
 * The KV cache on a device. As on the CPU there is one key and one value buffer `[rows, kv heads, capacity, head size]` for
 * each layer, but of a device buffer only the beginning can be seen as a tensor: rows `0..n-1` decode in place, any other
 * row is computed in a stage `[1, kv heads, capacity, head size]` and its new tokens are then copied to the row.
 *
 * What the stage holds: the first `#staged.numTokens` tokens of row `#staged.row`, as they are in the arena. A prompt that
 * goes on where it left off therefore copies only what is new. Copies between rows are remembered and done before
 * the next run.
 */
import {assertInvariant} from '../../../util/assert.ts';
import {type KvMemory, type KvShape, type KvType, kvBytesPerToken} from '../kv-memory.ts';
import type {RowChunk} from '../model-runner.ts';
import type {DeviceMemory} from '../ort/device-memory.ts';
import type {OrtTensor} from '../ort/ort-tensor.ts';
import type {KvCopier, VectorMoves} from './kv-copier.ts';

/** Tokens of a row, by the row and their positions. */
interface RowPart {
  row: number;
  start: number;
  end: number;
}

type PendingCopy = {from: RowPart; to: RowPart}[];

/** One buffer in the forms in which it is bound. */
interface Buffers {
  tensors: readonly OrtTensor[];
  /** `[rows * kv heads * capacity, head size]` over the same memory. */
  flat: readonly OrtTensor[];
}

export class DeviceKvArena implements KvMemory {
  readonly shape: KvShape;
  readonly bytesPerToken: number;
  readonly isGatheredAtFirstRow = true;
  readonly #memory: DeviceMemory;
  readonly #copier: KvCopier;
  readonly #type: KvType;
  readonly #rows: Buffers;
  readonly #stage: Buffers;
  /** Views of rows `0..n-1` by n. */
  readonly #windows = new Map<number, readonly OrtTensor[]>();
  #staged = {row: -1, numTokens: 0};
  #isStageBound = false;
  #pending: PendingCopy[] = [];

  /** Takes over memory and copier: `close` closes them. */
  constructor(memory: DeviceMemory, copier: KvCopier, shape: KvShape, type: KvType) {
    this.shape = shape;
    this.bytesPerToken = kvBytesPerToken(shape, type);
    this.#memory = memory;
    this.#copier = copier;
    this.#type = type;
    this.#rows = this.#allocate(shape.numRows);
    this.#stage = this.#allocate(1);
  }

  async prepare(chunks: readonly RowChunk[], isDecode: boolean): Promise<void> {
    await this.#copyPending();
    const [{row, start}] = chunks as readonly [RowChunk];
    this.#isStageBound = !isDecode;
    if (isDecode) this.#forgetOverwritten(chunks);
    else await this.#fillStage(row, start);
  }

  view(firstRow: number, numRows: number): readonly OrtTensor[] {
    return this.#isStageBound ? this.#stage.tensors : this.#window(firstRow, numRows);
  }

  async settle(chunks: readonly RowChunk[], isDecode: boolean): Promise<void> {
    if (isDecode) return;
    const [{row, start, tokenIds}] = chunks as readonly [RowChunk];
    const end = start + tokenIds.length;
    const moves = this.#moves([{from: {row: 0, start, end}, to: {row, start, end}}]);
    await this.#copier.copy(this.#stage.flat, this.#rows.flat, moves);
    this.#staged = {row, numTokens: end};
  }

  copyRow(sourceRow: number, targetRow: number, numTokens: number): void {
    this.#remember([wholeMove(sourceRow, targetRow, numTokens)]);
  }

  swapRows(rowA: number, numTokensA: number, rowB: number, numTokensB: number): void {
    this.#remember([wholeMove(rowA, rowB, numTokensA), wholeMove(rowB, rowA, numTokensB)]);
  }

  /** Memory of a device is taken once and for all. */
  releaseRow(): void {}

  close(): void {
    const views = [...this.#windows.values(), this.#rows.flat, this.#stage.flat];
    for (const tensors of [...views, this.#rows.tensors, this.#stage.tensors]) {
      for (const tensor of tensors) tensor.release();
    }
    this.#copier.close();
    this.#memory.close();
  }

  #allocate(numRows: number): Buffers {
    const {numLayers, headSize} = this.shape;
    const dims = this.#dims(numRows);
    const tensors = Array.from({length: 2 * numLayers}, () => this.#memory.allocate(this.#type, dims));
    const vectors = [numRows * this.#vectorsPerRow, headSize];
    return {tensors, flat: tensors.map((tensor) => this.#memory.view(tensor, this.#type, vectors))};
  }

  #window(firstRow: number, numRows: number): readonly OrtTensor[] {
    assertInvariant(firstRow === 0, 'on a device the rows that decode begin with the first one');
    const known = this.#windows.get(numRows);
    if (known) return known;
    const dims = this.#dims(numRows);
    const window = this.#rows.tensors.map((tensor) => this.#memory.view(tensor, this.#type, dims));
    this.#windows.set(numRows, window);
    return window;
  }

  #dims(numRows: number): number[] {
    const {numKvHeads, capacity, headSize} = this.shape;
    return [numRows, numKvHeads, capacity, headSize];
  }

  get #vectorsPerRow(): number {
    return this.shape.numKvHeads * this.shape.capacity;
  }

  #remember(copies: PendingCopy): void {
    this.#pending.push(copies);
    if (copies.some(({to}) => to.row === this.#staged.row)) this.#staged = {row: -1, numTokens: 0};
  }

  async #copyPending(): Promise<void> {
    for (const copies of this.#pending.splice(0)) {
      const moves = this.#moves(copies);
      if (moves.from.length > 0) await this.#copier.copy(this.#rows.flat, this.#rows.flat, moves);
    }
  }

  /** Brings the tokens before a chunk into the stage. */
  async #fillStage(row: number, numTokens: number): Promise<void> {
    const start = this.#staged.row === row ? Math.min(this.#staged.numTokens, numTokens) : 0;
    if (start < numTokens) {
      const moves = this.#moves([{from: {row, start, end: numTokens}, to: {row: 0, start, end: numTokens}}]);
      await this.#copier.copy(this.#rows.flat, this.#stage.flat, moves);
    }
    this.#staged = {row, numTokens};
  }

  /** A row that decodes has other tokens than the stage from there on. */
  #forgetOverwritten(chunks: readonly RowChunk[]): void {
    const own = chunks.find(({row}) => row === this.#staged.row);
    if (own) this.#staged.numTokens = Math.min(this.#staged.numTokens, own.start);
  }

  #moves(copies: PendingCopy): VectorMoves {
    return {
      from: BigInt64Array.from(
        copies.flatMap(({from}) => this.#vectorsOf(from)),
        BigInt,
      ),
      to: BigInt64Array.from(
        copies.flatMap(({to}) => this.#vectorsOf(to)),
        BigInt,
      ),
    };
  }

  /** Where the vectors of these tokens stand in a flat buffer, head by head. */
  #vectorsOf({row, start, end}: RowPart): number[] {
    const {numKvHeads, capacity} = this.shape;
    return Array.from({length: numKvHeads * (end - start)}, (_, index) => {
      const head = Math.floor(index / (end - start));
      return (row * numKvHeads + head) * capacity + start + (index % (end - start));
    });
  }
}

function wholeMove(from: number, to: number, numTokens: number) {
  return {from: {row: from, start: 0, end: numTokens}, to: {row: to, start: 0, end: numTokens}};
}
