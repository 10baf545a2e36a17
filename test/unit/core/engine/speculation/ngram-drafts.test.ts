import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {NgramDrafts} from '../../../../../src/core/engine/speculation/ngram-drafts.ts';

const drafts = (minMatch: number, maxMatch: number, maxDraftTokens = 3) =>
  new NgramDrafts({minMatch, maxMatch, maxDraftTokens});

describe('drafts from the text itself', () => {
  it.each<[string, number[], number, number, number[]]>([
    ['what followed the same tokens', [1, 2, 3, 4, 5, 9, 1, 2], 2, 2, [3, 4, 5]],
    ['nothing when too few tokens match', [1, 2, 3, 4, 9, 2], 2, 2, []],
    ['the longest match, not the latest', [7, 1, 2, 5, 0, 1, 2, 6, 7, 1, 2], 1, 3, [5, 0, 1]],
    ['the latest of equally long ones', [1, 2, 5, 1, 2, 6, 1, 2], 2, 2, [6, 1, 2]],
    ['the latest when longer matches do not count', [7, 1, 2, 5, 0, 1, 2, 6, 7, 1, 2], 2, 2, [6, 7, 1]],
    ['a loop as a loop', [8, 1, 2, 1, 2], 2, 2, [1, 2, 1]],
    ['a repeated token', [8, 8], 1, 4, [8, 8, 8]],
    ['nothing for a single token', [8], 1, 1, []],
    ['nothing for no tokens', [], 1, 1, []],
  ])('give %s', (_name, tokenIds, minMatch, maxMatch, expected) => {
    expect(drafts(minMatch, maxMatch).draftAfter(tokenIds, 16)).toEqual(expected);
  });

  it('are no longer than asked for', () => {
    expect(drafts(1, 1, 5).draftAfter([1, 2, 3, 4, 1], 2)).toEqual([2, 3]);
    expect(drafts(1, 1, 1).draftAfter([1, 2, 3, 4, 1], 2)).toEqual([2]);
  });

  it('are what a search of all places finds', () => {
    const tokens = fc.array(fc.nat(2), {maxLength: 40});
    const bounds = fc.tuple(fc.integer({min: 1, max: 4}), fc.nat(3));
    fc.assert(
      fc.property(tokens, bounds, (tokenIds, [minMatch, more]) => {
        const maxMatch = minMatch + more;
        const places = tokenIds.map((_, end) => end).filter((end) => end > 0);
        const lengthAt = (end: number) =>
          [...Array(maxMatch + 1).keys()].findLast(
            (length) =>
              length <= end &&
              String(tokenIds.slice(end - length, end)) === String(tokenIds.slice(tokenIds.length - length)),
          ) as number;
        const longest = Math.max(0, ...places.map(lengthAt));
        const best = places.findLast((end) => lengthAt(end) === longest);
        const endless = [...tokenIds];
        if (best !== undefined) for (let i = 0; i < 3; i++) endless.push(endless[best + i]!);
        const expected = longest < minMatch ? [] : endless.slice(tokenIds.length);
        expect(drafts(minMatch, maxMatch).draftAfter(tokenIds, 3)).toEqual(expected);
      }),
      {numRuns: 400, seed: 5},
    );
  });
});
