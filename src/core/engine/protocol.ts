/**
 * Everything that crosses the border of the engine process: token ids and numbers, never text or OpenAI objects.
 * `EngineInput` goes in, `EngineOutput` comes out, one message per step. Plain data only (structured clone).
 */
import type {EngineConfig} from '../config/engine-config.ts';
import type {SerializedError} from '../errors.ts';
import type {SamplingParams} from '../sampling/sampling-params.ts';
import type {TokenLogprobs} from '../sampling/token-logprobs.ts';
import type {TokenVocabulary} from '../sampling/token-vocabulary.ts';

/** One sequence to generate. A request with `n` choices is `n` of them. */
export interface EngineRequest {
  /** Unique among the open ones. */
  requestId: string;
  /** At least 1, at most `maxModelLen - 1` ids. */
  promptTokenIds: number[];
  sampling: SamplingParams;
  /** Lower runs earlier under the policy `priority`. */
  priority: number;
  /** Sequences share cached prefixes only under the same salt. */
  cacheSalt: string | null;
  /** The request that this sequence is one of several choices of; absent when it is the only one. */
  choiceOf?: {requestId: string; numChoices: number};
  /** Which of several engines has to take it; absent = the best one. */
  engineIndex?: number;
}

export type EngineInput =
  | {type: 'initialize'; config: EngineConfig}
  | {type: 'add-requests'; requests: EngineRequest[]}
  | {type: 'abort-requests'; requestIds: string[]}
  | {type: 'reset-prefix-cache'}
  | {type: 'set-vocabulary'; vocabulary: TokenVocabulary}
  | {type: 'shutdown'};

export type EngineOutput =
  | ({type: 'progress'} & LoadProgress)
  | {type: 'ready'; info: ModelInfo}
  | {type: 'step'; outputs: SequenceOutput[]; stats: StepStats}
  | {type: 'fatal'; error: SerializedError};

export interface LoadProgress {
  stage: LoadStage;
  /** 0..1, of this stage. */
  fraction: number;
  detail: string;
}

export type LoadStage = 'resolve' | 'build' | 'load' | 'warm-up';

export type EngineFinishReason = 'stop' | 'length' | 'repetition' | 'abort' | 'error';

/** What one step made for one sequence. */
export interface SequenceOutput {
  requestId: string;
  /** New ids of this step, the end or stop token included. Empty only together with a finish reason. */
  newTokenIds: number[];
  /** One for each new token; null when the request asked for none. */
  logprobs: TokenLogprobs[] | null;
  /** One for each token of the prompt, null for the first one; on the first output only, and only when asked for. */
  promptLogprobs: (TokenLogprobs | null)[] | null;
  /** Null while the sequence goes on. Set exactly once per request. */
  finishReason: EngineFinishReason | null;
  /** The id of the stop token that ended the sequence, else null. */
  stopReason: number | null;
  /** Prompt tokens whose keys and values came from the prefix cache; on the first output only, else null. */
  numCachedTokens: number | null;
  /** When each new id was made: milliseconds since 1970, see `util/clock.ts`. */
  tokenTimesMs: number[];
  /** On the first output only, else null. */
  start: SequenceStart | null;
  /** How often the sequence has been preempted so far. */
  numPreemptions: number;
  /** Why, when `finishReason` is `error`. */
  error: SerializedError | null;
  /** Which of several engines made it; absent = the only one. */
  engineIndex?: number;
}

/** When a sequence came into the engine and when its first step was planned, in milliseconds since 1970. */
export interface SequenceStart {
  queuedMs: number;
  /** Null when it ended before. */
  scheduledMs: number | null;
}

/** Measurements of one step, for logs and metrics. */
export interface StepStats {
  numRunning: number;
  numWaiting: number;
  /** Tokens held for running sequences. */
  numUsedCacheTokens: number;
  /** Tokens of finished sequences, kept for reuse. */
  numCachedTokens: number;
  /** Prompt tokens computed in this step. */
  numPrefillTokens: number;
  /** Output tokens made in this step. */
  numDecodeTokens: number;
  numPreemptions: number;
  /** Prompt tokens looked up in the prefix cache in this step, and how many of them were found. */
  prefixQueryTokens: number;
  prefixHitTokens: number;
  /** Absent where the engine drafts nothing. */
  drafts?: DraftStats;
  stepMs: number;
}

/** Of an engine that does nothing. */
export const idleStats: StepStats = {
  numRunning: 0,
  numWaiting: 0,
  numUsedCacheTokens: 0,
  numCachedTokens: 0,
  numPrefillTokens: 0,
  numDecodeTokens: 0,
  numPreemptions: 0,
  prefixQueryTokens: 0,
  prefixHitTokens: 0,
  stepMs: 0,
};

/** Drafts that were checked in one step. */
export interface DraftStats {
  numDrafts: number;
  numDraftTokens: number;
  /** By place in the draft, from 0: how many tokens there turned out to be right. */
  acceptedByPosition: number[];
}

/** What the engine says of the loaded model. */
export interface ModelInfo {
  architecture: string;
  vocabSize: number;
  /** Longest sequence, prompt and output together. */
  maxModelLen: number;
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
  /** All tokens that the KV cache may hold at once, over all rows. */
  kvCacheTokens: number;
  kvCacheBytesPerToken: number;
  /** Most tokens of a draft; absent where the engine drafts nothing. */
  maxDraftTokens?: number;
  weightBytes: number;
  /** `remote`: on a server of its own; what is not known of it is 0. */
  device: 'cpu' | 'webgpu' | 'cuda' | 'remote';
  /** Why this device, for the log; absent = there was no choice. */
  deviceReason?: string;
  numThreads: number;
  /** Version text of the native library. */
  runtimeVersion: string;
  loadMs: {build: number; load: number; warmUp: number};
  builtFromCache: boolean;
  /** The names that a remote server has for the model; absent = it has none. */
  servedNames?: string[];
}
