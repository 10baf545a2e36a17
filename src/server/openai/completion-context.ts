/** What all parts of one completion answer share. */
import type {Generation} from '../../core/llm.ts';
import {type CompletionRequest, wantsPromptOnly} from '../../core/protocol/openai/completion.ts';
import type {DecodedLogprobs} from '../../core/sampling/token-logprobs.ts';
import type {ServerContext} from '../server-context.ts';
import {unixSeconds} from '../unix-seconds.ts';
import type {LogprobsFormat} from './chat-logprobs.ts';
import {requestMetrics} from './request-metrics.ts';

export interface CompletionPromptFacts {
  text: string;
  tokenIds: number[];
  /** The text of one token alone. */
  tokenText: (tokenId: number) => string;
  /** One for each token; null when they were not asked for, and until they are there. */
  logprobs: () => (DecodedLogprobs | null)[] | null;
}

/** Facts of one answer, known before the first token. */
export interface CompletionContext {
  /** `cmpl-…`. */
  id: string;
  /** Unix seconds. */
  created: number;
  /** First served name. */
  model: string;
  systemFingerprint: string | null;
  /** Prompt of a choice. */
  promptOf: (choice: number) => CompletionPromptFacts;
  numChoices: number;
  /** What stands before the output of each choice, or in its place. */
  echo: 'none' | 'prompt' | 'prompt-only';
  /** Null when the request asks for no logprobs. */
  logprobs: LogprobsFormat | null;
  /** True when the answer holds logprobs of the prompts. */
  hasPromptLogprobs: boolean;
  returnTokenIds: boolean;
  returnWeightVersions: boolean;
  /** To be called when every choice has ended. */
  metrics: () => object | null;
}

export function completionContext(
  id: string,
  request: CompletionRequest,
  generation: Generation,
  {servedModelNames, systemFingerprint, options, llm}: ServerContext,
): CompletionContext {
  const tokenText = (tokenId: number) => llm.detokenize([tokenId]);
  const prompts = generation.prompts.map((prompt) => ({
    ...prompt,
    tokenText,
    logprobs: () => generation.promptLogprobs(prompt),
  }));
  return {
    id,
    created: unixSeconds(),
    model: servedModelNames[0]!,
    systemFingerprint,
    promptOf: (choice) => prompts[Math.floor(choice / request.n)]!,
    numChoices: prompts.length * request.n,
    echo: echoOf(request),
    logprobs: logprobsFormat(request, options.returnTokensAsTokenIds),
    hasPromptLogprobs: request.prompt_logprobs !== null || (request.echo && request.logprobs !== null),
    returnTokenIds: request.return_token_ids,
    returnWeightVersions: request.return_weight_versions && !request.use_beam_search,
    metrics: () => (options.enablePerRequestMetrics ? requestMetrics(generation.timing()) : null),
  };
}

function echoOf(request: CompletionRequest): CompletionContext['echo'] {
  if (wantsPromptOnly(request)) return 'prompt-only';
  return request.echo ? 'prompt' : 'none';
}

/** The token itself and the k best; candidates that were asked for by id are all shown. */
function logprobsFormat(request: CompletionRequest, tokensAsIds: boolean): LogprobsFormat | null {
  const {logprobs, logprob_token_ids, return_tokens_as_token_ids} = request;
  if (logprobs === null) return null;
  const showsAll = logprobs === -1 || (logprob_token_ids ?? []).length > 0;
  return {
    maxCandidates: showsAll ? Number.POSITIVE_INFINITY : logprobs + 1,
    asTokenIds: return_tokens_as_token_ids ?? tokensAsIds,
  };
}
