/**
 * Experts of gpt_oss folders: all of a layer in one tensor, gate and up interleaved row by row, in MXFP4 (`_blocks` and
 * `_scales`) or as floats with rows and columns exchanged. Here they become the tensors that GGUF files have.
 */
import {ModelError} from '../../../errors.ts';
import {type BlockMatrix, toBlockMatrix, toFloats} from '../../../model/gguf/block-formats.ts';
import type {SafetensorsTensor} from '../../../model/safetensors/safetensors-file.ts';

/** A tensor that is made of others when it is read. */
export interface DerivedTensor {
  /** Innermost first, as in GGUF files. */
  shape: readonly number[];
  /** True when `readBlocks` gives the blocks of the file as they are. */
  isBlocks: boolean;
  readFloats(): Promise<Float32Array>;
  readBlocks(): Promise<BlockMatrix>;
}

type Read = (tensor: SafetensorsTensor) => Promise<Uint8Array>;

/** Which rows of the packed matrix are meant: one of two neighbours, or all. */
interface Rows {
  first: number;
  step: number;
}

const parts: Readonly<Record<string, readonly (readonly [name: string, rows: Rows])[]>> = {
  gate_up_proj: [
    ['ffn_gate_exps', {first: 0, step: 2}],
    ['ffn_up_exps', {first: 1, step: 2}],
  ],
  down_proj: [['ffn_down_exps', {first: 0, step: 1}]],
};

const pattern = /^model\.layers\.(\d+)\.mlp\.experts\.(gate_up_proj|down_proj)(?:_(blocks|scales|bias))?$/;
/** Weights of a block, and its bytes here and in GGUF files. */
const blockWeights = 32;
const blockBytes = 16;
const ggufBlockBytes = 17;

export function isPackedExperts(name: string): boolean {
  return pattern.test(name);
}

/**
 * @param tensors of the whole model; others are left alone
 * @returns by GGUF name
 * @throws ModelError when the shapes are not those of packed experts
 */
export function packedExperts(tensors: readonly SafetensorsTensor[], read: Read): Map<string, DerivedTensor> {
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  const derived = new Map<string, DerivedTensor>();
  for (const tensor of tensors) {
    const [, layer, matrix = '', kind] = pattern.exec(tensor.name) ?? [];
    if (layer === undefined || kind === 'scales') continue;
    for (const [name, rows] of parts[matrix] ?? []) {
      const suffix = kind === 'bias' ? 'bias' : 'weight';
      const scales = byName.get(tensor.name.replace(/blocks$/, 'scales'));
      derived.set(`blk.${layer}.${name}.${suffix}`, derive(kind, tensor, scales, rows, read));
    }
  }
  return derived;
}

function derive(
  kind: string | undefined,
  tensor: SafetensorsTensor,
  scales: SafetensorsTensor | undefined,
  rows: Rows,
  read: Read,
): DerivedTensor {
  if (kind === 'bias') return biasTensor(tensor, rows, read);
  return kind === 'blocks' ? blockTensor(tensor, scales, rows, read) : transposedTensor(tensor, rows, read);
}

/** `[experts, rows]` */
function biasTensor(tensor: SafetensorsTensor, rows: Rows, read: Read): DerivedTensor {
  const [numExperts, numRows] = sizesOf(tensor, 2) as [number, number];
  const kept = numRows / rows.step;
  return floatTensor([kept, numExperts], async () => {
    const floats = await floatsOf(tensor, read);
    return Float32Array.from({length: kept * numExperts}, (_, at) => {
      const [expert, row] = [Math.floor(at / kept), at % kept];
      return floats[expert * numRows + rows.first + row * rows.step] as number;
    });
  });
}

/** `[experts, columns, rows]` */
function transposedTensor(tensor: SafetensorsTensor, rows: Rows, read: Read): DerivedTensor {
  const [numExperts, columns, numRows] = sizesOf(tensor, 3) as [number, number, number];
  const kept = numRows / rows.step;
  return floatTensor([columns, kept, numExperts], async () => {
    const floats = await floatsOf(tensor, read);
    const result = new Float32Array(numExperts * kept * columns);
    let at = 0;
    for (let expert = 0; expert < numExperts; expert++) {
      for (let row = 0; row < kept; row++) {
        const from = expert * columns * numRows + rows.first + row * rows.step;
        for (let column = 0; column < columns; column++) result[at++] = floats[from + column * numRows] as number;
      }
    }
    return result;
  });
}

function floatTensor(shape: readonly number[], readFloats: () => Promise<Float32Array>): DerivedTensor {
  const readBlocks = () => Promise.reject(new ModelError('These weights have no blocks.'));
  return {shape, isBlocks: false, readFloats, readBlocks};
}

async function floatsOf(tensor: SafetensorsTensor, read: Read): Promise<Float32Array> {
  if (tensor.type !== 'U8') return toFloats(tensor.type, await read(tensor));
  throw new ModelError(`Tensor "${tensor.name}" holds bytes, not weights.`);
}

/** `[experts, rows, blocks, 16]` with a scale `[experts, rows, blocks]` for each block. */
function blockTensor(
  blocks: SafetensorsTensor,
  scales: SafetensorsTensor | undefined,
  rows: Rows,
  read: Read,
): DerivedTensor {
  const [numExperts, numRows, blocksPerRow, width] = sizesOf(blocks, 4) as [number, number, number, number];
  const numBlocks = numExperts * numRows * blocksPerRow;
  const fits = width === blockBytes && scales?.type === 'U8' && scales.numBytes === numBlocks && blocks.type === 'U8';
  if (!fits)
    throw new ModelError(`Tensor "${blocks.name}" of shape [${blocks.shape.join(', ')}] and its scales are no MXFP4.`);
  const kept = numRows / rows.step;
  const readGguf = async () => {
    const packed = await read(blocks);
    const exponents = await read(scales);
    const result = new Uint8Array(numExperts * kept * blocksPerRow * ggufBlockBytes);
    let at = 0;
    for (let row = rows.first; row < numExperts * numRows; row += rows.step) {
      for (let block = row * blocksPerRow; block < (row + 1) * blocksPerRow; block++) {
        writeGgufBlock(packed, block * blockBytes, exponents[block] as number, result, at);
        at += ggufBlockBytes;
      }
    }
    return result;
  };
  return {
    shape: [blocksPerRow * blockWeights, kept, numExperts],
    isBlocks: true,
    readFloats: async () => toFloats('MXFP4', await readGguf()),
    readBlocks: async () => toBlockMatrix('MXFP4', await readGguf()),
  };
}

/** Here a byte holds neighbours, low bits first; in GGUF files it holds weights that are half a block apart. */
function writeGgufBlock(source: Uint8Array, from: number, exponent: number, target: Uint8Array, at: number): void {
  target[at] = exponent;
  const weight = (index: number) => ((source[from + (index >> 1)] as number) >> (4 * (index & 1))) & 15;
  for (let index = 0; index < blockBytes; index++) {
    target[at + 1 + index] = weight(index) | (weight(index + blockBytes) << 4);
  }
}

function sizesOf({name, shape}: SafetensorsTensor, numDims: number): readonly number[] {
  const isPossible = shape.length === numDims && shape.every((size) => size > 0);
  const numRows = shape.length === 3 ? shape[2] : shape[1];
  if (isPossible && (name.includes('down_proj') || (numRows ?? 1) % 2 === 0)) return shape;
  throw new ModelError(`Tensor "${name}" has the impossible shape [${shape.join(', ')}].`);
}
