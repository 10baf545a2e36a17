/**
 * A sequence as the body of `POST /inference/v1/generate`. The parameters are resolved, so they are all written out but
 * those that are off; texts stay on our side, so no stop strings and no detokenizing are asked for.
 */
import type {OutputConstraint} from '../../../sampling/output-constraint.ts';
import type {SamplingParams} from '../../../sampling/sampling-params.ts';
import {writeJson} from '../../../util/write-json.ts';
import type {EngineRequest} from '../../protocol.ts';

type Fields = Record<string, unknown>;

/** Only a whole answer has logprobs of the prompt. */
export function isStreamed({sampling}: EngineRequest): boolean {
  return sampling.promptLogprobs === null;
}

/** @param model the name that the server has for it */
export function generateBody(request: EngineRequest, model: string): string {
  const {requestId, promptTokenIds, sampling, cacheSalt, priority} = request;
  const stream = isStreamed(request);
  const fields = writeJson({
    model,
    request_id: requestId,
    stream,
    stream_options: stream ? {include_usage: true} : undefined,
    cache_salt: cacheSalt ?? undefined,
    priority,
    // Where no thought comes before the answer, the constraint holds from the first token.
    reasoning_ended: sampling.constraint?.startsAfter.length === 0 ? true : undefined,
    sampling_params: samplingParams(sampling),
  });
  // Prompts are long, and plain integers need no care.
  return `${fields.slice(0, -1)},"token_ids":${JSON.stringify(promptTokenIds)}}`;
}

const orAbsent = <T>(value: T, isSet: boolean) => (isSet ? value : undefined);

function samplingParams(params: SamplingParams): Fields {
  return {
    temperature: params.temperature,
    top_p: params.topP,
    top_k: params.topK,
    min_p: params.minP,
    presence_penalty: params.presencePenalty,
    frequency_penalty: params.frequencyPenalty,
    repetition_penalty: params.repetitionPenalty,
    seed: params.seed ?? undefined,
    max_tokens: params.maxTokens,
    min_tokens: params.minTokens,
    stop_token_ids: params.stopTokenIds,
    ignore_eos: params.ignoreEos,
    logit_bias: orAbsent(new Map(params.logitBias), params.logitBias.length > 0),
    allowed_token_ids: params.allowedTokenIds ?? undefined,
    bad_words: params.badWords,
    logprobs: params.logprobs ?? undefined,
    logprob_token_ids: params.logprobTokenIds ?? undefined,
    prompt_logprobs: params.promptLogprobs ?? undefined,
    structured_outputs: params.constraint === null ? undefined : structuredOutputs(params.constraint),
    thinking_token_budget: params.thinkingBudget?.maxTokens,
    repetition_detection: repetitionDetection(params),
    detokenize: false,
  };
}

function repetitionDetection({repetitionDetection: detection}: SamplingParams): Fields | undefined {
  if (detection === null) return undefined;
  return {
    min_pattern_size: detection.minPatternSize,
    max_pattern_size: detection.maxPatternSize,
    min_count: detection.minCount,
  };
}

function structuredOutputs(constraint: OutputConstraint): Fields {
  const {kind, text, disablesAnyWhitespace, disablesAdditionalProperties, whitespacePattern} = constraint;
  return {
    [kind]: constraintValue(constraint, text),
    disable_any_whitespace: orAbsent(true, disablesAnyWhitespace),
    disable_additional_properties: orAbsent(true, disablesAdditionalProperties),
    whitespace_pattern: whitespacePattern ?? undefined,
  };
}

function constraintValue({kind}: OutputConstraint, text: string): unknown {
  if (kind === 'json_object') return true;
  return kind === 'choice' ? JSON.parse(text) : text;
}
