/**
 * What all forward passes over the KV arena share: one session, one buffer of logits, and the order of a step. Rows that
 * decode run as one batch over neighbouring rows of the arena; each chunk of a prompt runs alone. How a batch becomes
 * inputs and outputs of the graph is the subclass's business.
 */
import {KvArena, type KvShape, kvBytesPerToken} from './kv-arena.ts';
import type {ModelBatch, ModelRunner, RowChunk} from './model-runner.ts';
import type {OrtEnvironment} from './ort/ort-environment.ts';
import type {OrtSession} from './ort/ort-session.ts';

/**
 * Bounds the logits buffer and what ranking them costs in one step. A multiple of 16, so that chunks of this length are
 * good ones (see `scheduler/chunk-length.ts`).
 */
const maxExtraLogits = 64;

export interface ArenaModelRunnerOptions {
  kv: KvShape;
  vocabSize: number;
  /** Most sequences of one step, decoding and prompts, whose next token is wanted. */
  maxLogitRows: number;
}

export abstract class ArenaModelRunner implements ModelRunner {
  readonly vocabSize: number;
  readonly maxExtraLogits = maxExtraLogits;
  readonly numRows: number;
  readonly rowCapacity: number;
  readonly bytesPerToken: number;
  protected readonly environment: OrtEnvironment;
  protected readonly session: OrtSession;
  protected readonly arena: KvArena;
  /** Row-major `[rows, vocabSize]`. */
  protected readonly logits: Float32Array;
  #isClosed = false;

  /** Takes over environment and session: `close` closes them. */
  constructor(
    environment: OrtEnvironment,
    session: OrtSession,
    {kv, vocabSize, maxLogitRows}: ArenaModelRunnerOptions,
  ) {
    this.vocabSize = vocabSize;
    this.numRows = kv.numRows;
    this.rowCapacity = kv.capacity;
    this.bytesPerToken = kvBytesPerToken(kv);
    this.environment = environment;
    this.session = session;
    this.arena = new KvArena(environment, kv);
    this.logits = new Float32Array((maxLogitRows + maxExtraLogits) * vocabSize);
  }

  async execute({decodes, prefills}: ModelBatch): Promise<Float32Array> {
    let numRows = 0;
    if (decodes.length > 0) numRows += await this.run(decodes, 1, 0);
    for (const chunk of prefills) numRows += await this.run([chunk], chunk.tokenIds.length, numRows);
    return this.logits.subarray(0, numRows * this.vocabSize);
  }

  copyRow(sourceRow: number, targetRow: number, numTokens: number): void {
    this.arena.copyRow(sourceRow, targetRow, numTokens);
  }

  swapRows(rowA: number, numTokensA: number, rowB: number, numTokensB: number): void {
    this.arena.swapRows(rowA, numTokensA, rowB, numTokensB);
  }

  releaseRow(row: number, keepTokens: number): void {
    this.arena.releaseRow(row, keepTokens);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.arena.close();
    this.session.close();
    this.environment.close();
  }

  /**
   * Runs chunks of the same length over neighbouring rows; the wanted logits go to the buffer from `firstLogitRow` on.
   * @param sequence length of each chunk in tokens
   * @returns the number of rows of logits
   */
  protected abstract run(chunks: readonly RowChunk[], sequence: number, firstLogitRow: number): Promise<number>;
}
