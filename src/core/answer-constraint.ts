/**
 * What the answers to one prompt have to look like: what the request states, or what a forced tool call asks for. Server
 * side of a constraint; the engine gets plain data and how tokens are spelled.
 */
import type {EngineClient} from './engine/client/engine-client.ts';
import type {Tokenizer} from './model/tokenizer.ts';
import type {SamplingRequest} from './protocol/openai/sampling-request.ts';
import {constraintOf} from './protocol/openai/structured-outputs.ts';
import type {OutputConstraint} from './sampling/output-constraint.ts';
import {checkConstraintCompiles, toOutputConstraint} from './structured-output/request-constraint.ts';
import {vocabularyOf} from './structured-output/token-vocabulary.ts';

interface ConstraintParts {
  engine: EngineClient;
  tokenizer: Tokenizer;
}

/**
 * Part of the engine check: for a streamed request its error is the first event.
 * @throws ValidationError when the constraint cannot be used
 */
export function prepareConstraint(
  request: SamplingRequest,
  {engine, tokenizer}: ConstraintParts,
): OutputConstraint | null {
  const constraint = toOutputConstraint(constraintOf(request), []);
  if (constraint === null) return null;
  checkConstraintCompiles(constraint);
  engine.provideVocabulary(() => vocabularyOf(tokenizer));
  return constraint;
}
