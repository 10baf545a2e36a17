/**
 * Constraints made ready for a vocabulary, with what was made lately kept: requests of one application mostly come with
 * the same few schemas. Lives where tokens are picked, in the engine process.
 */
import {GenerationError} from '../errors.ts';
import type {OutputHolder} from '../sampling/logits-processors/logits-processor.ts';
import type {OutputConstraint} from '../sampling/output-constraint.ts';
import type {SamplingParams} from '../sampling/sampling-params.ts';
import type {TokenVocabulary} from '../sampling/token-vocabulary.ts';
import {CompiledConstraint, type Spelling} from './compiled-constraint.ts';
import {constraintProgram} from './constraint-program.ts';
import {TokenConstraint} from './token-constraint.ts';
import {VocabularyTree} from './token-trie.ts';

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
        headerEnd: [],
      });
    this.#cache.delete(key);
    this.#cache.set(key, compiled);
    if (this.#cache.size > cacheSize) this.#cache.delete(this.#cache.keys().next().value!);
    compiled.forgetWhenLarge();
    return compiled;
  }

  #create(constraint: OutputConstraint): CompiledConstraint {
    if (this.#spelling === null) throw new GenerationError('The engine was not told how tokens are spelled.');
    const {program, namesSpecialTokens} = constraintProgram(constraint);
    return new CompiledConstraint(program, this.#spelling, namesSpecialTokens);
  }
}
