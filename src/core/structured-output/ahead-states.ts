/**
 * States as a token sees them that is about to follow. It has only so many bytes, so that counts which it cannot bring to a
 * limit are all alike to it: in a string of at most 1000 characters, the 10th and the 500th are the same place. That is what
 * lets masks be shared, and a walk over the vocabulary stay in few states.
 */
import type {GrammarProgram, RepeatNode} from './grammar-program.ts';
import type {GrammarState, GrammarStates, StackCell} from './grammar-states.ts';

export interface AheadState {
  state: GrammarState;
  /** By kind of byte; undefined = not worked out yet. */
  followers: (AheadState | null | undefined)[];
  /** The bytes that lead back to it, as 256 bits; null = not worked out yet. */
  loopBytes: Uint32Array | null;
}

export class AheadStates {
  readonly #states: GrammarStates;
  readonly #program: GrammarProgram;
  /** Bytes that are looked ahead. */
  readonly #reach: number;
  #known = new Map<GrammarState, AheadState>();
  #cells = new Map<StackCell, StackCell>();

  constructor(states: GrammarStates, program: GrammarProgram, reach: number) {
    this.#states = states;
    this.#program = program;
    this.#reach = reach;
  }

  of(state: GrammarState): AheadState {
    const known = this.#known.get(state);
    if (known) return known;
    const seen = this.#states.withStacks(state, (cell) => this.#seenCell(cell));
    const ahead = this.#known.get(seen) ?? {
      state: seen,
      followers: new Array<AheadState | null | undefined>(this.#program.numKinds).fill(undefined),
      loopBytes: null,
    };
    this.#known.set(seen, ahead);
    this.#known.set(state, ahead);
    return ahead;
  }

  /** @returns null when the byte may not follow */
  follow(ahead: AheadState, byte: number): AheadState | null {
    const kind = this.#program.kindOfByte[byte]!;
    const known = ahead.followers[kind];
    if (known !== undefined) return known;
    const follower = this.#states.follow(ahead.state, kind);
    const seen = follower === null ? null : this.of(follower);
    ahead.followers[kind] = seen;
    return seen;
  }

  loopBytesOf(ahead: AheadState): Uint32Array {
    ahead.loopBytes ??= this.#findLoopBytes(ahead);
    return ahead.loopBytes;
  }

  forget(): void {
    this.#known = new Map();
    this.#cells = new Map();
  }

  #findLoopBytes(ahead: AheadState): Uint32Array {
    const bytes = new Uint32Array(8);
    for (let byte = 0; byte < 256; byte++) {
      if (this.follow(ahead, byte) === ahead) bytes[byte >>> 5]! |= 1 << (byte & 31);
    }
    return bytes;
  }

  /** From the deepest cell that is not known yet up to this one: stacks may be deep. */
  #seenCell(top: StackCell): StackCell {
    const open: StackCell[] = [];
    let cell: StackCell | null = top;
    for (; cell !== null && !this.#cells.has(cell); cell = cell.below) open.push(cell);
    let seen = cell === null ? null : this.#cells.get(cell)!;
    for (const next of open.toReversed()) {
      const position = next.node.type === 'repeat' ? this.#seenCount(next.node, next.position) : next.position;
      seen = this.#states.cell(next.node, position, seen);
      this.#cells.set(next, seen);
    }
    return seen!;
  }

  /** A round takes a byte at least, so a limit that is further away than the reach is not met. */
  #seenCount({min, max, takesBytes}: RepeatNode, count: number): number {
    if (!takesBytes) return count;
    if (count + this.#reach < min) return 1;
    return count >= min && count + this.#reach < max ? Math.max(1, min) : count;
  }
}
