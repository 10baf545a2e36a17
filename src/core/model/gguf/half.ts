/** 16-bit floats (IEEE half and bfloat16) as numbers. */

/** Value of every half-precision bit pattern, including subnormals, infinities and NaN. */
const halfValues = Float32Array.from({length: 65_536}, (_, bits) => decodeHalf(bits));

function decodeHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** @returns the little-endian half at this position */
export function readHalf(bytes: Uint8Array, position: number): number {
  return halfValues[(bytes[position] as number) | ((bytes[position + 1] as number) << 8)] as number;
}

/** @param bytes little-endian halves */
export function halvesToFloats(bytes: Uint8Array): Float32Array {
  const floats = new Float32Array(bytes.length / 2);
  for (let index = 0; index < floats.length; index++) floats[index] = readHalf(bytes, 2 * index);
  return floats;
}

/** @param bytes little-endian bfloat16 values: the upper halves of float32 */
export function bfloat16ToFloats(bytes: Uint8Array): Float32Array {
  const floats = new Float32Array(bytes.length / 2);
  const bits = new Uint32Array(floats.buffer);
  for (let index = 0; index < bits.length; index++) {
    bits[index] = (((bytes[2 * index] as number) | ((bytes[2 * index + 1] as number) << 8)) << 16) >>> 0;
  }
  return floats;
}

/** @returns the nearest halves, ties to even; what is too large becomes infinite */
export function toHalves(floats: Float32Array): Uint16Array {
  const bits = new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
  const halves = new Uint16Array(floats.length);
  for (let index = 0; index < halves.length; index++) halves[index] = toHalf(bits[index] as number);
  return halves;
}

/** Exponents of float32 count from 127, those of halves from 15. */
const exponentShift = (127 - 15) << 23;
const infinityBits = 0x7f800000;
const smallestNormal = 0x38800000;
const firstTooLarge = 0x47800000;

function toHalf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fffffff;
  if (magnitude > infinityBits) return sign | 0x7e00;
  if (magnitude >= firstTooLarge) return sign | 0x7c00;
  if (magnitude < smallestNormal) return sign | subnormalHalf(magnitude);
  const shifted = magnitude - exponentShift;
  return sign | ((shifted + 0xfff + ((shifted >>> 13) & 1)) >>> 13);
}

/** Multiples of 2^-24, rounded to even. */
function subnormalHalf(magnitude: number): number {
  const drop = 126 - (magnitude >>> 23);
  if (drop > 24) return 0;
  const fraction = (magnitude & 0x7fffff) | 0x800000;
  const kept = fraction >>> drop;
  const rest = fraction & ((1 << drop) - 1);
  const tie = 1 << (drop - 1);
  return rest > tie || (rest === tie && (kept & 1) === 1) ? kept + 1 : kept;
}
