/**
 * One token list in the engine, from the request to its end. Holds what scheduling and sampling must remember; who may
 * change which part: the scheduler the status, the KV cache manager the row, the engine core the tokens.
 */
import type {OutputHolder} from '../sampling/logits-processors/logits-processor.ts';
import {createSamplingState, type SamplingState} from '../sampling/sampler.ts';
import type {TokenLogprobs} from '../sampling/token-logprobs.ts';
import {nowMs} from '../util/clock.ts';
import type {EngineRequest} from './protocol.ts';
import {DraftPause} from './speculation/draft-pause.ts';

/** waiting: has no row; prefilling: its prompt is being computed; decoding: one token per step. */
export type SequenceStatus = 'waiting' | 'prefilling' | 'decoding' | 'finished';

const noRow = -1;

export class Sequence {
  readonly requestId: string;
  readonly priority: number;
  /** Position in the order of arrival; kept when the sequence is preempted. */
  readonly arrival: number;
  readonly cacheSalt: string | null;
  readonly numPromptTokens: number;
  /** Prompt, then output. */
  readonly tokenIds: number[];
  readonly outputTokenIds: number[] = [];
  readonly sampling: SamplingState;
  status: SequenceStatus = 'waiting';
  /** Row of the KV cache; `noRow` while it has none. */
  row = noRow;
  /** Prompt tokens found in the prefix cache when the sequence first got a row; null before. */
  numCachedTokens: number | null = null;
  /** Milliseconds since 1970. */
  readonly queuedMs = nowMs();
  /** When it first got a row; null before. */
  scheduledMs: number | null = null;
  numPreemptions = 0;
  readonly draftPause = new DraftPause();
  /** By position, as far as they are known; null when they are not wanted. The first token has none. */
  readonly promptLogprobs: (TokenLogprobs | null)[] | null;

  /**
   * @param freshSeed seed of the draws when the request gives none
   * @param constraint what holds the output to the request's constraint
   */
  constructor(request: EngineRequest, arrival: number, freshSeed: bigint, constraint: OutputHolder | null = null) {
    this.requestId = request.requestId;
    this.priority = request.priority;
    this.arrival = arrival;
    this.cacheSalt = request.cacheSalt;
    this.numPromptTokens = request.promptTokenIds.length;
    this.tokenIds = [...request.promptTokenIds];
    this.sampling = createSamplingState(request.sampling, request.promptTokenIds, freshSeed, constraint);
    this.promptLogprobs = request.sampling.promptLogprobs === null ? null : [null];
  }

  /** True while the logits after tokens of the prompt are wanted, not only those after the last one. */
  get missesPromptLogprobs(): boolean {
    return this.promptLogprobs !== null && this.promptLogprobs.length < this.numPromptTokens;
  }

  get mayReusePrefix(): boolean {
    return !this.missesPromptLogprobs;
  }

  append(tokenId: number): void {
    this.tokenIds.push(tokenId);
    this.outputTokenIds.push(tokenId);
  }
}
