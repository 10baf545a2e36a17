/**
 * What the answers to one prompt have to look like, and how long their thoughts may be: what the request states, or what a
 * forced tool call asks for. Text becomes token ids here; the engine gets plain data and how tokens are spelled.
 */
import type {AnswerReader} from './answer-reader.ts';
import type {StructuredOutputsConfig} from './config/structured-outputs-config.ts';
import type {EngineClient} from './engine/client/engine-client.ts';
import type {Tokenizer} from './model/tokenizer.ts';
import type {SamplingRequest} from './protocol/openai/sampling-request.ts';
import {constraintOf, type StructuredOutputs} from './protocol/openai/structured-outputs.ts';
import type {ConstraintBeginning, OutputConstraint} from './sampling/output-constraint.ts';
import type {SamplingParams, ThinkingBudget} from './sampling/sampling-params.ts';
import {checkConstraintCompiles, toOutputConstraint} from './structured-output/request-constraint.ts';
import {vocabularyOf} from './structured-output/token-vocabulary.ts';

interface ControlParts {
  engine: EngineClient;
  tokenizer: Tokenizer;
  structuredOutputsConfig?: StructuredOutputsConfig | null;
}

export type AnswerControls = Pick<SamplingParams, 'constraint' | 'thinkingBudget'>;

/** Value of `thinking_token_budget` that sets none. */
const noBudget = -1;

/**
 * Part of the engine check: for a streamed request its error is the first event.
 * @param reader null when answers are text
 * @throws ValidationError when the constraint cannot be used
 */
export async function prepareControls(
  request: SamplingRequest,
  reader: AnswerReader | null,
  parts: ControlParts,
): Promise<AnswerControls> {
  const stated = constraintOf(request);
  const constraint = await prepareConstraint(reader?.constraint(stated) ?? stated, reader, parts);
  const isHeldFromStart = constraint !== null && constraint.startsAfter.length === 0;
  return {constraint, thinkingBudget: isHeldFromStart ? null : await prepareBudget(request, reader, parts)};
}

async function prepareConstraint(
  fields: StructuredOutputs | null,
  reader: AnswerReader | null,
  {engine, tokenizer, structuredOutputsConfig: config = null}: ControlParts,
): Promise<OutputConstraint | null> {
  if (fields === null) return null;
  const beginning = config?.enable_in_reasoning ? fromFirstToken : await answerBeginning(reader, tokenizer);
  const constraint = toOutputConstraint(withDefaults(fields, config), beginning);
  if (constraint === null) return null;
  checkConstraintCompiles(constraint);
  engine.provideVocabulary(() => vocabularyOf(tokenizer));
  return constraint;
}

/** What the server disables stays disabled, whatever a request says. */
function withDefaults(fields: StructuredOutputs, config: StructuredOutputsConfig | null): StructuredOutputs {
  if (config === null) return fields;
  return {
    ...fields,
    disable_any_whitespace: fields.disable_any_whitespace || config.disable_any_whitespace,
    disable_additional_properties: fields.disable_additional_properties || config.disable_additional_properties,
  };
}

const fromFirstToken: ConstraintBeginning = {startsAfter: [], headerEnd: []};

/** Behind which tokens the answer begins; none when it begins at once, or when the thought is hidden anyway. */
async function answerBeginning(reader: AnswerReader | null, tokenizer: Tokenizer): Promise<ConstraintBeginning> {
  if (!reader?.context.includeReasoning) return fromFirstToken;
  const {answerHeader: header, thoughtMarks: marks} = reader;
  if (header !== null) {
    const [startsAfter, headerEnd] = await Promise.all(
      [header.begin, header.end].map((mark) => tokensOf(mark, tokenizer)),
    );
    return {startsAfter: startsAfter!, headerEnd: headerEnd!};
  }
  return marks?.startsInside ? {startsAfter: await tokensOf(marks.close, tokenizer), headerEnd: []} : fromFirstToken;
}

async function prepareBudget(
  {thinking_token_budget: maxTokens}: SamplingRequest,
  reader: AnswerReader | null,
  {tokenizer}: ControlParts,
): Promise<ThinkingBudget | null> {
  const marks = reader?.thoughtMarks;
  if (maxTokens === null || maxTokens === noBudget || !marks?.open) return null;
  const [openTokenIds, closeTokenIds] = await Promise.all(
    [marks.open, marks.close].map((mark) => tokensOf(mark, tokenizer)),
  );
  const {startsInside} = marks;
  return {maxTokens, openTokenIds: openTokenIds!, closeTokenIds: closeTokenIds!, startsInside};
}

async function tokensOf(marker: string, tokenizer: Tokenizer): Promise<number[]> {
  const tokenId = tokenizer.tokenToId(marker);
  return tokenId === null ? tokenizer.encode(marker, {addSpecialTokens: false}) : [tokenId];
}
