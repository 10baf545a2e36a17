import {describe, expect, it} from 'vitest';
import {chooseEngine, type EngineCandidate} from '../../../../../src/core/engine/client/choose-engine.ts';

const engine = (index: number, facts: Partial<EngineCandidate> = {}): EngineCandidate => ({
  index,
  knownTokens: 0,
  backlogTokens: 0,
  openSequences: 0,
  ...facts,
});

describe('chooseEngine', () => {
  it('takes the engine that knows most of the prompt', () => {
    const candidates = [engine(0, {knownTokens: 160}), engine(1, {knownTokens: 480}), engine(2)];
    expect(chooseEngine(candidates, 600, 2)).toBe(1);
  });

  it('takes the least loaded one when no beginning is known', () => {
    const candidates = [engine(0, {openSequences: 3}), engine(1, {openSequences: 2}), engine(2, {openSequences: 5})];
    expect(chooseEngine(candidates, 50, 2)).toBe(1);
    expect(chooseEngine([engine(0, {backlogTokens: 900}), engine(1, {backlogTokens: 30})], 50, 1)).toBe(1);
  });

  it('takes equals in turn', () => {
    const candidates = [engine(0), engine(1), engine(2)];
    expect([0, 1, 2].map((after) => chooseEngine(candidates, 50, after))).toEqual([1, 2, 0]);
  });

  it('does not queue a short common beginning up behind one engine', () => {
    const candidates = [engine(0, {knownTokens: 32, openSequences: 4}), engine(1)];
    expect(chooseEngine(candidates, 60, 1)).toBe(1);
  });

  it('keeps a long conversation where it is while that engine is a little busier', () => {
    const candidates = [engine(0, {knownTokens: 992, openSequences: 3}), engine(1)];
    expect(chooseEngine(candidates, 1000, 1)).toBe(0);
  });
});
