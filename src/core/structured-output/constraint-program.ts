/** From a constraint to what the matcher runs on; both sides of the border of the engine process do it, one to check it. */
import {ValidationError} from '../errors.ts';
import type {OutputConstraint} from '../sampling/output-constraint.ts';
import {constraintGrammar} from './constraint-grammar.ts';
import {compileGrammar, type GrammarProgram} from './grammar-program.ts';

export interface ConstraintProgram {
  program: GrammarProgram;
  /** See `Grammar`. */
  namesSpecialTokens: boolean;
}

/** @throws ValidationError with the place of what cannot be used */
export function constraintProgram(constraint: OutputConstraint): ConstraintProgram {
  try {
    const grammar = constraintGrammar(constraint);
    return {program: compileGrammar(grammar), namesSpecialTokens: grammar.namesSpecialTokens};
  } catch (error) {
    // Readers of nested texts are recursive; only a text that was made for it is nested so deeply.
    if (error instanceof RangeError) {
      throw new ValidationError('Invalid structured outputs: the constraint is nested too deeply', {cause: error});
    }
    throw error;
  }
}
