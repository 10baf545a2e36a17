/**
 * Constraints made ready for a vocabulary, with what was made lately kept: requests of one application mostly come with
 * the same few schemas. Lives where tokens are picked, in the engine process.
 */
import {GenerationError} from '../errors.ts';
import type {OutputHolder} from '../sampling/logits-processors/logits-processor.ts';
import type {OutputConstraint} from '../sampling/output-constraint.ts';
import type {SamplingParams} from '../sampling/sampling-params.ts';
import type {TokenVocabulary} from '../sampling/token-vocabulary.ts';
import {constraintGrammar} from './constraint-grammar.ts';
import {compileGrammar, type GrammarProgram} from './grammar-program.ts';
import {type GrammarState, GrammarStates} from './grammar-states.ts';
import {TokenConstraint} from './token-constraint.ts';
import {TokenTrie, VocabularyTree} from './token-trie.ts';

/** Compiled grammars that are kept. */
const cacheSize = 64;

export class ConstraintCompiler {
  #spelling: Spelling | null = null;
  /** Least recently used first. */
  readonly #cache = new Map<string, CompiledConstraint>();

  /** To be called before the first constraint comes. */
  setVocabulary(vocabulary: TokenVocabulary): void {
    this.#spelling = {vocabulary, tree: new VocabularyTree(vocabulary)};
    this.#cache.clear();
  }

  /**
   * What holds one sequence to its constraint.
   * @param params their `constraint` is not null
   * @throws ValidationError when the constraint cannot be used
   */
  holderFor(params: SamplingParams & {constraint: OutputConstraint}): OutputHolder {
    return new TokenConstraint(this.#compile(params.constraint), params);
  }

  #compile({kind, text, disablesAnyWhitespace, whitespacePattern, disablesAdditionalProperties}: OutputConstraint) {
    const key = JSON.stringify([kind, disablesAnyWhitespace, whitespacePattern, disablesAdditionalProperties, text]);
    const compiled =
      this.#cache.get(key) ??
      this.#create({
        kind,
        text,
        disablesAnyWhitespace,
        whitespacePattern,
        disablesAdditionalProperties,
        startsAfter: [],
      });
    this.#cache.delete(key);
    this.#cache.set(key, compiled);
    if (this.#cache.size > cacheSize) this.#cache.delete(this.#cache.keys().next().value!);
    compiled.states.forgetWhenLarge();
    return compiled;
  }

  #create(constraint: OutputConstraint): CompiledConstraint {
    if (this.#spelling === null) throw new GenerationError('The engine was not told how tokens are spelled.');
    const grammar = constraintGrammar(constraint);
    return new CompiledConstraint(compileGrammar(grammar), this.#spelling, grammar.namesSpecialTokens);
  }
}

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
