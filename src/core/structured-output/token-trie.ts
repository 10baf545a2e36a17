/**
 * The vocabulary as a tree, walked together with the states of a grammar to find the tokens that may follow. To a grammar,
 * `dog` and `cat` inside a string are the same three kinds of bytes; so each grammar sees the tree through its kinds, where
 * all tokens that are spelled alike stand at one node. That view is made as far as the grammar reaches into it.
 */
import type {TokenVocabulary} from '../sampling/token-vocabulary.ts';
import type {GrammarState, GrammarStates} from './grammar-states.ts';

/** The tree over bytes, in arrays by node; node 0 is its root, and 0 also stands for none. Made once for a vocabulary. */
export class VocabularyTree {
  readonly numTokens: number;
  readonly byteOf: Uint8Array;
  readonly firstChild: Int32Array;
  readonly nextSibling: Int32Array;
  /** First token that ends at the node; -1 = none. */
  readonly tokenAt: Int32Array;
  /** Another token of the same bytes; -1 = none. */
  readonly alike: Int32Array;
  #numNodes = 1;

  constructor({bytes, ends}: TokenVocabulary) {
    this.numTokens = ends.length;
    const maxNodes = bytes.length + 1;
    this.byteOf = new Uint8Array(maxNodes);
    this.firstChild = new Int32Array(maxNodes);
    this.nextSibling = new Int32Array(maxNodes);
    this.tokenAt = new Int32Array(maxNodes).fill(-1);
    this.alike = new Int32Array(ends.length).fill(-1);
    for (let tokenId = 0; tokenId < ends.length; tokenId++) {
      const start = tokenId === 0 ? 0 : ends[tokenId - 1]!;
      if (ends[tokenId]! > start) this.#insert(tokenId, bytes.subarray(start, ends[tokenId]));
    }
  }

  #insert(tokenId: number, bytes: Uint8Array): void {
    let node = 0;
    for (const byte of bytes) node = this.#childOf(node, byte);
    this.alike[tokenId] = this.tokenAt[node]!;
    this.tokenAt[node] = tokenId;
  }

  /** A child that was found moves to the front: neighbours in the vocabulary begin alike. */
  #childOf(node: number, byte: number): number {
    let previous = 0;
    let child = this.firstChild[node]!;
    while (child !== 0 && this.byteOf[child] !== byte) {
      previous = child;
      child = this.nextSibling[child]!;
    }
    if (child === 0) child = this.#newNode(byte);
    else if (previous === 0) return child;
    else this.nextSibling[previous] = this.nextSibling[child]!;
    this.nextSibling[child] = this.firstChild[node]!;
    this.firstChild[node] = child;
    return child;
  }

  #newNode(byte: number): number {
    this.byteOf[this.#numNodes] = byte;
    return this.#numNodes++;
  }
}

/** Nodes of the tree that a grammar cannot tell apart. */
interface TrieNode {
  members: number[];
  tokenIds: number[];
  /** Null = not looked at yet. */
  children: {kinds: number[]; nodes: TrieNode[]} | null;
}

export class TokenTrie {
  readonly #tree: VocabularyTree;
  readonly #kindOfByte: Uint8Array;
  readonly #unusable: ReadonlySet<number>;
  readonly #root: TrieNode = {members: [0], tokenIds: [], children: null};

  /**
   * @param kindOfByte of the grammar
   * @param unusable tokens that are no part of an answer
   */
  constructor(tree: VocabularyTree, kindOfByte: Uint8Array, unusable: ReadonlySet<number>) {
    this.#tree = tree;
    this.#kindOfByte = kindOfByte;
    this.#unusable = unusable;
  }

  /** One bit for each token, lowest bit first: set when the token may follow. */
  maskOf(state: GrammarState, states: GrammarStates): Uint32Array {
    const mask = new Uint32Array(Math.ceil(this.#tree.numTokens / 32));
    this.#markAllowed(this.#root, state, states, mask);
    return mask;
  }

  /** Hot loop over the tree. */
  #markAllowed(node: TrieNode, state: GrammarState, states: GrammarStates, mask: Uint32Array): void {
    node.children ??= this.#childrenOf(node);
    const {kinds, nodes} = node.children;
    for (let index = 0; index < kinds.length; index++) {
      const follower = states.follow(state, kinds[index]!);
      if (follower === null) continue;
      const child = nodes[index]!;
      const {tokenIds} = child;
      for (let i = 0; i < tokenIds.length; i++) mask[tokenIds[i]! >>> 5]! |= 1 << (tokenIds[i]! & 31);
      this.#markAllowed(child, follower, states, mask);
    }
  }

  #childrenOf({members}: TrieNode): {kinds: number[]; nodes: TrieNode[]} {
    const {firstChild, nextSibling, byteOf} = this.#tree;
    const byKind = new Map<number, TrieNode>();
    for (const member of members) {
      for (let child = firstChild[member]!; child !== 0; child = nextSibling[child]!) {
        const kind = this.#kindOfByte[byteOf[child]!]!;
        const node = byKind.get(kind) ?? {members: [], tokenIds: [], children: null};
        byKind.set(kind, node);
        node.members.push(child);
        this.#addTokens(node, child);
      }
    }
    return {kinds: [...byKind.keys()], nodes: [...byKind.values()]};
  }

  #addTokens({tokenIds}: TrieNode, treeNode: number): void {
    for (let tokenId = this.#tree.tokenAt[treeNode]!; tokenId !== -1; tokenId = this.#tree.alike[tokenId]!) {
      if (!this.#unusable.has(tokenId)) tokenIds.push(tokenId);
    }
  }
}
