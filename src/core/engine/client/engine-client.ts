/**
 * The seam between the text side and an engine: sequences in, token ids out. Implementations: the engine in a child
 * process (default), in this process (tests), a group of several engines, a remote vLLM. All pass the suites
 * `test/contract/engine-client*.test.ts`.
 */
import type {TokenVocabulary} from '../../sampling/token-vocabulary.ts';
import type {ItemStream} from '../../util/item-stream.ts';
import type {EngineRequest, ModelInfo, SequenceOutput, StepStats} from '../protocol.ts';

/** One engine behind a client, as health and metrics show it. */
export interface EngineState {
  /** It takes requests. */
  isUp: boolean;
  /** How often it came back after it had gone. */
  numRestarts: number;
}

export type StatsListener = (stats: StepStats, engineIndex: number) => void;

export interface EngineClient {
  /** What was loaded. */
  readonly info: ModelInfo;

  /**
   * Runs one sequence.
   *
   * Yields what the engine makes, in order; outputs that pile up while the reader is slow are merged into one.
   * The last one carries a finish reason. Leaving the loop early or aborting the signal takes the sequence out of
   * the engine; an abort ends the stream without an error.
   * @throws EngineDeadError when the engine is or becomes dead
   * @throws GenerationError when the engine failed on this sequence
   */
  generate(request: EngineRequest, options?: {signal?: AbortSignal}): ItemStream<SequenceOutput>;

  /** False while no engine takes requests. */
  isAlive(): boolean;

  /** Every engine behind this client, in order of its index; at least one. */
  engineStates(): EngineState[];

  /** Resolves with the reason when the engine has died by itself and does not come back; never after `close()`. */
  readonly death: Promise<Error>;

  /** Number of sequences handed in and not finished. */
  numOpenRequests(): number;

  /** Prompt tokens of requests that have not made a token yet: the backlog of prefills. */
  numBacklogTokens(): number;

  /** Requests that come later find nothing in the prefix cache of what was computed before. */
  resetPrefixCache(): void;

  /**
   * Tells the engine how tokens are spelled, which it must know before the first request with a constraint.
   * @param make called the first time only
   */
  provideVocabulary(make: () => TokenVocabulary): void;

  /** Called after every step of an engine. Returns the function that takes the listener off. */
  onStats(listener: StatsListener): () => void;

  /** Stops the engine and frees everything; open sequences end with EngineDeadError. May be called twice. */
  close(): Promise<void>;
}
