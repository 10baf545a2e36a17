/** What all parts of one chat answer share, and the small values that whole answers and chunks have in common. */

import type {DecodedLogprobs} from '../../core/sampling/token-logprobs.ts';
import type {ReadingForm} from './answer-reading.ts';
import type {LogprobsFormat} from './chat-logprobs.ts';

/** Facts of one answer, known before the first token. */
export interface AnswerContext {
  /** `chatcmpl-…`. */
  id: string;
  /** Unix seconds. */
  created: number;
  /** First served name. */
  model: string;
  role: string;
  /** Text that stands before the answer of each choice. */
  echo: string;
  systemFingerprint: string | null;
  promptTokenIds: number[];
  promptText: string;
  returnTokenIds: boolean;
  returnPromptText: boolean;
  returnWeightVersions: boolean;
  /** Null when the request asks for no logprobs. */
  logprobs: LogprobsFormat | null;
  /** How what parsers found is shown; null when no parser reads the answer. */
  reading: ReadingForm | null;
  /** To be called when every choice has ended. */
  end: () => AnswerEnd;
}

/** What is known of an answer at its end only. */
export interface AnswerEnd {
  promptLogprobs: (DecodedLogprobs | null)[] | null;
  /** Null unless `--enable-per-request-metrics` and there is only one choice. */
  metrics: object | null;
}

/** The one version of weights that this server has. */
export const WEIGHT_VERSION = 'default';

/** Which weights made which tokens of a choice: one span, as they never change. */
export function weightVersions({returnWeightVersions}: Pick<AnswerContext, 'returnWeightVersions'>, numTokens: number) {
  return returnWeightVersions ? [{version: WEIGHT_VERSION, start: 0, end: numTokens}] : null;
}

export function promptFields(context: AnswerContext) {
  return {
    prompt_token_ids: context.returnTokenIds ? context.promptTokenIds : null,
    prompt_text: context.returnPromptText ? context.promptText : null,
  };
}

export function tokenIdsField(context: Pick<AnswerContext, 'returnTokenIds'>, tokenIds: number[]): number[] | null {
  return context.returnTokenIds ? tokenIds : null;
}

/** The ids of a choice, unless they would tell what is hidden. */
export function choiceTokenIds(context: AnswerContext, tokenIds: number[]): number[] | null {
  return hidesTokens(context) ? null : tokenIdsField(context, tokenIds);
}

/** True when single tokens would tell what is hidden. */
export function hidesTokens({reading}: Pick<AnswerContext, 'reading'>): boolean {
  return reading?.hidesReasoning ?? false;
}
