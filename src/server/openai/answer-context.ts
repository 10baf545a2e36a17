/** What all parts of one chat answer share, and the small values that whole answers and chunks have in common. */

/** Facts of one answer, known before the first token. */
export interface AnswerContext {
  /** `chatcmpl-…`. */
  id: string;
  /** Unix seconds. */
  created: number;
  /** First served name. */
  model: string;
  role: string;
  systemFingerprint: string | null;
  promptTokenIds: number[];
  promptText: string;
  returnTokenIds: boolean;
  returnPromptText: boolean;
  returnWeightVersions: boolean;
}

/** The one version of weights that this server has. */
const WEIGHT_VERSION = 'default';

/** Which weights made which tokens of a choice: one span, as they never change. */
export function weightVersions({returnWeightVersions}: AnswerContext, numTokens: number) {
  return returnWeightVersions ? [{version: WEIGHT_VERSION, start: 0, end: numTokens}] : null;
}

export function promptFields(context: AnswerContext) {
  return {
    prompt_token_ids: context.returnTokenIds ? context.promptTokenIds : null,
    prompt_text: context.returnPromptText ? context.promptText : null,
  };
}

export function tokenIdsField(context: AnswerContext, tokenIds: number[]): number[] | null {
  return context.returnTokenIds ? tokenIds : null;
}
