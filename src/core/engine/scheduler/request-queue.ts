/**
 * Sequences that wait for a row, most senior first. The two policies differ in nothing but the order; a preempted
 * sequence keeps its arrival and so comes back to the front.
 */
import type {EngineConfig} from '../../config/engine-config.ts';
import type {Sequence} from '../sequence.ts';

export type SchedulingPolicy = EngineConfig['schedulingPolicy'];

type Comparison = (a: Sequence, b: Sequence) => number;

/** Negative when `a` goes before `b`. */
export const seniority: Record<SchedulingPolicy, Comparison> = {
  fcfs: (a, b) => a.arrival - b.arrival,
  priority: (a, b) => a.priority - b.priority || a.arrival - b.arrival,
};

export class RequestQueue {
  readonly #compare: Comparison;
  readonly #sequences: Sequence[] = [];

  constructor(compare: Comparison) {
    this.#compare = compare;
  }

  get length(): number {
    return this.#sequences.length;
  }

  add(sequence: Sequence): void {
    const position = this.#sequences.findLastIndex((other) => this.#compare(other, sequence) < 0) + 1;
    this.#sequences.splice(position, 0, sequence);
  }

  remove(sequence: Sequence): void {
    const position = this.#sequences.indexOf(sequence);
    if (position >= 0) this.#sequences.splice(position, 1);
  }

  has(sequence: Sequence): boolean {
    return this.#sequences.includes(sequence);
  }

  last(): Sequence | undefined {
    return this.#sequences.at(-1);
  }

  /** The most senior sequences, as a copy. */
  first(count = this.#sequences.length): Sequence[] {
    return this.#sequences.slice(0, count);
  }
}
