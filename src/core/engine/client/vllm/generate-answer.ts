/**
 * Answers of `/inference/v1/generate` as outputs of a sequence. The chunks are not checked against a schema: there is one
 * for each token of each stream, and the server was looked at when we connected. What cannot be an answer is refused.
 */
import {EngineDeadError} from '../../../errors.ts';
import {logprobsOfPosition, type WirePosition} from '../../../protocol/scale-out/wire-logprobs.ts';
import type {TokenLogprobs} from '../../../sampling/token-logprobs.ts';
import {nowMs} from '../../../util/clock.ts';
import type {EngineFinishReason, SequenceOutput} from '../../protocol.ts';

export interface WireError {
  message?: string;
  type?: string;
  param?: string | null;
  code?: number;
}

interface WireChoice {
  finish_reason?: string | null;
  stop_reason?: number | string | null;
  token_ids?: number[] | null;
  logprobs?: {content?: WirePosition[] | null} | null;
}

interface WireUsage {
  prompt_tokens_details?: {cached_tokens?: number | null} | null;
}

/** A chunk of a stream, or a whole answer. */
export interface WireAnswer {
  choices?: WireChoice[];
  usage?: WireUsage | null;
  error?: WireError;
  prompt_logprobs?: (Record<string, {logprob: number; rank?: number | null}> | null)[] | null;
}

const finishReasons = new Set<string>([
  'stop',
  'length',
  'repetition',
  'abort',
  'error',
] satisfies EngineFinishReason[]);

/** @throws EngineDeadError when the text is no answer */
export function parseAnswer(text: string): WireAnswer {
  try {
    return JSON.parse(text) as WireAnswer;
  } catch (cause) {
    throw new EngineDeadError(
      `The vLLM server sent what is no JSON: ${text.slice(0, 200)} (${(cause as Error).message})`,
    );
  }
}

/**
 * What the only choice of an answer says.
 * @param name of the sequence in the engine
 * @returns null for an answer without choices, such as the one with the counts
 * @throws EngineDeadError when it cannot be one: another server may do better
 */
export function toSequenceOutput(name: string, {choices, usage}: WireAnswer): SequenceOutput | null {
  const choice = choices?.[0];
  if (choice === undefined) return null;
  const {token_ids: tokenIds, finish_reason: finishReason = null, stop_reason: stopReason, logprobs} = choice;
  if (!Array.isArray(tokenIds) || !tokenIds.every(isTokenId)) {
    throw new EngineDeadError('The vLLM server sent a choice without token ids.');
  }
  if (finishReason !== null && !finishReasons.has(finishReason)) {
    throw new EngineDeadError(`The vLLM server ended a choice with the unknown reason "${finishReason}".`);
  }
  return {
    ...runningOutput(name, tokenIds),
    logprobs: logprobs?.content?.map(logprobsOfPosition) ?? null,
    finishReason: finishReason as EngineFinishReason | null,
    stopReason: typeof stopReason === 'number' ? stopReason : null,
    numCachedTokens: cachedTokens(usage),
  };
}

/** Tokens that came now, of a sequence that goes on. @param name see `toSequenceOutput` */
export function runningOutput(name: string, tokenIds: number[]): SequenceOutput {
  const madeAtMs = nowMs();
  return {
    requestId: name,
    newTokenIds: tokenIds,
    logprobs: null,
    promptLogprobs: null,
    finishReason: null,
    stopReason: null,
    numCachedTokens: null,
    tokenTimesMs: tokenIds.map(() => madeAtMs),
    start: null,
    numPreemptions: 0,
    error: null,
  };
}

const isTokenId = (value: unknown) => Number.isInteger(value) && (value as number) >= 0;

/** Null when the server does not count them. */
export function cachedTokens(usage: WireUsage | null | undefined): number | null {
  return usage?.prompt_tokens_details?.cached_tokens ?? null;
}

/** For each position of the prompt: its token first, then the others by rank, as the order of the keys is lost in JSON. */
export function toPromptLogprobs(
  {prompt_logprobs: positions}: WireAnswer,
  promptTokenIds: readonly number[],
): (TokenLogprobs | null)[] | null {
  if (!positions) return null;
  return positions.map((position, index) => {
    if (position === null) return null;
    const entries = Object.entries(position).map(([id, {logprob, rank}]) => ({
      tokenId: Number(id),
      logprob,
      rank: rank ?? 0,
    }));
    const isOwn = ({tokenId}: {tokenId: number}) => tokenId === promptTokenIds[index];
    return entries.sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)) || a.rank - b.rank);
  });
}
