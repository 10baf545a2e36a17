/**
 * Runs the steps of an engine core one after the other while there is work, and sleeps without polling while there is
 * none. Between two steps the event loop gets a turn, so that messages (aborts!) are read.
 */
import {setImmediate as nextTurn} from 'node:timers/promises';
import type {EngineCore, StepResult} from './engine-core.ts';

export class EngineLoop {
  readonly #core: EngineCore;
  readonly #onStep: (result: StepResult) => void;
  #isStopping = false;
  #wake: (() => void) | null = null;

  constructor(core: EngineCore, onStep: (result: StepResult) => void) {
    this.#core = core;
    this.#onStep = onStep;
  }

  /**
   * Resolves after `stop()`, when the step under way has ended.
   * @throws whatever a step throws; the engine cannot go on after that
   */
  async run(): Promise<void> {
    while (!this.#isStopping) {
      if (!this.#core.hasWork()) await new Promise<void>((resolve) => (this.#wake = resolve));
      else {
        this.#onStep(await this.#core.step());
        await nextTurn();
      }
    }
  }

  /** To be called whenever the core was given something. */
  wake(): void {
    this.#wake?.();
    this.#wake = null;
  }

  stop(): void {
    this.#isStopping = true;
    this.wake();
  }
}
