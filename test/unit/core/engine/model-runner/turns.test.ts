import {expect, it} from 'vitest';
import {toTurns} from '../../../../../src/core/engine/model-runner/turns.ts';

it('lays rows with different drafts out in turns', () => {
  const turns = toTurns(
    [
      {row: 2, start: 10, tokenIds: [100, 101, 102], numLogits: 3},
      {row: 3, start: 5, tokenIds: [200], numLogits: 1},
      {row: 4, start: 7, tokenIds: [300, 301], numLogits: 1},
    ],
    4,
  );
  const numbers = (values: BigInt64Array) => Array.from(values, Number);
  expect(numbers(turns.inputIds)).toEqual([100, 101, 102, 200, 300, 301]);
  // A row without a token left repeats its last one at the same place.
  expect(turns.tokensOfTurns.map(numbers)).toEqual([
    [0, 3, 4],
    [1, 3, 5],
    [2, 3, 5],
    [2, 3, 5],
  ]);
  expect(turns.lengths.map((lengths) => [...lengths])).toEqual([
    [10, 5, 7],
    [11, 5, 8],
    [12, 5, 8],
    [12, 5, 8],
  ]);
  expect([...turns.totalLength]).toEqual([13]);
  // Results stand by turn, then by row.
  expect(numbers(turns.tokenOrder)).toEqual([0, 3, 6, 1, 2, 5]);
  expect(numbers(turns.logitsAt)).toEqual([0, 1, 2, 3, 5]);
});
