/**
 * The alphabet of byte-level BPE: GPT-2 writes each of the 256 bytes as one printable character. This table turns a
 * vocabulary entry back into its bytes, which makes decoding exact and independent of any library.
 */

/** Bytes that stand for themselves; the others are numbered from U+0100 upwards, in order. */
const selfRanges: readonly (readonly [number, number])[] = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
];

const firstSubstitute = 0x100;

const byteOfCodeUnit: ReadonlyMap<number, number> = buildByteTable();

/**
 * Bytes of a vocabulary entry. An entry with a character outside the alphabet (an added token such as `<｜User｜>`) is
 * taken literally, as UTF-8.
 */
export function byteLevelTokenBytes(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let index = 0; index < token.length; index++) {
    const byte = byteOfCodeUnit.get(token.charCodeAt(index));
    if (byte === undefined) return new TextEncoder().encode(token);
    bytes[index] = byte;
  }
  return bytes;
}

function buildByteTable(): Map<number, number> {
  const table = new Map<number, number>();
  let substitute = firstSubstitute;
  for (let byte = 0; byte < 256; byte++) {
    const standsForItself = selfRanges.some(([first, last]) => byte >= first && byte <= last);
    table.set(standsForItself ? byte : substitute++, byte);
  }
  return table;
}
