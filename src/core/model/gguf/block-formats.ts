/**
 * GGML blocks as the operands of a block-wise integer product (MatMulNBits): the bits of the file are kept, only their
 * order changes, so the mapping is exact.
 *
 * A weight of a block is `scale * (q - zeroPoint) + correction`: the operator computes the first part; the correction,
 * one number per block, is added by multiplying it with the sum of the block's activations. Types without a minimum need
 * no correction.
 */
import {assertInvariant} from '../../util/assert.ts';
import type {GgmlTypeName} from './ggml-types.ts';
import {bfloat16ToFloats, halvesToFloats, readHalf} from './half.ts';

/** A matrix of rows (outputs) and columns (inputs) in blocks of 32 columns. */
export interface BlockMatrix {
  bits: 4 | 8;
  numBlocks: number;
  /** `[numBlocks, bits * 4]`: element 2i in the low half of byte i (4 bits), or one element a byte (8 bits). */
  quants: Uint8Array;
  /** `[numBlocks]` */
  scales: Float32Array;
  /** `[numBlocks]`, relative to the default zero point (8 or 128); null = all zero. */
  corrections: Float32Array | null;
}

export const blockSize = 32;
const default4BitZeroPoint = 8;
const default8BitZeroPoint = 128;
const half = blockSize / 2;

interface BlockFormat {
  bits: 4 | 8;
  blockBytes: number;
  hasMinimum: boolean;
  /** Position of the minimum, of the bits beyond the fourth, and of the quants inside a block. */
  quantsAt: number;
  writeQuants: (source: Uint8Array, at: number, target: Uint8Array, targetAt: number) => void;
}

/** Every block begins with its scale as a half; the minimum, where there is one, follows. */
const formats: Partial<Record<GgmlTypeName, BlockFormat>> = {
  Q4_0: {bits: 4, blockBytes: 18, hasMinimum: false, quantsAt: 2, writeQuants: repackNibbles},
  Q4_1: {bits: 4, blockBytes: 20, hasMinimum: true, quantsAt: 4, writeQuants: repackNibbles},
  Q5_0: {
    bits: 8,
    blockBytes: 22,
    hasMinimum: false,
    quantsAt: 2,
    writeQuants: (s, at, t, to) => widen5Bits(s, at, t, to, 16),
  },
  Q5_1: {
    bits: 8,
    blockBytes: 24,
    hasMinimum: true,
    quantsAt: 4,
    writeQuants: (s, at, t, to) => widen5Bits(s, at, t, to, 0),
  },
  Q8_0: {bits: 8, blockBytes: 34, hasMinimum: false, quantsAt: 2, writeQuants: biasBytes},
};

/** Bits per weight of a type in the integer product, or null when its weights are plain floats. */
export function blockBitsOf(type: GgmlTypeName): 4 | 8 | null {
  return formats[type]?.bits ?? null;
}

export function hasMinimum(type: GgmlTypeName): boolean {
  return formats[type]?.hasMinimum ?? false;
}

/** @param bytes raw blocks of one of the block types */
export function toBlockMatrix(type: GgmlTypeName, bytes: Uint8Array): BlockMatrix {
  const format = formats[type];
  assertInvariant(format, `${type} is a block type`);
  const numBlocks = bytes.length / format.blockBytes;
  const quantBytes = format.bits * 4;
  const matrix: BlockMatrix = {
    bits: format.bits,
    numBlocks,
    quants: new Uint8Array(numBlocks * quantBytes),
    scales: new Float32Array(numBlocks),
    corrections: format.hasMinimum ? new Float32Array(numBlocks) : null,
  };
  // Q4_1 and the like store `scale * q + minimum`; against a zero point z that is a correction of minimum + z * scale.
  const implicitZero = format.bits === 4 ? default4BitZeroPoint : 0;
  for (let block = 0, at = 0; block < numBlocks; block++, at += format.blockBytes) {
    const scale = readHalf(bytes, at);
    matrix.scales[block] = scale;
    if (matrix.corrections) matrix.corrections[block] = readHalf(bytes, at + 2) + implicitZero * scale;
    format.writeQuants(bytes, at + format.quantsAt, matrix.quants, block * quantBytes);
  }
  return matrix;
}

/** File: element i in the low half of byte i, element i + 16 in the high half. Target: neighbours share a byte. */
function repackNibbles(source: Uint8Array, at: number, target: Uint8Array, targetAt: number): void {
  for (let index = 0; index < half; index += 2) {
    const first = source[at + index] as number;
    const second = source[at + index + 1] as number;
    target[targetAt + index / 2] = (first & 15) | ((second & 15) << 4);
    target[targetAt + half / 2 + index / 2] = (first >> 4) | (second & 0xf0);
  }
}

/** Four bits as in Q4_0 behind 32 fifth bits; becomes bytes around the 8-bit zero point. */
function widen5Bits(source: Uint8Array, at: number, target: Uint8Array, targetAt: number, zeroPoint: number): void {
  const nibblesAt = at + 4;
  for (let index = 0; index < blockSize; index++) {
    const byte = source[nibblesAt + (index % half)] as number;
    const low = index < half ? byte & 15 : byte >> 4;
    const fifth = ((source[at + (index >> 3)] as number) >> (index & 7)) & 1;
    target[targetAt + index] = (low | (fifth << 4)) - zeroPoint + default8BitZeroPoint;
  }
}

/** Signed bytes become unsigned ones around the 8-bit zero point. */
function biasBytes(source: Uint8Array, at: number, target: Uint8Array, targetAt: number): void {
  for (let index = 0; index < blockSize; index++) target[targetAt + index] = (source[at + index] as number) ^ 0x80;
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

function blocksToFloats({bits, numBlocks, quants, scales, corrections}: BlockMatrix): Float32Array {
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
