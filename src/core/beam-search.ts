/**
 * Beam search above the engine, as vLLM does it (vllm/entrypoints/generate/beam_search): every step asks the engine for one
 * token of each live beam with the logprobs of the best candidates; the prefix cache makes that cheap.
 */
import type {EngineClient} from './engine/client/engine-client.ts';
import type {EngineRequest} from './engine/protocol.ts';
import {ValidationError} from './errors.ts';
import {checkAllowedIds} from './sampling/resolve-sampling-params.ts';
import type {SamplingParams} from './sampling/sampling-params.ts';
import type {TokenLogprob, TokenLogprobs} from './sampling/token-logprobs.ts';

export interface BeamSearch {
  /** What every step asks for, besides its tokens. */
  request: Omit<EngineRequest, 'requestId' | 'promptTokenIds'>;
  requestId: string;
  promptTokenIds: readonly number[];
  /** Live beams, and results. */
  width: number;
  maxTokens: number;
  /** Ends a beam. */
  endTokenIds: ReadonlySet<number>;
  lengthPenalty: number;
  /** Only these can be chosen, with their scores unchanged; null = all. */
  allowedTokenIds: readonly number[] | null;
}

export interface Beam {
  /** Generated tokens, without the end token. */
  tokenIds: number[];
  /** For each of them what it was chosen from, itself first. */
  logprobs: TokenLogprobs[];
  /** Sum over all tokens, the end token included. */
  logprob: number;
  /** Null while it lives. */
  endTokenId: number | null;
  /** Prompt tokens that its first step found in the prefix cache. */
  numCachedTokens: number | null;
}

/** Ids that one step can score exactly. */
const maxAllowedIds = 128;

/** @throws ValidationError */
export function checkBeamAllowlist(ids: readonly number[] | null): void {
  if (ids === null) return;
  if (ids.length === 0) throw new ValidationError('Beam search allowed_token_ids must not be empty');
  if (ids.length > maxAllowedIds) {
    throw new ValidationError(
      `Beam search allowed_token_ids must have at most ${maxAllowedIds} ids, got ${ids.length}`,
    );
  }
}

/**
 * @returns the best beams, best first; none when the signal was aborted
 * @throws ValidationError when an allowed id is none of the model's
 */
export async function searchBeams(search: BeamSearch, engine: EngineClient, signal: AbortSignal): Promise<Beam[]> {
  checkAllowedIds(search.allowedTokenIds, engine.info.vocabSize);
  const ended: Beam[] = [];
  let live: Beam[] = [{tokenIds: [], logprobs: [], logprob: 0, endTokenId: null, numCachedTokens: null}];
  for (let step = 0; step < search.maxTokens && live.length > 0; step++) {
    const steps = await Promise.all(
      live.map((beam, index) => runStep(search, beam, `${step}.${index}`, engine, signal)),
    );
    if (signal.aborted) return [];
    const candidates = steps.flat();
    ended.push(...candidates.filter(({endTokenId}) => endTokenId !== null));
    live = best(
      candidates.filter(({endTokenId}) => endTokenId === null),
      search,
      search.width,
    );
  }
  return best([...ended, ...live], search, search.width);
}

/** A beam with each of its candidates. */
async function runStep(
  search: BeamSearch,
  beam: Beam,
  name: string,
  engine: EngineClient,
  signal: AbortSignal,
): Promise<Beam[]> {
  const request: EngineRequest = {
    ...search.request,
    requestId: `${search.requestId}.${name}`,
    promptTokenIds: [...search.promptTokenIds, ...beam.tokenIds],
    sampling: stepSampling(search),
  };
  for await (const {logprobs, numCachedTokens} of engine.generate(request, {signal})) {
    const position = logprobs?.[0];
    if (position)
      return candidatesOf(position, search).map((candidate) =>
        extend(beam, candidate, position, numCachedTokens, search),
      );
  }
  return [];
}

/** Greedy, so that what the engine picks itself is among the best. */
function stepSampling({request: {sampling}, width, allowedTokenIds}: BeamSearch): SamplingParams {
  return {
    ...sampling,
    temperature: 0,
    maxTokens: 1,
    minTokens: 0,
    logprobs: 2 * width,
    logprobTokenIds: allowedTokenIds === null ? null : [...allowedTokenIds],
  };
}

function candidatesOf(position: TokenLogprobs, {allowedTokenIds, width}: BeamSearch): TokenLogprob[] {
  const allowed = allowedTokenIds === null ? null : new Set(allowedTokenIds);
  const candidates = position.filter(({tokenId}) => allowed?.has(tokenId) ?? true);
  return candidates.toSorted((a, b) => b.logprob - a.logprob).slice(0, allowed === null ? 2 * width : undefined);
}

function extend(
  beam: Beam,
  chosen: TokenLogprob,
  position: TokenLogprobs,
  numCachedTokens: number | null,
  {endTokenIds}: BeamSearch,
): Beam {
  const logprob = beam.logprob + chosen.logprob;
  const cached = beam.numCachedTokens ?? numCachedTokens;
  if (endTokenIds.has(chosen.tokenId)) return {...beam, logprob, endTokenId: chosen.tokenId, numCachedTokens: cached};
  const others = position.filter(({tokenId}) => tokenId !== chosen.tokenId);
  return {
    tokenIds: [...beam.tokenIds, chosen.tokenId],
    logprobs: [...beam.logprobs, [chosen, ...others]],
    logprob,
    endTokenId: null,
    numCachedTokens: cached,
  };
}

function best(beams: Beam[], {lengthPenalty}: BeamSearch, count: number): Beam[] {
  return beams.toSorted((a, b) => scoreOf(b, lengthPenalty) - scoreOf(a, lengthPenalty)).slice(0, count);
}

/** The end token counts as a token. */
function scoreOf({tokenIds, logprob, endTokenId}: Beam, lengthPenalty: number): number {
  const length = tokenIds.length + (endTokenId === null ? 0 : 1);
  return logprob / length ** lengthPenalty;
}
