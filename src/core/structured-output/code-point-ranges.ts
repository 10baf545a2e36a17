/** Sets of code points as sorted ranges that neither overlap nor touch. Surrogates are in no set: no text holds them. */

/** `[first, last]`, both included. */
export type CodePointRange = readonly [first: number, last: number];
export type CodePointRanges = readonly CodePointRange[];

const lastCodePoint = 0x10ffff;
const surrogates: CodePointRange = [0xd800, 0xdfff];

/** @param ranges in any order; they may overlap */
export function unionOf(...sets: readonly CodePointRanges[]): CodePointRanges {
  const sorted = sets.flat().sort(([a], [b]) => a - b);
  const union: [number, number][] = [];
  for (const [first, last] of sorted) {
    const previous = union.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else union.push([first, last]);
  }
  return union;
}

/** All code points that are not in the set, without surrogates. */
export function complementOf(ranges: CodePointRanges): CodePointRanges {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [first, last] of unionOf(ranges, [surrogates])) {
    if (first > next) gaps.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= lastCodePoint) gaps.push([next, lastCodePoint]);
  return gaps;
}

export function without(ranges: CodePointRanges, taken: CodePointRanges): CodePointRanges {
  return complementOf(unionOf(complementOf(ranges), taken));
}

export function intersectionOf(a: CodePointRanges, b: CodePointRanges): CodePointRanges {
  return complementOf(unionOf(complementOf(a), complementOf(b)));
}

/** Every character of a text, or ranges such as `a-z` given as pairs. */
export function charactersOf(characters: string): CodePointRanges {
  return unionOf([...characters].map((character) => [character.codePointAt(0)!, character.codePointAt(0)!] as const));
}

export const range = (first: string, last: string): CodePointRange => [first.codePointAt(0)!, last.codePointAt(0)!];

/** For ranges that someone wrote by their ends. */
export const withoutSurrogates = (ranges: CodePointRanges): CodePointRanges => without(ranges, [surrogates]);

export const anyCodePoint: CodePointRanges = complementOf([]);
