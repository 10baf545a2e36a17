/** The last measurements of each engine, and what they are together. */
import type {StepStats} from '../core/engine/protocol.ts';

/** What all engines hold now. */
export type TotalLoad = Pick<StepStats, 'numRunning' | 'numWaiting' | 'numUsedCacheTokens'>;

export class EngineLoads {
  readonly #last = new Map<number, StepStats>();

  /** Takes the measurements of a step. */
  note(stats: StepStats, engineIndex: number): void {
    this.#last.set(engineIndex, stats);
  }

  total(): TotalLoad {
    const sum = (key: keyof TotalLoad) => [...this.#last.values()].reduce((total, stats) => total + stats[key], 0);
    return {
      numRunning: sum('numRunning'),
      numWaiting: sum('numWaiting'),
      numUsedCacheTokens: sum('numUsedCacheTokens'),
    };
  }
}
