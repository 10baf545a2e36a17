/**
 * Logprobs in the forms of the wire: the `logprobs` of a chat choice or chunk, and `prompt_logprobs`, which chat and
 * completions share (vllm/entrypoints/openai/chat_completion/serving.py, _create_chat_logprobs).
 */
import type {DecodedLogprob, DecodedLogprobs} from '../../core/sampling/token-logprobs.ts';

export interface LogprobsFormat {
  /** Most candidates listed for a token; it is always the first of them. */
  maxCandidates: number;
  /** `token_id:<id>` in place of texts. */
  asTokenIds: boolean;
  /** The bytes of the chosen token are left out, as the reference does for beams. */
  hidesBytes?: boolean;
}

/** JSON has no -Infinity. */
const LOWEST_LOGPROB = -9999;

export function tokenShown({tokenId, text}: Pick<DecodedLogprob, 'tokenId' | 'text'>, asTokenIds: boolean): string {
  return asTokenIds ? `token_id:${tokenId}` : text;
}

export function logprobShown({logprob}: Pick<DecodedLogprob, 'logprob'>): number {
  return Math.max(logprob, LOWEST_LOGPROB);
}

const utf8Bytes = (text: string) => [...Buffer.from(text, 'utf8')];

/** @param positions null or empty when there are no new tokens */
export function chatLogprobs(positions: readonly DecodedLogprobs[] | null, format: LogprobsFormat | null) {
  return format && {content: (positions ?? []).map((position) => tokenEntry(position, format))};
}

/** The bytes of a token are those of its text, also where its id is shown; those of candidates are of what is shown. */
function tokenEntry(position: DecodedLogprobs, {maxCandidates, asTokenIds, hidesBytes}: LogprobsFormat) {
  const sampled = position[0]!;
  return {
    token: tokenShown(sampled, asTokenIds),
    logprob: logprobShown(sampled),
    bytes: hidesBytes ? null : utf8Bytes(sampled.text),
    top_logprobs: position.slice(0, maxCandidates).map((candidate) => ({
      token: tokenShown(candidate, asTokenIds),
      logprob: logprobShown(candidate),
      bytes: utf8Bytes(tokenShown(candidate, asTokenIds)),
    })),
  };
}

/** One map from token id to entry for each token of the prompt, the token itself first; null for the first token. */
export function promptLogprobsField(positions: readonly (DecodedLogprobs | null)[] | null) {
  return positions === null ? null : positions.map((position) => position && new Map(position.map(promptEntry)));
}

function promptEntry(candidate: DecodedLogprob): [number, object] {
  const {tokenId, logprob, rank, text} = candidate;
  const shown = logprob === Number.NEGATIVE_INFINITY ? LOWEST_LOGPROB : logprob;
  return [tokenId, {logprob: shown, rank, decoded_token: text}];
}
