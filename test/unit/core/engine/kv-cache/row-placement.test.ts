import {describe, expect, it} from 'vitest';
import {choosePlacement, type RowCandidate} from '../../../../../src/core/engine/kv-cache/row-placement.ts';

function candidates(...rows: Partial<RowCandidate>[]): RowCandidate[] {
  return rows.map((overrides, row) => ({
    row,
    isFree: true,
    commonTokens: 0,
    otherTokens: 0,
    recency: 0,
    isAtWindow: true,
    ...overrides,
  }));
}

describe('choosePlacement', () => {
  it('continues the next turn of a chat in place', () => {
    const rows = candidates({}, {commonTokens: 998, otherTokens: 2, recency: 1}, {otherTokens: 50, recency: 0.5});
    expect(choosePlacement(rows, 1100)).toEqual({row: 1, copyFrom: null, reusedTokens: 998});
  });

  it('copies a common system prompt instead of overwriting another chat', () => {
    const rows = candidates({}, {commonTokens: 400, otherTokens: 1100, recency: 1});
    expect(choosePlacement(rows, 420)).toEqual({row: 0, copyFrom: 1, reusedTokens: 400});
  });

  it('copies from a busy row, which cannot be continued', () => {
    const rows = candidates({isFree: false, commonTokens: 300}, {});
    expect(choosePlacement(rows, 310)).toEqual({row: 1, copyFrom: 0, reusedTokens: 300});
  });

  it('does not copy for less than the copy costs', () => {
    const rows = candidates({isFree: false, commonTokens: 600}, {commonTokens: 599});
    expect(choosePlacement(rows, 700)).toEqual({row: 1, copyFrom: null, reusedTokens: 599});
  });

  it('gives up the content used longest ago when no row is empty', () => {
    const rows = candidates(
      {otherTokens: 500, recency: 0.9},
      {otherTokens: 500, recency: 0},
      {otherTokens: 500, recency: 0.5},
    );
    expect(choosePlacement(rows, 100).row).toBe(1);
  });

  it('prefers a row at the decode window over an equally empty one', () => {
    const rows = candidates({isFree: false}, {isAtWindow: false}, {isAtWindow: true});
    expect(choosePlacement(rows, 100).row).toBe(2);
  });

  it('moves later rather than losing much that is fresh', () => {
    const rows = candidates({otherTokens: 2000, recency: 1, isAtWindow: true}, {isAtWindow: false});
    expect(choosePlacement(rows, 100).row).toBe(1);
  });
});
