/**
 * How many tokens a request may generate: the smallest of the limits that are set
 * (vllm/entrypoints/serve/utils/api_utils.py, get_max_tokens), and the checks that need only the context length.
 */
import {ValidationError} from '../errors.ts';
import type {ChatCompletionRequest} from '../protocol/openai/chat-completion.ts';
import {pythonRepr} from '../protocol/openai/python-repr.ts';

export interface MaxTokensLimits {
  /** Longest sequence, prompt and output together. */
  maxModelLen: number;
  /** Tokens of the rendered prompt. */
  promptLength: number;
  /** Server default, for requests that state none; null = none. */
  defaultMaxTokens: number | null;
  /** Limit that no request can exceed (`max_new_tokens` of the override or of a config folder); null = none. */
  overrideMaxTokens: number | null;
  /** Limit of the device; null = none. */
  platformMaxTokens?: number | null;
}

/** What the request asks for: `max_completion_tokens`, else `max_tokens`. */
function requestedMaxTokens(
  request: Pick<ChatCompletionRequest, 'max_tokens' | 'max_completion_tokens'>,
): {name: 'max_completion_tokens' | 'max_tokens'; value: number} | null {
  if (request.max_completion_tokens !== null) {
    return {name: 'max_completion_tokens', value: request.max_completion_tokens};
  }
  return request.max_tokens === null ? null : {name: 'max_tokens', value: request.max_tokens};
}

/**
 * Refuses lengths that cannot fit, before anything is rendered (step 11 of the order of checks).
 * @throws ValidationError
 */
export function checkRequestLengths(
  request: Pick<ChatCompletionRequest, 'max_tokens' | 'max_completion_tokens' | 'truncate_prompt_tokens'>,
  maxModelLen: number,
): void {
  const requested = requestedMaxTokens(request);
  if (requested && requested.value > maxModelLen) {
    const {name, value} = requested;
    throw new ValidationError(
      `${name}=${pythonRepr(value)} cannot be greater than max_model_len=${maxModelLen}. Please request fewer output tokens.`,
      {param: name, value},
    );
  }
  const truncation = request.truncate_prompt_tokens;
  if (truncation !== null && truncation > maxModelLen) {
    throw new ValidationError(
      `truncate_prompt_tokens=${pythonRepr(truncation)} cannot be greater than max_model_len = ${maxModelLen}. Please request a smaller truncation size.`,
      {param: 'truncate_prompt_tokens', value: truncation},
    );
  }
}

/**
 * The smallest of: room left in the context, the request's value (else the server default), the override, the device's
 * limit. May be 0 or less; `resolveSamplingParams` refuses that.
 * @throws ValidationError when the prompt alone is longer than the context
 */
export function resolveMaxTokens(
  request: Pick<ChatCompletionRequest, 'max_tokens' | 'max_completion_tokens' | 'truncate_prompt_tokens'>,
  limits: MaxTokensLimits,
): number {
  const {maxModelLen, defaultMaxTokens, overrideMaxTokens, platformMaxTokens} = limits;
  const promptLength = truncatedLength(limits.promptLength, request.truncate_prompt_tokens, maxModelLen);
  if (promptLength > maxModelLen) {
    throw new ValidationError(
      `Input length (${promptLength}) exceeds model's maximum context length (${maxModelLen}).`,
    );
  }
  const candidates = [
    maxModelLen - promptLength,
    requestedMaxTokens(request)?.value ?? defaultMaxTokens,
    overrideMaxTokens,
    platformMaxTokens,
  ];
  return Math.min(...candidates.filter((limit) => limit !== null && limit !== undefined));
}

/** Prompt length after `truncate_prompt_tokens`; -1 stands for the whole context. */
function truncatedLength(promptLength: number, truncation: number | null, maxModelLen: number): number {
  if (truncation === null) return promptLength;
  return Math.min(promptLength, truncation === -1 ? maxModelLen : truncation);
}
