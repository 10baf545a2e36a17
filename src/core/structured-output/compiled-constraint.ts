/** A grammar together with a vocabulary: which tokens may follow a state, and where a token leads. */
import type {TokenVocabulary} from '../sampling/token-vocabulary.ts';
import type {GrammarProgram} from './grammar-program.ts';
import {type GrammarState, GrammarStates} from './grammar-states.ts';
import {TokenTrie, type VocabularyTree} from './token-trie.ts';

/** How tokens are spelled, and the same as a tree. */
export interface Spelling {
  vocabulary: TokenVocabulary;
  tree: VocabularyTree;
}

export class CompiledConstraint {
  readonly states: GrammarStates;
  readonly #program: GrammarProgram;
  readonly #vocabulary: TokenVocabulary;
  readonly #trie: TokenTrie;

  constructor(program: GrammarProgram, {vocabulary, tree}: Spelling, namesSpecialTokens: boolean) {
    this.#program = program;
    this.#vocabulary = vocabulary;
    this.states = new GrammarStates(program);
    const unusable = new Set(vocabulary.specialTokenIds);
    if (namesSpecialTokens) for (const id of namedTokens(program.texts, vocabulary)) unusable.delete(id);
    this.#trie = new TokenTrie(tree, program.kindOfByte, unusable);
  }

  /** The tokens that may follow a state. */
  maskOf(state: GrammarState): Uint32Array {
    state.tokenMask ??= this.#trie.maskOf(state, this.states);
    return state.tokenMask;
  }

  /** @returns null when the token may not follow */
  followToken(state: GrammarState, tokenId: number): GrammarState | null {
    const bytes = bytesOfToken(this.#vocabulary, tokenId);
    if (bytes.length === 0) return null;
    let reached: GrammarState | null = state;
    for (const byte of bytes) {
      reached = this.states.follow(reached, this.#program.kindOfByte[byte]!);
      if (reached === null) return null;
    }
    return reached;
  }
}

function bytesOfToken({bytes, ends}: TokenVocabulary, tokenId: number): Uint8Array {
  return bytes.subarray(tokenId === 0 ? 0 : ends[tokenId - 1], ends[tokenId]);
}

/** Special tokens that the grammar spells out somewhere. */
function namedTokens(texts: ReadonlySet<string>, vocabulary: TokenVocabulary): number[] {
  const spelling = (id: number) => Buffer.from(bytesOfToken(vocabulary, id)).toString();
  return vocabulary.specialTokenIds.filter((id) => [...texts].some((text) => text.includes(spelling(id))));
}
