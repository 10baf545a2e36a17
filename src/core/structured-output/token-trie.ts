/**
 * The vocabulary as trees, walked together with the states of a grammar to find the tokens that may follow. Nodes stand in
 * the order of a walk, so that a subtree is a range; where a state leads back to itself for all bytes below a node, as
 * inside a string, the whole range is taken at once. Long tokens have a tree of their own: only they see far ahead.
 */
import type {TokenVocabulary} from '../sampling/token-vocabulary.ts';
import type {AheadState, AheadStates} from './ahead-states.ts';

/** Tokens up to this many bytes are short. */
export const shortLength = 12;
/** Subtrees of fewer nodes are walked. */
const minSkipped = 4;
const wordsOfByteSet = 8;

/** Both kinds of tokens. Made once for a vocabulary. */
export class VocabularyTree {
  readonly numTokens: number;
  readonly short: PrefixTree;
  readonly long: PrefixTree;
  /** Bytes of the longest token. */
  readonly longestLength: number;

  constructor({bytes, ends}: TokenVocabulary) {
    this.numTokens = ends.length;
    const tokens = Array.from(ends, (end, id) => ({id, bytes: bytes.subarray(id === 0 ? 0 : ends[id - 1], end)}))
      .filter((token) => token.bytes.length > 0)
      .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
    this.longestLength = tokens.reduce((longest, token) => Math.max(longest, token.bytes.length), 0);
    this.short = new PrefixTree(tokens.filter((token) => token.bytes.length <= shortLength));
    this.long = new PrefixTree(tokens.filter((token) => token.bytes.length > shortLength));
  }
}

interface SpelledToken {
  id: number;
  bytes: Uint8Array;
}

/** Node 0 is the root; the nodes of a subtree follow it. */
class PrefixTree {
  readonly #numNodes: number;
  readonly #byteOf: Uint8Array;
  readonly #depthOf: Uint16Array;
  /** Behind the last node of the subtree. */
  readonly #endOf: Int32Array;
  /** Tokens in the order of their nodes; those of a node begin here. */
  readonly #firstToken: Int32Array;
  readonly #tokenIds: Int32Array;
  /** By node: the bytes that come below it, as bits. */
  readonly #bytesBelow: Uint32Array;
  readonly #path: AheadState[] = [];

  /** @param tokens sorted by their bytes */
  constructor(tokens: readonly SpelledToken[]) {
    const maxNodes = tokens.reduce((sum, {bytes}) => sum + bytes.length, 1);
    this.#byteOf = new Uint8Array(maxNodes);
    this.#depthOf = new Uint16Array(maxNodes);
    this.#firstToken = new Int32Array(maxNodes + 1);
    this.#tokenIds = Int32Array.from(tokens, ({id}) => id);
    this.#numNodes = this.#addNodes(tokens);
    this.#endOf = this.#findEnds();
    this.#bytesBelow = this.#collectBytes();
  }

  #addNodes(tokens: readonly SpelledToken[]): number {
    let numNodes = 1;
    let previous = new Uint8Array(0);
    tokens.forEach(({bytes}, index) => {
      for (let length = commonLength(previous, bytes); length < bytes.length; length++) {
        this.#byteOf[numNodes] = bytes[length]!;
        this.#depthOf[numNodes] = length + 1;
        this.#firstToken[numNodes++] = index;
      }
      previous = Uint8Array.from(bytes);
    });
    this.#firstToken[numNodes] = tokens.length;
    return numNodes;
  }

  #findEnds(): Int32Array {
    const endOf = new Int32Array(this.#numNodes);
    const open: number[] = [];
    for (let node = 0; node <= this.#numNodes; node++) {
      const depth = node === this.#numNodes ? 0 : this.#depthOf[node]!;
      while (open.length > depth) endOf[open.pop()!] = node;
      open.push(node);
    }
    return endOf;
  }

  /** Children stand behind their parents, so that going backwards they are complete. */
  #collectBytes(): Uint32Array {
    const below = new Uint32Array(this.#numNodes * wordsOfByteSet);
    const parents = this.#parents();
    for (let node = this.#numNodes - 1; node > 0; node--) {
      const [from, to] = [node * wordsOfByteSet, parents[node]! * wordsOfByteSet];
      for (let word = 0; word < wordsOfByteSet; word++) below[to + word]! |= below[from + word]!;
      below[to + (this.#byteOf[node]! >>> 5)]! |= 1 << (this.#byteOf[node]! & 31);
    }
    return below;
  }

  #parents(): Int32Array {
    const parents = new Int32Array(this.#numNodes);
    const open = [0];
    for (let node = 1; node < this.#numNodes; node++) {
      const depth = this.#depthOf[node]!;
      parents[node] = open[depth - 1]!;
      open[depth] = node;
    }
    return parents;
  }

  /** Hot loop: sets the bit of each token that may follow. */
  markAllowed(start: AheadState, states: AheadStates, mask: Uint32Array): void {
    const path = this.#path;
    path[0] = start;
    for (let node = 1; node < this.#numNodes; ) {
      const depth = this.#depthOf[node]!;
      const from = path[depth - 1]!;
      const follower = states.follow(from, this.#byteOf[node]!);
      const end = this.#endOf[node]!;
      if (follower === null) {
        node = end;
      } else if (follower === from && end - node >= minSkipped && this.#staysIn(states.loopBytesOf(follower), node)) {
        this.#mark(this.#firstToken[node]!, this.#firstToken[end]!, mask);
        node = end;
      } else {
        path[depth] = follower;
        this.#mark(this.#firstToken[node]!, this.#firstToken[node + 1]!, mask);
        node++;
      }
    }
    path.length = 0;
  }

  #staysIn(loopBytes: Uint32Array, node: number): boolean {
    const first = node * wordsOfByteSet;
    for (let word = 0; word < wordsOfByteSet; word++) {
      if ((this.#bytesBelow[first + word]! & ~loopBytes[word]!) !== 0) return false;
    }
    return true;
  }

  #mark(first: number, end: number, mask: Uint32Array): void {
    for (let index = first; index < end; index++) {
      const tokenId = this.#tokenIds[index]!;
      mask[tokenId >>> 5]! |= 1 << (tokenId & 31);
    }
  }
}

function commonLength(a: Uint8Array, b: Uint8Array): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}
