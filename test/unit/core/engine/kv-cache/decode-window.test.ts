import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {planWindow} from '../../../../../src/core/engine/kv-cache/decode-window.ts';

/** `D100` decodes with 100 tokens, `-20` is another row with 20 tokens. */
function rows(text: string) {
  return text.split(' ').map((row) => ({isDecoding: row.startsWith('D'), numTokens: Number(row.slice(1))}));
}

describe('planWindow', () => {
  it.each([
    ['one sequence stays where it is', '-0 -0 D90 -500', []],
    ['neighbours stay', '-10 D1 D2 D3 -0', []],
    ['a hole is filled from the cheaper edge', 'D100 -10 D40 D300', [{from: 0, to: 1}]],
    ['an edge that leaves costs nothing', '-10 D40 D300 -0', []],
    ['a newcomer is exchanged to the edge with less content', 'D50 -900 -0 D60', [{from: 0, to: 2}]],
    ['a newcomer far away joins', '-5 D300 D300 -7 -0 D20', [{from: 5, to: 0}]],
    ['two holes may need one move only', 'D10 -0 D10 -0 D10', [{from: 4, to: 1}]],
  ])('%s', (_name, text, moves) => {
    expect(planWindow(rows(text))).toEqual(moves);
  });

  it.each([
    ['rows from the first one on stay', 'D10 D20 -0', []],
    ['neighbours elsewhere move to the beginning', '-10 D40 D300 -0', [{from: 2, to: 0}]],
    ['a single sequence moves too', '-500 -0 D90', [{from: 2, to: 0}]],
  ])('on a device: %s', (_name, text, moves) => {
    expect(planWindow(rows(text), true)).toEqual(moves);
  });

  it('always leads to neighbours, at a cost no other place of the window beats', () => {
    const row = fc.record({isDecoding: fc.boolean(), numTokens: fc.nat(300)});
    fc.assert(
      fc.property(fc.array(row, {minLength: 1, maxLength: 9}), (before) => {
        const moves = planWindow(before);
        const after = before.map(({isDecoding}) => isDecoding);
        for (const {from, to} of moves) {
          expect([after[from], after[to]]).toEqual([true, false]);
          [after[from], after[to]] = [false, true];
        }
        const first = after.indexOf(true);
        const size = after.filter(Boolean).length;
        expect(after.slice(Math.max(first, 0), Math.max(first, 0) + size).every(Boolean)).toBe(true);
        expect(tokensMoved(before, moves)).toBeLessThanOrEqual(cheapest(before, size));
      }),
      {seed: 5},
    );
  });
});

type Rows = ReturnType<typeof rows>;

function tokensMoved(before: Rows, moves: readonly {from: number; to: number}[]): number {
  return moves.reduce((sum, {from, to}) => sum + before[from].numTokens + before[to].numTokens + 8, 0);
}

function cheapest(before: Rows, size: number): number {
  const costs = Array.from({length: before.length - size + 1}, (_, start) =>
    before.reduce((sum, {isDecoding, numTokens}, row) => {
      const isInside = row >= start && row < start + size;
      return isDecoding === isInside ? sum : sum + numTokens + 4;
    }, 0),
  );
  return Math.min(...costs);
}
