/**
 * How much one render may do, so that a hostile template ends soon: steps, text, depth and time. The defaults are far
 * above what real templates need (the largest of ours takes some 100,000 steps).
 */
import {PythonError} from './python-error.ts';

export interface RenderLimits {
  /** Loop turns, calls, filters, tests and pieces of output; long values count more. */
  readonly maxSteps: number;
  /** Of the rendered text and of every block or macro, in UTF-16 units. */
  readonly maxOutputLength: number;
  /** Macros, blocks and recursive loops inside one another. */
  readonly maxDepth: number;
  /** 0 = no limit. */
  readonly timeoutMs: number;
}

export const defaultRenderLimits: RenderLimits = {
  maxSteps: 10_000_000,
  maxOutputLength: 2 ** 25,
  maxDepth: 200,
  timeoutMs: 0,
};

/** The render took longer than its limit; no mistake of the request in itself. */
export class RenderTimeoutError extends Error {
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`Chat template rendering timed out after ${timeoutMs / 1000}s.`);
    this.name = 'RenderTimeoutError';
    this.timeoutMs = timeoutMs;
  }
}

/** Steps between two looks at the clock. */
const clockInterval = 256;
/** So many UTF-16 units or elements of a value cost one step. */
const unitsPerStep = 64;

/** What one render has used up. */
export class Meter {
  readonly limits: RenderLimits;
  readonly #monotonicMs: () => number;
  readonly #deadline: number;
  #steps = 0;
  #nextLook = clockInterval;
  #depth = 0;

  constructor(limits: RenderLimits, monotonicMs: () => number) {
    this.limits = limits;
    this.#monotonicMs = monotonicMs;
    this.#deadline = limits.timeoutMs > 0 ? monotonicMs() + limits.timeoutMs : Number.POSITIVE_INFINITY;
  }

  step(count = 1): void {
    this.#steps += count;
    if (this.#steps >= this.#nextLook) this.#look();
  }

  /** Counts a text or a list of this length. */
  stepsFor(length: number): void {
    this.step(1 + Math.floor(length / unitsPerStep));
  }

  get steps(): number {
    return this.#steps;
  }

  enter(): void {
    if (++this.#depth > this.limits.maxDepth) {
      throw new PythonError('RecursionError', 'maximum recursion depth exceeded');
    }
  }

  leave(): void {
    this.#depth--;
  }

  #look(): void {
    this.#nextLook = this.#steps + clockInterval;
    if (this.#steps > this.limits.maxSteps) {
      throw new PythonError('MemoryError', `The template takes more than ${this.limits.maxSteps} steps.`);
    }
    if (this.#monotonicMs() > this.#deadline) throw new RenderTimeoutError(this.limits.timeoutMs);
  }
}
