/**
 * How much one render may do, so that a hostile template ends soon: steps, text, depth and time. The defaults are far
 * above what real templates need (the largest of ours takes some 100,000 steps).
 */
export interface RenderLimits {
  /** Loop turns, calls, filters, tests and pieces of output; long values count more. */
  readonly maxSteps: number;
  /** Of the rendered text and of every block or macro, in UTF-16 units. */
  readonly maxOutputLength: number;
  /** Of a list, a tuple or a dict, with everything in it. */
  readonly maxElements: number;
  /** Macros, blocks and recursive loops inside one another. */
  readonly maxDepth: number;
  /** 0 = no limit. */
  readonly timeoutMs: number;
}

export const defaultRenderLimits: RenderLimits = {
  maxSteps: 10_000_000,
  maxOutputLength: 2 ** 24,
  maxElements: 2 ** 21,
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
