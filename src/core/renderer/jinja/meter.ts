/**
 * What one render has used up: steps, depth and time. Work on long texts, long lists and big integers counts by size, so
 * that few operations cannot take for ever; what contains itself many times over is weighed as if it were written out.
 */
import {type RenderLimits, RenderTimeoutError} from './limits.ts';
import {Markup, PyRange} from './objects.ts';
import {PythonError} from './python-error.ts';
import {PyDict, PyTuple, type Value} from './values.ts';

/** Steps between two looks at the clock. */
const clockInterval = 256;
/** So much work is one step. */
const unitsPerStep = 64;
const elementsPerStep = 4;
const stepsOfBigInteger = 50;

export class Meter {
  readonly limits: RenderLimits;
  readonly #monotonicMs: () => number;
  readonly #deadline: number;
  readonly #weights = new WeakMap<object, number>();
  #steps = 0;
  #nextLook = clockInterval;
  #depth = 0;

  constructor(limits: RenderLimits, monotonicMs: () => number) {
    this.limits = limits;
    this.#monotonicMs = monotonicMs;
    this.#deadline = limits.timeoutMs > 0 ? monotonicMs() + limits.timeoutMs : Number.POSITIVE_INFINITY;
  }

  get steps(): number {
    return this.#steps;
  }

  step(count = 1): void {
    this.#steps += count;
    if (this.#steps >= this.#nextLook) this.#look();
  }

  stepsForText(length: number): void {
    this.step(1 + Math.floor(length / unitsPerStep));
  }

  /** Counts the work of walking a value once. */
  read(value: Value): void {
    if (typeof value === 'string') this.#steps += Math.floor(value.length / unitsPerStep);
    else if (typeof value === 'object' && value !== null) this.#steps += Math.floor(sizeOf(value) / elementsPerStep);
    else if (typeof value === 'bigint') this.#steps += stepsOfBigInteger;
  }

  /** Counts a value that was made. @throws PythonError when it holds too many elements */
  made<Made extends Value>(value: Made): Made {
    if (typeof value === 'string') this.stepsForText(value.length);
    else if (typeof value === 'bigint') this.step(stepsOfBigInteger);
    else if (typeof value === 'object' && value !== null) this.step(Math.floor(this.#weigh(value) / elementsPerStep));
    return value;
  }

  enter(): void {
    if (++this.#depth > this.limits.maxDepth) {
      throw new PythonError('RecursionError', 'maximum recursion depth exceeded');
    }
  }

  leave(): void {
    this.#depth--;
  }

  /** Number of elements, those of elements too; a container that stands in two places counts twice. */
  #weigh(value: Value): number {
    const elements = elementsOf(value);
    if (elements === undefined) return 1;
    const known = this.#weights.get(value as object);
    if (known !== undefined) return known;
    let weight = 1;
    for (const element of elements) weight += this.#weigh(element);
    if (weight > this.limits.maxElements) {
      throw new PythonError(
        'MemoryError',
        `The template makes a value of more than ${this.limits.maxElements} elements.`,
      );
    }
    this.#weights.set(value as object, weight);
    return weight;
  }

  #look(): void {
    this.#nextLook = this.#steps + clockInterval;
    if (this.#steps > this.limits.maxSteps) {
      throw new PythonError('MemoryError', `The template takes more than ${this.limits.maxSteps} steps.`);
    }
    if (this.#monotonicMs() > this.#deadline) throw new RenderTimeoutError(this.limits.timeoutMs);
  }
}

function elementsOf(value: Value): Iterable<Value> | undefined {
  if (Array.isArray(value)) return value;
  if (value instanceof PyTuple) return value.items;
  return value instanceof PyDict ? value.values() : undefined;
}

function sizeOf(value: object): number {
  if (Array.isArray(value)) return value.length;
  if (value instanceof PyTuple) return value.items.length;
  if (value instanceof PyDict) return value.size;
  if (value instanceof Markup) return value.text.length / unitsPerStep;
  return value instanceof PyRange ? value.length() : 0;
}
