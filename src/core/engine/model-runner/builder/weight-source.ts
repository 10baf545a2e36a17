/**
 * Tensors of a model in the forms that the graph needs, read and converted when they are asked for. Names are those of
 * GGUF files; a source of another kind translates them. What the graph does not take is remembered, so that no part of a
 * model is silently left out.
 */
import type {BlockLayout, BlockMatrix} from '../../../model/gguf/block-formats.ts';

/** One tensor as the graph sees it. */
export interface WeightTensor {
  name: string;
  /** Innermost first: `[columns, rows]`. */
  shape: readonly number[];
  /** How its weights are stored for the integer product; null = plain floats. */
  layout: BlockLayout | null;
}

/** Where the bytes come from: a GGUF file or safetensors. */
export interface TensorReader {
  /** File or folder, for messages. */
  readonly path: string;
  readonly tensors: ReadonlyMap<string, WeightTensor>;
  readFloats(tensor: WeightTensor): Promise<Float32Array>;
  /** Only for tensors with a layout. */
  readBlocks(tensor: WeightTensor): Promise<BlockMatrix>;
  /** Message when the graph needs a tensor that is not there. */
  missing(name: string): Error;
}

export class WeightSource {
  readonly #reader: TensorReader;
  readonly #used = new Set<string>();
  /** The matrix converted last: its quants, scales and corrections are written one after the other. */
  #lastBlocks: {key: string; matrix: Promise<BlockMatrix>} | null = null;

  /** Merged experts by name: what they are made of. */
  readonly #mergedFrom = new Map<string, WeightTensor>();
  /** The same of interleaved matrices. */
  readonly #interleavedFrom = new Map<string, readonly [WeightTensor, WeightTensor]>();

  constructor(reader: TensorReader) {
    this.#reader = reader;
  }

  has(name: string): boolean {
    return this.#reader.tensors.has(name);
  }

  /** @throws ModelError when the model has no such tensor */
  tensor(name: string): WeightTensor {
    this.#used.add(name);
    const tensor = this.#reader.tensors.get(name);
    if (!tensor) throw this.#reader.missing(name);
    return tensor;
  }

  /**
   * Matrices of all experts, `[columns, rows, experts]`, as one that sums over experts: `[experts * columns, rows]`.
   * Use it as a tensor of this source.
   */
  mergedExperts(name: string): WeightTensor {
    const tensor = this.tensor(name);
    const [columns = 1, rows = 1, numExperts = 1] = tensor.shape;
    const merged = {name: `${name}.merged`, shape: [columns * numExperts, rows], layout: tensor.layout};
    this.#mergedFrom.set(merged.name, tensor);
    return merged;
  }

  /** Row 0 of the first, row 0 of the second, row 1 of the first …: two tensors of one shape and layout as one of this source. */
  interleaved(firstName: string, secondName: string): WeightTensor {
    const [first, second] = [this.tensor(firstName), this.tensor(secondName)];
    const [columns = 1, rows = 1, ...others] = first.shape;
    const shape = [columns, 2 * rows, ...others];
    const both = {name: `${firstName}.interleaved`, shape, layout: first.layout};
    this.#interleavedFrom.set(both.name, [first, second]);
    return both;
  }

  /** Tensors that the graph did not take: parts of the model that would be silently left out. */
  unusedTensors(): string[] {
    return [...this.#reader.tensors.keys()].filter((name) => !this.#used.has(name));
  }

  /** @returns rows of all tensors below each other, as float32 */
  async floats(tensors: readonly WeightTensor[]): Promise<Float32Array> {
    const parts = [];
    for (const tensor of tensors) parts.push(await this.#readFloats(tensor));
    return concatFloats(parts);
  }

  /** @returns rows of all tensors below each other, as blocks; all tensors have the same width and block size */
  blocks(tensors: readonly WeightTensor[]): Promise<BlockMatrix> {
    const key = tensors.map((tensor) => tensor.name).join('\n');
    if (this.#lastBlocks?.key !== key) this.#lastBlocks = {key, matrix: this.#convert(tensors)};
    return this.#lastBlocks.matrix;
  }

  async #readFloats(tensor: WeightTensor): Promise<Float32Array> {
    const pair = this.#interleavedFrom.get(tensor.name);
    if (pair) {
      const [first, second] = [await this.#readFloats(pair[0]), await this.#readFloats(pair[1])];
      return interleaveRows(first, second, tensor.shape[0] ?? 1);
    }
    const original = this.#mergedFrom.get(tensor.name);
    if (!original) return this.#reader.readFloats(tensor);
    return mergeRows(await this.#reader.readFloats(original), original, original.shape[0] ?? 1);
  }

  async #readBlocks(tensor: WeightTensor): Promise<BlockMatrix> {
    const original = this.#mergedFrom.get(tensor.name);
    if (!original) return this.#reader.readBlocks(tensor);
    const matrix = await this.#reader.readBlocks(original);
    const blocksPerRow = (original.shape[0] ?? 1) / matrix.blockSize;
    return {
      ...matrix,
      quants: mergeRows(matrix.quants, original, (blocksPerRow * matrix.bits * matrix.blockSize) / 8),
      scales: mergeRows(matrix.scales, original, blocksPerRow),
      corrections: matrix.corrections && mergeRows(matrix.corrections, original, blocksPerRow),
    };
  }

  async #convert(tensors: readonly WeightTensor[]): Promise<BlockMatrix> {
    const parts = [];
    for (const tensor of tensors) parts.push(await this.#readBlocks(tensor));
    return concatBlocks(parts);
  }
}

/** Rows (outputs) and columns (inputs) of a matrix; the file states columns first. Experts lie below each other. */
export function matrixShape(tensor: WeightTensor): {rows: number; columns: number} {
  const [columns = 1, ...others] = tensor.shape;
  return {rows: others.reduce((product, size) => product * size, 1), columns};
}

/** Row r of each expert after the other, then row r + 1. @param length elements of one row of one expert */
function mergeRows<T extends Float32Array | Uint8Array>(source: T, {shape}: WeightTensor, length: number): T {
  const [, rows = 1, numExperts = 1] = shape;
  const merged = source.slice() as T;
  for (let expert = 0; expert < numExperts; expert++) {
    for (let row = 0; row < rows; row++) {
      const from = (expert * rows + row) * length;
      merged.set(source.subarray(from, from + length), (row * numExperts + expert) * length);
    }
  }
  return merged;
}

/** Rows of two matrices in turn. @param length elements of one row */
function interleaveRows(first: Float32Array, second: Float32Array, length: number): Float32Array {
  const both = new Float32Array(2 * first.length);
  for (let row = 0; row * length < first.length; row++) {
    const [start, end] = [row * length, (row + 1) * length];
    both.set(first.subarray(start, end), 2 * start);
    both.set(second.subarray(start, end), 2 * start + length);
  }
  return both;
}

/** True when the matrices can be one packed product. */
export function packTogether(first: WeightTensor, second: WeightTensor): boolean {
  return first.layout?.bits === second.layout?.bits && first.layout?.blockSize === second.layout?.blockSize;
}

function concatBlocks(parts: readonly BlockMatrix[]): BlockMatrix {
  const [first] = parts as [BlockMatrix];
  if (parts.length === 1) return first;
  const quants = new Uint8Array(parts.reduce((sum, part) => sum + part.quants.length, 0));
  let at = 0;
  for (const part of parts) {
    quants.set(part.quants, at);
    at += part.quants.length;
  }
  const hasCorrections = parts.some((part) => part.corrections);
  return {
    bits: first.bits,
    blockSize: first.blockSize,
    hasCorrections,
    numBlocks: parts.reduce((sum, part) => sum + part.numBlocks, 0),
    quants,
    scales: concatFloats(parts.map((part) => part.scales)),
    corrections: hasCorrections
      ? concatFloats(parts.map((part) => part.corrections ?? new Float32Array(part.numBlocks)))
      : null,
  };
}

/** One after the other; a single one is not copied. */
export function concatFloats(parts: readonly Float32Array[]): Float32Array {
  if (parts.length === 1) return parts[0] as Float32Array;
  const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
