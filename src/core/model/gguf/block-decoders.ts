/**
 * What the bytes of GGML blocks say, as whole numbers: a weight is `scale * value + offset`, with one scale and one
 * offset for each group of 16 or 32 neighbours. Values fit the width of the integer product that will take them (-8..7
 * or -128..127), so nothing is rounded. Layouts are those of the file format.
 */

import {readHalf} from './half.ts';
import {codeBook} from './iq-grids.ts';

/** Where a decoder writes one block; positions count from the block's first weight and group. */
export interface BlockTarget {
  values: Int8Array;
  scales: Float32Array;
  /** Null for types without a minimum. */
  offsets: Float32Array | null;
  valueAt: number;
  groupAt: number;
}

export type DecodeBlock = (source: Uint8Array, at: number, target: BlockTarget) => void;

const byteAt = (source: Uint8Array, position: number) => source[position] as number;
const signedByteAt = (source: Uint8Array, position: number) => (byteAt(source, position) << 24) >> 24;
const wordAt = (source: Uint8Array, position: number) => byteAt(source, position) | (byteAt(source, position + 1) << 8);
const longAt = (source: Uint8Array, position: number) =>
  (wordAt(source, position) | (wordAt(source, position + 2) << 16)) >>> 0;

/** Value of the middle of the unsigned four bits: the zero point of the 4-bit product. */
const middle4 = 8;

/** Sixteen bytes: elements 0..15 in the low halves, 16..31 in the high halves. */
function eachNibble(source: Uint8Array, at: number, visit: (index: number, nibble: number) => void): void {
  for (let index = 0; index < 16; index++) {
    const byte = byteAt(source, at + index);
    visit(index, byte & 15);
    visit(index + 16, byte >> 4);
  }
}

export function decodeQ4_0(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  scales[groupAt] = readHalf(source, at);
  eachNibble(source, at + 2, (index, nibble) => {
    values[valueAt + index] = nibble - middle4;
  });
}

/** `scale * q + minimum` with q in 0..15, moved by the middle. */
export function decodeQ4_1(source: Uint8Array, at: number, target: BlockTarget): void {
  const {values, scales, offsets, valueAt, groupAt} = target;
  const scale = readHalf(source, at);
  scales[groupAt] = scale;
  if (offsets) offsets[groupAt] = readHalf(source, at + 2) + middle4 * scale;
  eachNibble(source, at + 4, (index, nibble) => {
    values[valueAt + index] = nibble - middle4;
  });
}

const fiveBits =
  (bitsAt: number, zeroPoint: number): DecodeBlock =>
  (source, at, {values, scales, offsets, valueAt, groupAt}) => {
    scales[groupAt] = readHalf(source, at);
    if (offsets) offsets[groupAt] = readHalf(source, at + 2);
    const fifths = longAt(source, at + bitsAt);
    eachNibble(source, at + bitsAt + 4, (index, nibble) => {
      values[valueAt + index] = (nibble | (((fifths >>> index) & 1) << 4)) - zeroPoint;
    });
  };

export const decodeQ5_0 = fiveBits(2, 16);
export const decodeQ5_1 = fiveBits(4, 0);

export function decodeQ8_0(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  scales[groupAt] = readHalf(source, at);
  for (let index = 0; index < 32; index++) values[valueAt + index] = signedByteAt(source, at + 2 + index);
}

/** Position inside 256 weights of the quarter `part` of half `half`, as the K types interleave two-bit fields. */
const quarter = (half: number, part: number) => 128 * half + 32 * part;

export function decodeQ2_K(source: Uint8Array, at: number, target: BlockTarget): void {
  const {values, scales, offsets, valueAt, groupAt} = target;
  const scale = readHalf(source, at + 80);
  const minimum = readHalf(source, at + 82);
  for (let group = 0; group < 16; group++) {
    const both = byteAt(source, at + group);
    const groupScale = scale * (both & 15);
    scales[groupAt + group] = groupScale;
    if (offsets) offsets[groupAt + group] = middle4 * groupScale - minimum * (both >> 4);
  }
  eachTwoBits(source, at + 16, (index, bits) => {
    values[valueAt + index] = bits - middle4;
  });
}

/** 64 bytes: the two-bit fields of byte `l` belong to elements `l`, `l + 32`, … of its half. */
function eachTwoBits(source: Uint8Array, at: number, visit: (index: number, bits: number, lane: number) => void): void {
  for (let half = 0; half < 2; half++) {
    for (let lane = 0; lane < 32; lane++) {
      const byte = byteAt(source, at + 32 * half + lane);
      for (let part = 0; part < 4; part++) visit(quarter(half, part) + lane, (byte >> (2 * part)) & 3, lane);
    }
  }
}

export function decodeQ3_K(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  const scale = readHalf(source, at + 108);
  const scalesAt = at + 96;
  for (let group = 0; group < 16; group++) {
    const low = (byteAt(source, scalesAt + (group % 8)) >> (group < 8 ? 0 : 4)) & 15;
    const high = (byteAt(source, scalesAt + 8 + (group % 4)) >> (2 * (group >> 2))) & 3;
    scales[groupAt + group] = scale * ((low | (high << 4)) - 32);
  }
  eachTwoBits(source, at + 32, (index, bits, lane) => {
    const isHigh = (byteAt(source, at + lane) >> (index >> 5)) & 1;
    values[valueAt + index] = bits - (isHigh ? 0 : 4);
  });
}

/** Six bits of scale and of minimum for each of eight groups, packed into twelve bytes. */
function sixBitPair(source: Uint8Array, at: number, group: number): [scale: number, minimum: number] {
  if (group < 4) return [byteAt(source, at + group) & 63, byteAt(source, at + group + 4) & 63];
  const low = byteAt(source, at + group + 4);
  return [
    (low & 15) | ((byteAt(source, at + group - 4) >> 6) << 4),
    (low >> 4) | ((byteAt(source, at + group) >> 6) << 4),
  ];
}

/** Scales and offsets of Q4_K and Q5_K. @param zeroPoint what the stored values were moved by */
function decodeGroupsK(source: Uint8Array, at: number, target: BlockTarget, zeroPoint: number): void {
  const {scales, offsets, groupAt} = target;
  const scale = readHalf(source, at);
  const minimum = readHalf(source, at + 2);
  for (let group = 0; group < 8; group++) {
    const [groupScale, groupMinimum] = sixBitPair(source, at + 4, group);
    scales[groupAt + group] = scale * groupScale;
    if (offsets) offsets[groupAt + group] = zeroPoint * scale * groupScale - minimum * groupMinimum;
  }
}

export function decodeQ4_K(source: Uint8Array, at: number, target: BlockTarget): void {
  decodeGroupsK(source, at, target, middle4);
  const {values, valueAt} = target;
  for (let index = 0; index < 256; index++) {
    const byte = byteAt(source, at + 16 + 32 * (index >> 6) + (index & 31));
    values[valueAt + index] = ((index & 32 ? byte >> 4 : byte) & 15) - middle4;
  }
}

export function decodeQ5_K(source: Uint8Array, at: number, target: BlockTarget): void {
  decodeGroupsK(source, at, target, 0);
  const {values, valueAt} = target;
  for (let index = 0; index < 256; index++) {
    const byte = byteAt(source, at + 48 + 32 * (index >> 6) + (index & 31));
    const fifth = (byteAt(source, at + 16 + (index & 31)) >> (index >> 5)) & 1;
    values[valueAt + index] = ((index & 32 ? byte >> 4 : byte) & 15) | (fifth << 4);
  }
}

export function decodeQ6_K(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  const scale = readHalf(source, at + 208);
  for (let group = 0; group < 16; group++) scales[groupAt + group] = scale * signedByteAt(source, at + 192 + group);
  for (let index = 0; index < 256; index++) {
    const half = index >> 7;
    const part = (index >> 5) & 3;
    const lane = index & 31;
    const byte = byteAt(source, at + 64 * half + 32 * (part & 1) + lane);
    const high = (byteAt(source, at + 128 + 32 * half + lane) >> (2 * part)) & 3;
    values[valueAt + index] = (((part < 2 ? byte : byte >> 4) & 15) | (high << 4)) - 32;
  }
}

/** What the four bits of IQ4 types stand for. */
const uneven4 = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113] as const;

export function decodeIQ4_NL(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  scales[groupAt] = readHalf(source, at);
  eachNibble(source, at + 2, (index, nibble) => {
    values[valueAt + index] = uneven4[nibble] as number;
  });
}

export function decodeIQ4_XS(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  const scale = readHalf(source, at);
  const highs = wordAt(source, at + 2);
  for (let group = 0; group < 8; group++) {
    const low = (byteAt(source, at + 4 + (group >> 1)) >> (4 * (group & 1))) & 15;
    scales[groupAt + group] = scale * ((low | (((highs >> (2 * group)) & 3) << 4)) - 32);
    eachNibble(source, at + 8 + 16 * group, (index, nibble) => {
      values[valueAt + 32 * group + index] = uneven4[nibble] as number;
    });
  }
}

/** Floats of four bits (one sign, two exponent, one fraction), doubled. */
const doubledE2m1 = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12] as const;

/** The scale is a power of two; half of it, because the values are doubled. */
export function decodeMXFP4(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  scales[groupAt] = 2 ** (byteAt(source, at) - 128);
  eachNibble(source, at + 1, (index, nibble) => {
    values[valueAt + index] = doubledE2m1[nibble] as number;
  });
}

/** Seven bits name the signs of eight weights; the eighth makes their number even. */
function evenSigns(bits: number): number {
  let parity = bits;
  parity ^= parity >> 4;
  parity ^= parity >> 2;
  parity ^= parity >> 1;
  return bits | ((parity & 1) << 7);
}

/** Writes an entry of a code book. @param signs bit i set = weight i is negative */
function writeEntry(
  book: Int8Array,
  entry: number,
  length: number,
  signs: number,
  values: Int8Array,
  at: number,
): void {
  for (let index = 0; index < length; index++) {
    const value = book[entry * length + index] as number;
    values[at + index] = (signs >> index) & 1 ? -value : value;
  }
}

export function decodeIQ2_XXS(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  const scale = readHalf(source, at);
  const book = codeBook('IQ2_XXS');
  for (let group = 0; group < 8; group++) {
    const from = at + 2 + 8 * group;
    const bits = longAt(source, from + 4);
    scales[groupAt + group] = scale * (0.5 + (bits >>> 28)) * 0.25;
    for (let part = 0; part < 4; part++) {
      const signs = evenSigns((bits >>> (7 * part)) & 127);
      writeEntry(book, byteAt(source, from + part), 8, signs, values, valueAt + 32 * group + 8 * part);
    }
  }
}

/** Scales of 16 groups of 16, four bits each. */
function writeHalfSteps(source: Uint8Array, at: number, scale: number, {scales, groupAt}: BlockTarget): void {
  for (let group = 0; group < 16; group++) {
    const bits = (byteAt(source, at + (group >> 1)) >> (4 * (group & 1))) & 15;
    scales[groupAt + group] = scale * (0.5 + bits) * 0.25;
  }
}

export function decodeIQ2_XS(source: Uint8Array, at: number, target: BlockTarget): void {
  const book = codeBook('IQ2_XS');
  writeHalfSteps(source, at + 66, readHalf(source, at), target);
  for (let part = 0; part < 32; part++) {
    const word = wordAt(source, at + 2 + 2 * part);
    writeEntry(book, word & 511, 8, evenSigns(word >> 9), target.values, target.valueAt + 8 * part);
  }
}

export function decodeIQ2_S(source: Uint8Array, at: number, target: BlockTarget): void {
  const book = codeBook('IQ2_S');
  writeHalfSteps(source, at + 74, readHalf(source, at), target);
  for (let part = 0; part < 32; part++) {
    const high = (byteAt(source, at + 66 + (part >> 2)) >> (2 * (part & 3))) & 3;
    const entry = byteAt(source, at + 2 + part) | (high << 8);
    writeEntry(book, entry, 8, byteAt(source, at + 34 + part), target.values, target.valueAt + 8 * part);
  }
}

export function decodeIQ3_XXS(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  const scale = readHalf(source, at);
  const book = codeBook('IQ3_XXS');
  for (let group = 0; group < 8; group++) {
    const bits = longAt(source, at + 66 + 4 * group);
    scales[groupAt + group] = scale * (0.5 + (bits >>> 28)) * 0.5;
    for (let part = 0; part < 8; part++) {
      const signs = evenSigns((bits >>> (7 * (part >> 1))) & 127) >> (4 * (part & 1));
      writeEntry(book, byteAt(source, at + 2 + 8 * group + part), 4, signs, values, valueAt + 32 * group + 4 * part);
    }
  }
}

export function decodeIQ3_S(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  const scale = readHalf(source, at);
  const book = codeBook('IQ3_S');
  for (let group = 0; group < 8; group++) {
    const bits = (byteAt(source, at + 106 + (group >> 1)) >> (4 * (group & 1))) & 15;
    scales[groupAt + group] = scale * (1 + 2 * bits);
  }
  for (let part = 0; part < 64; part++) {
    const high = (byteAt(source, at + 66 + (part >> 3)) >> (part & 7)) & 1;
    const signs = byteAt(source, at + 74 + (part >> 1)) >> (4 * (part & 1));
    writeEntry(book, byteAt(source, at + 2 + part) | (high << 8), 4, signs, values, valueAt + 4 * part);
  }
}

/** An entry of -1, 0, 1 moved by an eighth up or down: eighths are whole numbers. */
function writeEighths(book: Int8Array, entry: number, isDown: boolean, values: Int8Array, at: number): void {
  for (let index = 0; index < 8; index++) {
    values[at + index] = 8 * (book[8 * entry + index] as number) + (isDown ? -1 : 1);
  }
}

export function decodeIQ1_S(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  const scale = readHalf(source, at);
  const book = codeBook('IQ1_S');
  for (let group = 0; group < 8; group++) {
    const bits = wordAt(source, at + 34 + 2 * group);
    scales[groupAt + group] = (scale * (2 * ((bits >> 12) & 7) + 1)) / 8;
    for (let part = 0; part < 4; part++) {
      const entry = byteAt(source, at + 2 + 4 * group + part) | (((bits >> (3 * part)) & 7) << 8);
      writeEighths(book, entry, (bits & 0x8000) !== 0, values, valueAt + 32 * group + 8 * part);
    }
  }
}

export function decodeIQ1_M(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  const book = codeBook('IQ1_S');
  const words = [0, 2, 4, 6].map((offset) => wordAt(source, at + 48 + offset));
  const scaleBits = words.reduce((bits, word, index) => bits | ((word >> 12) << (4 * index)), 0);
  const scale = readHalf(Uint8Array.of(scaleBits & 255, scaleBits >> 8), 0);
  for (let group = 0; group < 16; group++) {
    const step = ((words[group >> 2] as number) >> (3 * (group & 3))) & 7;
    scales[groupAt + group] = (scale * (2 * step + 1)) / 8;
  }
  for (let part = 0; part < 32; part++) {
    const high = byteAt(source, at + 32 + (part >> 1)) >> (4 * (part & 1));
    const entry = byteAt(source, at + part) | ((high & 7) << 8);
    writeEighths(book, entry, (high & 8) !== 0, values, valueAt + 8 * part);
  }
}

/** Five values of three kinds in a byte, as a fraction of 256 in base three. */
const ternaryDigit = (byte: number, digit: number) => ((((byte * 3 ** digit) & 255) * 3) >> 8) - 1;

export function decodeTQ1_0(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  scales.fill(readHalf(source, at + 52), groupAt, groupAt + 8);
  let next = valueAt;
  const runs = [
    {from: 0, length: 32, digits: 5},
    {from: 32, length: 16, digits: 5},
    {from: 48, length: 4, digits: 4},
  ];
  for (const {from, length, digits} of runs) {
    for (let digit = 0; digit < digits; digit++) {
      for (let index = 0; index < length; index++) {
        values[next++] = ternaryDigit(byteAt(source, at + from + index), digit);
      }
    }
  }
}

export function decodeTQ2_0(source: Uint8Array, at: number, {values, scales, valueAt, groupAt}: BlockTarget): void {
  scales.fill(readHalf(source, at + 64), groupAt, groupAt + 8);
  eachTwoBits(source, at, (index, bits) => {
    values[valueAt + index] = bits - 1;
  });
}
