/** Tensors of a GGUF file in the forms that the graph needs, read and converted when they are asked for. */

import {type BlockMatrix, blockBitsOf, toBlockMatrix, toFloats} from '../../../model/gguf/block-formats.ts';
import type {GgufFile, GgufTensor} from '../../../model/gguf/gguf-file.ts';

export class WeightSource {
  readonly file: GgufFile;
  readonly #used = new Set<string>();
  /** The matrix converted last: its quants, scales and corrections are written one after the other. */
  #lastBlocks: {key: string; matrix: Promise<BlockMatrix>} | null = null;

  constructor(file: GgufFile) {
    this.file = file;
  }

  has(name: string): boolean {
    return this.file.tensors.has(name);
  }

  /** @throws ModelError when the file has no such tensor */
  tensor(name: string): GgufTensor {
    this.#used.add(name);
    return this.file.tensor(name);
  }

  /** Tensors that the graph did not take: parts of the model that would be silently left out. */
  unusedTensors(): string[] {
    return [...this.file.tensors.keys()].filter((name) => !this.#used.has(name));
  }

  /** @returns rows of all tensors below each other, as float32 */
  async floats(tensors: readonly GgufTensor[]): Promise<Float32Array> {
    const parts = [];
    for (const tensor of tensors) parts.push(toFloats(tensor.type.name, await this.file.readTensor(tensor)));
    return concatFloats(parts);
  }

  /** @returns rows of all tensors below each other, as blocks; all tensors have the same bits per weight */
  blocks(tensors: readonly GgufTensor[]): Promise<BlockMatrix> {
    const key = tensors.map((tensor) => tensor.name).join('\n');
    if (this.#lastBlocks?.key !== key) this.#lastBlocks = {key, matrix: this.#convert(tensors)};
    return this.#lastBlocks.matrix;
  }

  async #convert(tensors: readonly GgufTensor[]): Promise<BlockMatrix> {
    const parts = [];
    for (const tensor of tensors) parts.push(toBlockMatrix(tensor.type.name, await this.file.readTensor(tensor)));
    return concatBlocks(parts);
  }
}

/** Rows (outputs) and columns (inputs) of a matrix; the file states columns first. */
export function matrixShape(tensor: GgufTensor): {rows: number; columns: number} {
  const [columns = 1, rows = 1] = tensor.shape;
  return {rows, columns};
}

export function bitsOf(tensor: GgufTensor): 4 | 8 | null {
  return blockBitsOf(tensor.type.name);
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
    numBlocks: parts.reduce((sum, part) => sum + part.numBlocks, 0),
    quants,
    scales: concatFloats(parts.map((part) => part.scales)),
    corrections: hasCorrections
      ? concatFloats(parts.map((part) => part.corrections ?? new Float32Array(part.numBlocks)))
      : null,
  };
}

function concatFloats(parts: readonly Float32Array[]): Float32Array {
  if (parts.length === 1) return parts[0] as Float32Array;
  const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
