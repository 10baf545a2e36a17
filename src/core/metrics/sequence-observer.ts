/**
 * What the engine's client tells whoever measures: tokens as they come, and one record when a sequence has ended. All
 * times are milliseconds since 1970.
 */

/** Why a sequence ended, seen from the request: a stop string found in the text counts as `stop`. */
export type SequenceEnd = 'stop' | 'length' | 'repetition' | 'abort' | 'error';

/** One sequence from arrival to end. */
export interface SequenceRecord {
  requestId: string;
  numPromptTokens: number;
  /** Null when the sequence never ran. */
  numCachedTokens: number | null;
  numOutputTokens: number;
  /** Which of several engines ran it; 0 when it never ran. */
  engineIndex: number;
  maxTokens: number;
  numPreemptions: number;
  /** The request that this sequence is one of several choices of; null when it is the only one. */
  choiceOf: {requestId: string; numChoices: number} | null;
  /** When it was handed to the engine's client. */
  arrivedMs: number;
  /** When the engine took it. */
  queuedMs: number | null;
  /** When its first step was planned. */
  scheduledMs: number | null;
  firstTokenMs: number | null;
  lastTokenMs: number | null;
  endedMs: number;
  end: SequenceEnd;
}

export interface SequenceObserver {
  /** New tokens of a sequence. `record` holds what is known so far, these tokens included. */
  onTokens(record: Readonly<SequenceRecord>, tokenTimesMs: readonly number[], previousTokenMs: number | null): void;
  /** Called once for each sequence, also when it failed or was aborted. */
  onEnd(record: Readonly<SequenceRecord>): void;
}
