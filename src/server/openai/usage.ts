/** Token counts on the wire: which keys stand in which answer. */

export interface TokenCounts {
  promptTokens: number;
  completionTokens: number;
  /** Prompt tokens from the prefix cache. */
  cachedTokens: number;
  /** Tokens of thoughts among the completion; null or absent when they are not counted. */
  reasoningTokens?: number | null;
}

/** What the server reports beyond the three sums. */
export interface UsageFormat {
  withPromptDetails: boolean;
}

/** The three sums alone. */
export function tokenSums({promptTokens, completionTokens}: Pick<TokenCounts, 'promptTokens' | 'completionTokens'>) {
  return {
    prompt_tokens: promptTokens,
    total_tokens: promptTokens + completionTokens,
    completion_tokens: completionTokens,
  };
}

/** Tokens read from the prefix cache, and those that were new and are kept in it. */
function promptDetails({promptTokens, cachedTokens}: TokenCounts) {
  return {cached_tokens: cachedTokens, created_cache_tokens: promptTokens - cachedTokens};
}

function completionDetails({reasoningTokens = null}: TokenCounts) {
  return reasoningTokens === null ? null : {reasoning_tokens: reasoningTokens};
}

/** Usage of a whole answer: all keys, null when empty. */
export function wholeUsage(counts: TokenCounts, {withPromptDetails}: UsageFormat) {
  return {
    ...tokenSums(counts),
    prompt_tokens_details: withPromptDetails ? {...promptDetails(counts), multimodal_tokens: null} : null,
    completion_tokens_details: completionDetails(counts),
  };
}

/** Usage of one choice so far, in each chunk. */
export function runningUsage(counts: TokenCounts) {
  return {...tokenSums(counts), completion_tokens_details: completionDetails(counts)};
}

/** Usage at the end of a stream: null keys are left out. */
export function finalUsage(counts: TokenCounts, {withPromptDetails}: UsageFormat) {
  const details = completionDetails(counts);
  return {
    ...tokenSums(counts),
    ...(withPromptDetails && {prompt_tokens_details: promptDetails(counts)}),
    ...(details && {completion_tokens_details: details}),
  };
}

/** Usage of a whole completion answer, which tells less of the cache. */
export function wholeCompletionUsage(counts: TokenCounts, {withPromptDetails}: UsageFormat) {
  const details = {cached_tokens: counts.cachedTokens, created_cache_tokens: null, multimodal_tokens: null};
  return {
    ...tokenSums(counts),
    prompt_tokens_details: withPromptDetails ? details : null,
    completion_tokens_details: null,
  };
}

/** Usage at the end of a completion stream. */
export function finalCompletionUsage(counts: TokenCounts, {withPromptDetails}: UsageFormat) {
  const {cachedTokens: cached_tokens} = counts;
  return {...tokenSums(counts), ...(withPromptDetails && {prompt_tokens_details: {cached_tokens}})};
}
