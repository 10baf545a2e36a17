/**
 * Matrices in blocks as the operands of a block-wise integer product (MatMulNBits): the bits of a GGML file are kept, only
 * their order changes, so the mapping is exact. Floats become such blocks when they are quantized on load.
 *
 * A weight of a block is `scale * (q - zeroPoint) + correction`: the operator computes the first part; the correction,
 * one number per block, is added by multiplying it with the sum of the block's activations. Types without a minimum need
 * no correction.
 */
import {assertInvariant} from '../../util/assert.ts';
import type {DecodeBlock} from './block-decoders.ts';
import * as decoders from './block-decoders.ts';
import type {GgmlTypeName} from './ggml-types.ts';
import {bfloat16ToFloats, halvesToFloats} from './half.ts';

/** How the weights of a matrix are stored; matrices of the same layout can be one product. */
export interface BlockLayout {
  bits: 4 | 8;
  /** Neighbouring columns that share a scale. */
  blockSize: 16 | 32;
  hasCorrections: boolean;
}

/** A matrix of rows (outputs) and columns (inputs) in blocks of columns. */
export interface BlockMatrix extends BlockLayout {
  numBlocks: number;
  /** `[numBlocks, bits * blockSize / 8]`: element 2i in the low half of byte i (4 bits), or one element a byte (8 bits). */
  quants: Uint8Array;
  /** `[numBlocks]` */
  scales: Float32Array;
  /** `[numBlocks]`, relative to the default zero point (8 or 128); null = all zero. */
  corrections: Float32Array | null;
}

const default4BitZeroPoint = 8;
const default8BitZeroPoint = 128;

interface BlockFormat extends BlockLayout {
  /** Weights and bytes of one block of the file. */
  numWeights: number;
  numBytes: number;
  decode: DecodeBlock;
}

const format = (
  [numWeights, numBytes]: readonly [number, number],
  [bits, blockSize]: readonly [4 | 8, 16 | 32],
  decode: DecodeBlock,
  hasCorrections = false,
): BlockFormat => ({numWeights, numBytes, bits, blockSize, decode, hasCorrections});

const formats: Partial<Record<GgmlTypeName, BlockFormat>> = {
  Q4_0: format([32, 18], [4, 32], decoders.decodeQ4_0),
  Q4_1: format([32, 20], [4, 32], decoders.decodeQ4_1, true),
  Q5_0: format([32, 22], [8, 32], decoders.decodeQ5_0),
  Q5_1: format([32, 24], [8, 32], decoders.decodeQ5_1, true),
  Q8_0: format([32, 34], [8, 32], decoders.decodeQ8_0),
  Q2_K: format([256, 84], [4, 16], decoders.decodeQ2_K, true),
  Q3_K: format([256, 110], [4, 16], decoders.decodeQ3_K),
  Q4_K: format([256, 144], [4, 32], decoders.decodeQ4_K, true),
  Q5_K: format([256, 176], [8, 32], decoders.decodeQ5_K, true),
  Q6_K: format([256, 210], [8, 16], decoders.decodeQ6_K),
  IQ1_S: format([256, 50], [8, 32], decoders.decodeIQ1_S),
  IQ1_M: format([256, 56], [8, 16], decoders.decodeIQ1_M),
  IQ2_XXS: format([256, 66], [8, 32], decoders.decodeIQ2_XXS),
  IQ2_XS: format([256, 74], [8, 16], decoders.decodeIQ2_XS),
  IQ2_S: format([256, 82], [8, 16], decoders.decodeIQ2_S),
  IQ3_XXS: format([256, 98], [8, 32], decoders.decodeIQ3_XXS),
  IQ3_S: format([256, 110], [8, 32], decoders.decodeIQ3_S),
  IQ4_NL: format([32, 18], [8, 32], decoders.decodeIQ4_NL),
  IQ4_XS: format([256, 136], [8, 32], decoders.decodeIQ4_XS),
  TQ1_0: format([256, 54], [4, 32], decoders.decodeTQ1_0),
  TQ2_0: format([256, 66], [4, 32], decoders.decodeTQ2_0),
  MXFP4: format([32, 17], [8, 32], decoders.decodeMXFP4),
};

/** How a type is stored for the integer product, or null when its weights are plain floats. */
export function blockLayoutOf(type: GgmlTypeName): BlockLayout | null {
  return formats[type] ?? null;
}

/** @param bytes raw blocks of one of the block types */
export function toBlockMatrix(type: GgmlTypeName, bytes: Uint8Array): BlockMatrix {
  const known = formats[type];
  assertInvariant(known, `${type} is a block type`);
  const {bits, blockSize, hasCorrections, numWeights, numBytes, decode} = known;
  const numFileBlocks = bytes.length / numBytes;
  const numBlocks = (numFileBlocks * numWeights) / blockSize;
  const values = new Int8Array(numFileBlocks * numWeights);
  const scales = new Float32Array(numBlocks);
  const corrections = hasCorrections ? new Float32Array(numBlocks) : null;
  const target = {values, scales, offsets: corrections, valueAt: 0, groupAt: 0};
  for (let block = 0; block < numFileBlocks; block++) {
    decode(bytes, block * numBytes, target);
    target.valueAt += numWeights;
    target.groupAt += numWeights / blockSize;
  }
  return {bits, blockSize, hasCorrections, numBlocks, quants: packValues(values, bits), scales, corrections};
}

/** Values around zero as unsigned bits around the default zero point. */
function packValues(values: Int8Array, bits: 4 | 8): Uint8Array {
  const packed = new Uint8Array((values.length * bits) / 8);
  if (bits === 8) {
    for (let index = 0; index < packed.length; index++)
      packed[index] = (values[index] as number) + default8BitZeroPoint;
    return packed;
  }
  for (let index = 0; index < packed.length; index++) {
    const low = (values[2 * index] as number) + default4BitZeroPoint;
    const high = (values[2 * index + 1] as number) + default4BitZeroPoint;
    packed[index] = low | (high << 4);
  }
  return packed;
}

/**
 * Rounds floats to blocks of 32: the largest magnitude of a block becomes the end of the range.
 * @param floats rows of a multiple of 32 columns
 */
export function quantizeFloats(floats: Float32Array, bits: 4 | 8): BlockMatrix {
  const blockSize = 32;
  const numBlocks = floats.length / blockSize;
  const values = new Int8Array(floats.length);
  const scales = new Float32Array(numBlocks);
  for (let block = 0; block < numBlocks; block++) {
    scales[block] = quantizeBlock(floats.subarray(block * blockSize, (block + 1) * blockSize), bits, values, block);
  }
  const quants = packValues(values, bits);
  return {bits, blockSize, hasCorrections: false, numBlocks, quants, scales, corrections: null};
}

/** @returns the scale. With 4 bits the side of the largest magnitude gets the longer half of -8..7. */
function quantizeBlock(floats: Float32Array, bits: 4 | 8, values: Int8Array, block: number): number {
  const [lowest, highest] = bits === 4 ? [-8, 7] : [-127, 127];
  let extreme = 0;
  for (const value of floats) if (Math.abs(value) > Math.abs(extreme)) extreme = value;
  const scale = Math.fround(extreme / lowest);
  if (scale === 0) return 0;
  floats.forEach((value, index) => {
    values[block * floats.length + index] = Math.min(highest, Math.max(lowest, Math.round(value / scale)));
  });
  return scale;
}

/**
 * The nearest whole zero point of each block, for the rounded mapping: `scale * q + minimum ≈ scale * (q - z)`.
 * @returns packed 4-bit zero points `[rows, ceil(blocksPerRow / 2)]`
 */
export function roundedZeroPoints(matrix: BlockMatrix, blocksPerRow: number): Uint8Array {
  assertInvariant(
    matrix.bits === 4 && matrix.corrections,
    'only 4-bit blocks with a minimum have zero points to round',
  );
  const bytesPerRow = Math.ceil(blocksPerRow / 2);
  const packed = new Uint8Array((matrix.numBlocks / blocksPerRow) * bytesPerRow);
  for (let block = 0; block < matrix.numBlocks; block++) {
    const scale = matrix.scales[block] as number;
    const offset = scale === 0 ? 0 : (matrix.corrections[block] as number) / scale;
    const zeroPoint = Math.min(15, Math.max(0, Math.round(default4BitZeroPoint - offset)));
    const column = block % blocksPerRow;
    const at = Math.floor(block / blocksPerRow) * bytesPerRow + (column >> 1);
    packed[at] = (packed[at] as number) | (zeroPoint << (4 * (column & 1)));
  }
  return packed;
}

/** @returns the weights as float32, in the order of the file */
export function toFloats(type: GgmlTypeName, bytes: Uint8Array): Float32Array {
  switch (type) {
    case 'F32':
      return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    case 'F16':
      return halvesToFloats(bytes);
    case 'BF16':
      return bfloat16ToFloats(bytes);
    default:
      return blocksToFloats(toBlockMatrix(type, bytes));
  }
}

function blocksToFloats({bits, blockSize, numBlocks, quants, scales, corrections}: BlockMatrix): Float32Array {
  const floats = new Float32Array(numBlocks * blockSize);
  for (let index = 0; index < floats.length; index++) {
    const block = Math.floor(index / blockSize);
    const q =
      bits === 8 ? (quants[index] as number) - default8BitZeroPoint : nibbleAt(quants, index) - default4BitZeroPoint;
    floats[index] = q * (scales[block] as number) + (corrections ? (corrections[block] as number) : 0);
  }
  return floats;
}

function nibbleAt(quants: Uint8Array, index: number): number {
  return ((quants[index >> 1] as number) >> (4 * (index & 1))) & 15;
}
