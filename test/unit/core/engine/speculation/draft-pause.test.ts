import {expect, it} from 'vitest';
import {DraftPause} from '../../../../../src/core/engine/speculation/draft-pause.ts';

/** After how many further tokens drafts begin again. */
function lengthOf(pause: DraftPause, numOutputTokens: number): number {
  return Array.from({length: 100}, (_, i) => i).findIndex((more) => pause.isOver(numOutputTokens + more));
}

it('pauses twice as long after each miss, up to a limit, and not at all after a hit', () => {
  const pause = new DraftPause();
  expect(lengthOf(pause, 0)).toBe(0);
  const lengths = Array.from({length: 7}, (_, misses) => {
    pause.note(0, 10 * misses);
    return lengthOf(pause, 10 * misses);
  });
  expect(lengths).toEqual([2, 4, 8, 16, 32, 32, 32]);
  pause.note(1, 100);
  expect(lengthOf(pause, 100)).toBe(0);
  pause.note(0, 110);
  expect(lengthOf(pause, 110)).toBe(2);
});
