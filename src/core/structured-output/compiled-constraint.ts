/** A grammar together with a vocabulary: which tokens may follow a state, and where a token leads. */
import type {TokenVocabulary} from '../sampling/token-vocabulary.ts';
import {type AheadState, AheadStates} from './ahead-states.ts';
import type {GrammarProgram} from './grammar-program.ts';
import {type GrammarState, GrammarStates} from './grammar-states.ts';
import {shortLength, type VocabularyTree} from './token-trie.ts';

/** How tokens are spelled, and the same as a tree. */
export interface Spelling {
  vocabulary: TokenVocabulary;
  tree: VocabularyTree;
}

/** Masks that are kept; a mask of 50,000 tokens is 6 KB. */
const maxMasks = 1000;

export class CompiledConstraint {
  readonly states: GrammarStates;
  readonly #program: GrammarProgram;
  readonly #vocabulary: TokenVocabulary;
  readonly #tree: VocabularyTree;
  /** Tokens that are no part of an answer. */
  readonly #unusable: readonly number[];
  /** States as short and as long tokens see them. */
  readonly #short: AheadStates;
  readonly #long: AheadStates;
  /** By what decides about short tokens, then about long ones. */
  #masks = new Map<AheadState, Map<AheadState, Uint32Array>>();
  #numMasks = 0;

  constructor(program: GrammarProgram, {vocabulary, tree}: Spelling, namesSpecialTokens: boolean) {
    this.#program = program;
    this.#vocabulary = vocabulary;
    this.#tree = tree;
    this.states = new GrammarStates(program);
    this.#short = new AheadStates(this.states, program, shortLength);
    this.#long = new AheadStates(this.states, program, tree.longestLength);
    const named = new Set(namesSpecialTokens ? namedTokens(program.texts, vocabulary) : []);
    this.#unusable = vocabulary.specialTokenIds.filter((id) => !named.has(id));
  }

  /** The tokens that may follow a state: one bit for each, lowest bit first. */
  maskOf(state: GrammarState): Uint32Array {
    state.tokenMask ??= this.#sharedMask(state);
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

  /** Drops what was kept once it is much. States that are in use stay valid. */
  forgetWhenLarge(): void {
    if (!this.states.forgetWhenLarge() && this.#numMasks <= maxMasks) return;
    this.#short.forget();
    this.#long.forget();
    this.#masks = new Map();
    this.#numMasks = 0;
  }

  #sharedMask(state: GrammarState): Uint32Array {
    this.forgetWhenLarge();
    const short = this.#short.of(state);
    const long = this.#long.of(state);
    const ofShort = this.#masks.get(short) ?? new Map<AheadState, Uint32Array>();
    this.#masks.set(short, ofShort);
    const known = ofShort.get(long);
    if (known) return known;
    const mask = this.#maskOf(short, long);
    ofShort.set(long, mask);
    this.#numMasks++;
    return mask;
  }

  #maskOf(short: AheadState, long: AheadState): Uint32Array {
    const mask = new Uint32Array(Math.ceil(this.#tree.numTokens / 32));
    this.#tree.short.markAllowed(short, this.#short, mask);
    this.#tree.long.markAllowed(long, this.#long, mask);
    for (const id of this.#unusable) mask[id >>> 5]! &= ~(1 << (id & 31));
    return mask;
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
