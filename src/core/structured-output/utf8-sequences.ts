/**
 * Ranges of code points as sequences of byte ranges: what their UTF-8 forms look like. `[U+0080, U+07FF]` is one sequence,
 * `[C2-DF] [80-BF]`; the whole of Unicode is nine.
 */
import type {CodePointRange} from './code-point-ranges.ts';

/** `[first, last]`, both included. */
export type ByteRange = readonly [first: number, last: number];

/** Largest code points of one, two, three and four bytes. */
const largestOfLength = [0x7f, 0x7ff, 0xffff, 0x10ffff] as const;
const bitsOfContinuation = 6;
const continuationMask = 0x3f;

/** @returns alternatives; each is one byte range for each byte */
export function utf8Sequences(range: CodePointRange): ByteRange[][] {
  return splitByLength(range).flatMap(([first, last]) => splitByPrefix(first, last, lengthOf(first) - 1));
}

/** Cut where the number of bytes changes. */
function splitByLength([first, last]: CodePointRange): CodePointRange[] {
  const border = largestOfLength.find((largest) => first <= largest)!;
  return last <= border ? [[first, last]] : [[first, border], ...splitByLength([border + 1, last])];
}

/**
 * Cut until first and last differ only in bytes whose later bytes run through everything.
 * @param numContinuations bytes that may still differ
 */
function splitByPrefix(first: number, last: number, numContinuations: number): ByteRange[][] {
  for (let count = 1; count <= numContinuations; count++) {
    const tail = (1 << (count * bitsOfContinuation)) - 1;
    if (first >> (count * bitsOfContinuation) === last >> (count * bitsOfContinuation)) continue;
    if ((first & tail) !== 0) {
      return [
        ...splitByPrefix(first, first | tail, numContinuations),
        ...splitByPrefix((first | tail) + 1, last, numContinuations),
      ];
    }
    if ((last & tail) !== tail) {
      return [
        ...splitByPrefix(first, (last & ~tail) - 1, numContinuations),
        ...splitByPrefix(last & ~tail, last, numContinuations),
      ];
    }
  }
  const [from, to] = [encode(first), encode(last)];
  return [from.map((byte, index) => [byte, to[index]!] as const)];
}

const lengthOf = (codePoint: number): number => largestOfLength.findIndex((largest) => codePoint <= largest) + 1;

function encode(codePoint: number): number[] {
  const length = lengthOf(codePoint);
  if (length === 1) return [codePoint];
  const continuations = Array.from({length: length - 1}, (_, index) => {
    const shift = (length - 2 - index) * bitsOfContinuation;
    return 0x80 | ((codePoint >> shift) & continuationMask);
  });
  const leadMarker = (0xf00 >> length) & 0xff;
  return [leadMarker | (codePoint >> ((length - 1) * bitsOfContinuation)), ...continuations];
}
