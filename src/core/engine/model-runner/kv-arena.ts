/**
 * Memory of the KV cache on the CPU: for each layer a key and a value buffer `[rows, kv heads, capacity, head size]`.
 * Pages that were never written cost nothing. The forward pass reads and writes rows in place through tensors over a part
 * of the same memory, so a batch of neighbouring rows or a single row is a view and never a copy.
 */
import {assertInvariant} from '../../util/assert.ts';
import {type KvMemory, type KvShape, type KvType, kvBytesPerToken} from './kv-memory.ts';
import {givePagesBack} from './native-memory.ts';
import type {OrtEnvironment} from './ort/ort-environment.ts';
import {addressOf, OrtTensor} from './ort/ort-tensor.ts';

/** Bits of halves are only moved here, never read. */
type CacheBuffer = Float32Array | Uint16Array;

/** Views kept ready; each is one tensor per buffer. */
const maxViews = 128;

export class KvArena implements KvMemory {
  readonly shape: KvShape;
  readonly bytesPerToken: number;
  readonly isGatheredAtFirstRow = false;
  /** Key and value of layer 0, key and value of layer 1, … */
  readonly #buffers: CacheBuffer[];
  readonly #type: KvType;
  readonly #environment: OrtEnvironment;
  readonly #views = new Map<string, OrtTensor[]>();
  readonly #scratch: CacheBuffer;
  readonly #headFloats: number;
  readonly #rowFloats: number;

  constructor(environment: OrtEnvironment, shape: KvShape, type: KvType = 'float32') {
    this.shape = shape;
    this.bytesPerToken = kvBytesPerToken(shape, type);
    this.#type = type;
    this.#environment = environment;
    this.#headFloats = shape.capacity * shape.headSize;
    this.#rowFloats = shape.numKvHeads * this.#headFloats;
    this.#buffers = Array.from({length: 2 * shape.numLayers}, () => newBuffer(type, shape.numRows * this.#rowFloats));
    this.#scratch = newBuffer(type, this.#headFloats);
  }

  /** The rows are where they are computed. */
  async prepare(): Promise<void> {}

  async settle(): Promise<void> {}

  /** Tensors `[numRows, kv heads, capacity, head size]` over rows `firstRow`…, in the order of the buffers. */
  view(firstRow: number, numRows: number): readonly OrtTensor[] {
    assertInvariant(firstRow >= 0 && firstRow + numRows <= this.shape.numRows, 'a view lies inside the arena');
    const key = `${firstRow}:${numRows}`;
    const known = this.#views.get(key);
    if (known) return known;
    if (this.#views.size >= maxViews) this.#releaseOldestView();
    const view = this.#buffers.map((buffer) => this.#tensorOver(buffer, firstRow, numRows));
    this.#views.set(key, view);
    return view;
  }

  copyRow(sourceRow: number, targetRow: number, numTokens: number): void {
    this.#forEachHead(sourceRow, targetRow, (buffer, source, target) => {
      buffer.copyWithin(target, source, source + numTokens * this.shape.headSize);
    });
  }

  swapRows(rowA: number, numTokensA: number, rowB: number, numTokensB: number): void {
    const floatsA = numTokensA * this.shape.headSize;
    const floatsB = numTokensB * this.shape.headSize;
    this.#forEachHead(rowA, rowB, (buffer, a, b) => {
      this.#scratch.set(buffer.subarray(a, a + floatsA));
      buffer.copyWithin(a, b, b + floatsB);
      buffer.set(this.#scratch.subarray(0, floatsA), b);
    });
  }

  releaseRow(row: number, keepTokens: number): void {
    this.#forEachHead(row, row, (buffer, start) => {
      givePagesBack(buffer.subarray(start + keepTokens * this.shape.headSize, start + this.#headFloats));
    });
  }

  close(): void {
    for (const view of this.#views.values()) for (const tensor of view) tensor.release();
    this.#views.clear();
  }

  /** Calls with the first float of each head of two rows, in every buffer. */
  #forEachHead(rowA: number, rowB: number, visit: (buffer: CacheBuffer, startA: number, startB: number) => void): void {
    for (const buffer of this.#buffers) {
      for (let head = 0; head < this.shape.numKvHeads; head++) {
        const offset = head * this.#headFloats;
        visit(buffer, rowA * this.#rowFloats + offset, rowB * this.#rowFloats + offset);
      }
    }
  }

  #tensorOver(buffer: CacheBuffer, firstRow: number, numRows: number): OrtTensor {
    const {numKvHeads, capacity, headSize} = this.shape;
    const rowBytes = this.#rowFloats * buffer.BYTES_PER_ELEMENT;
    const address = addressOf(buffer) + BigInt(firstRow * rowBytes);
    const dims = [numRows, numKvHeads, capacity, headSize];
    return OrtTensor.at(this.#environment, address, buffer, this.#type, numRows * rowBytes, dims);
  }

  #releaseOldestView(): void {
    for (const [key, view] of this.#views) {
      for (const tensor of view) tensor.release();
      this.#views.delete(key);
      return;
    }
  }
}

function newBuffer(type: KvType, length: number): CacheBuffer {
  return type === 'float16' ? new Uint16Array(length) : new Float32Array(length);
}
