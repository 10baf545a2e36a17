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
