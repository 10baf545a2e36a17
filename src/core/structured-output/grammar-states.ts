/**
 * Where a text stands in a grammar. A state is a set of places, each a leaf that may take the next byte and the stack of
 * what has to follow it. Equal stacks and equal states are one object, so that what was worked out for a state once (its
 * followers, its token mask) is there when the text comes by again.
 */
import type {ByteLeaf, GrammarProgram, ProgramNode, RepeatNode} from './grammar-program.ts';

/** What follows once the part above has been matched. Linked from the top; null = the end of the grammar. */
export interface StackCell {
  id: number;
  node: ProgramNode;
  /** Of a sequence: index of the next part. Of a repeat: how many parts have been matched. */
  position: number;
  below: StackCell | null;
}

export interface GrammarState {
  leaves: readonly ByteLeaf[];
  stacks: readonly (StackCell | null)[];
  /** The text so far is complete. */
  isFinal: boolean;
  /** By kind of byte; undefined = not worked out yet, null = the grammar does not allow it. */
  followers: (GrammarState | null | undefined)[];
  /** The tokens that may follow, once someone has asked; see `compiled-constraint.ts`. */
  tokenMask: Uint32Array | null;
}

/**
 * A grammar that can be read in more ways at once is followed in some of them: what they allow fits the grammar, and each
 * can be completed.
 */
const maxStacksOfLeaf = 200;
/** Beyond this everything known is dropped and worked out anew. */
const maxKnownStates = 20_000;
/** Ids of leaves and stacks are put into one number. */
const idRange = 2 ** 26;

export class GrammarStates {
  readonly #program: GrammarProgram;
  #cells = new Map<string, StackCell>();
  #states = new Map<string, GrammarState>();
  #start: GrammarState | null = null;
  /** Never used twice: stacks of states that were forgotten may still be extended. */
  #numCells = 0;

  constructor(program: GrammarProgram) {
    this.#program = program;
  }

  /** Before the first byte. */
  get start(): GrammarState {
    this.#start ??= this.#collect((places) => places.enter(this.#program.root, null));
    return this.#start;
  }

  /** @returns null when the grammar does not allow this kind of byte here */
  follow(state: GrammarState, kind: number): GrammarState | null {
    const known = state.followers[kind];
    if (known !== undefined) return known;
    const follower = this.#follow(state, kind);
    state.followers[kind] = follower;
    return follower;
  }

  /** The same places with other stacks. */
  withStacks(state: GrammarState, change: (cell: StackCell) => StackCell): GrammarState {
    const stacks = state.stacks.map((stack) => (stack === null ? null : change(stack)));
    if (stacks.every((stack, index) => stack === state.stacks[index])) return state;
    const places = new Places((node, position, below) => this.cell(node, position, below));
    places.isFinal = state.isFinal;
    state.leaves.forEach((leaf, index) => {
      places.stand(leaf, stacks[index]!);
    });
    return this.#intern(places);
  }

  /**
   * States that are in use stay valid; they are only no longer shared with later ones.
   * @returns whether there were too many
   */
  forgetWhenLarge(): boolean {
    if (this.#states.size + this.#cells.size / 4 <= maxKnownStates) return false;
    this.#states = new Map();
    this.#cells = new Map();
    this.#start = null;
    return true;
  }

  #follow({leaves, stacks}: GrammarState, kind: number): GrammarState | null {
    const taking = leaves.flatMap((leaf, index) => (kind >= leaf.first && kind <= leaf.last ? [stacks[index]!] : []));
    if (taking.length === 0) return null;
    return this.#collect((places) => {
      for (const stack of taking) places.leave(stack);
    });
  }

  #collect(walk: (places: Places) => void): GrammarState {
    const places = new Places((node, position, below) => this.cell(node, position, below));
    walk(places);
    return this.#intern(places);
  }

  /** The one cell of these parts. */
  cell(node: ProgramNode, position: number, below: StackCell | null): StackCell {
    const key = `${node.id}:${position}:${below?.id ?? -1}`;
    const known = this.#cells.get(key);
    if (known) return known;
    const cell = {id: this.#numCells++, node, position, below};
    this.#cells.set(key, cell);
    return cell;
  }

  #intern({leaves, stacks, keys, isFinal}: Places): GrammarState {
    const key = `${isFinal ? '!' : ''}${[...keys].sort((a, b) => a - b).join()}`;
    const known = this.#states.get(key);
    if (known) return known;
    const followers = new Array<GrammarState | null | undefined>(this.#program.numKinds).fill(undefined);
    const state = {leaves, stacks, isFinal, followers, tokenMask: null};
    this.#states.set(key, state);
    return state;
  }
}

/** The places that can be reached without taking a byte. */
class Places {
  readonly leaves: ByteLeaf[] = [];
  readonly stacks: (StackCell | null)[] = [];
  readonly keys = new Set<number>();
  isFinal = false;
  readonly #left = new Set<StackCell | null>();
  readonly #numStacks = new Map<ByteLeaf, number>();
  /** A node to go into, or (null) a stack to go on with. */
  readonly #open: {node: ProgramNode | null; below: StackCell | null}[] = [];
  readonly #push: (node: ProgramNode, position: number, below: StackCell | null) => StackCell;

  constructor(push: (node: ProgramNode, position: number, below: StackCell | null) => StackCell) {
    this.#push = push;
  }

  /** Goes into a node, and on to whatever can be reached from there. */
  enter(node: ProgramNode, below: StackCell | null): void {
    this.#open.push({node, below});
    this.#walk();
  }

  /** Goes on with what the stack says. */
  leave(stack: StackCell | null): void {
    this.#open.push({node: null, below: stack});
    this.#walk();
  }

  /** A list of what is still open, not recursion: rules may begin with one another over any number of levels. */
  #walk(): void {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      if (next.node === null) this.#leave(next.below);
      else this.#enter(next.node, next.below);
    }
  }

  #enter(node: ProgramNode, below: StackCell | null): void {
    switch (node.type) {
      case 'byte':
        this.stand(node, below);
        break;
      case 'rule':
        this.#open.push({node: node.target!, below});
        break;
      case 'choice':
        for (const option of node.options) this.#open.push({node: option, below});
        break;
      case 'sequence':
        this.#enterPart(node, 0, below);
        break;
      case 'repeat':
        this.#enterRound(node, 0, below);
        break;
    }
  }

  #leave(stack: StackCell | null): void {
    if (this.#left.has(stack)) return;
    this.#left.add(stack);
    if (stack === null) this.isFinal = true;
    else if (stack.node.type === 'sequence') this.#enterPart(stack.node, stack.position, stack.below);
    else if (stack.node.type === 'repeat') this.#enterRound(stack.node, stack.position, stack.below);
  }

  #enterPart(node: Extract<ProgramNode, {type: 'sequence'}>, index: number, below: StackCell | null): void {
    const {parts} = node;
    if (index === parts.length) {
      this.#open.push({node: null, below});
      return;
    }
    // What follows the last part is what follows the sequence: recursion at the end needs no stack.
    const isLast = index === parts.length - 1;
    this.#open.push({node: parts[index]!, below: isLast ? below : this.#push(node, index + 1, below)});
  }

  #enterRound(node: RepeatNode, numDone: number, below: StackCell | null): void {
    if (numDone >= node.min) this.#open.push({node: null, below});
    if (numDone >= node.max) return;
    // Without an upper limit it does not matter how far above the lower one a count is.
    const numCounted = node.max === Number.POSITIVE_INFINITY ? Math.min(numDone + 1, node.min) : numDone + 1;
    const isLast = numCounted === node.max;
    this.#open.push({node: node.part, below: isLast ? below : this.#push(node, numCounted, below)});
  }

  stand(leaf: ByteLeaf, stack: StackCell | null): void {
    const key = leaf.id * idRange + (stack === null ? 0 : stack.id + 1);
    if (this.keys.has(key)) return;
    const numStacks = this.#numStacks.get(leaf) ?? 0;
    if (numStacks >= maxStacksOfLeaf) return;
    this.#numStacks.set(leaf, numStacks + 1);
    this.keys.add(key);
    this.leaves.push(leaf);
    this.stacks.push(stack);
  }
}
