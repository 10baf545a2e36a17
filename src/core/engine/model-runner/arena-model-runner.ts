/**
 * What all forward passes over the KV arena share: one session, one buffer of logits, and the order of a step. Rows that
 * decode run as one batch over neighbouring rows of the arena; each chunk of a prompt runs alone. How a batch becomes
 * inputs and outputs of the graph is the subclass's business.
 */
import {KvArena} from './kv-arena.ts';
import type {KvMemory, KvShape} from './kv-memory.ts';
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
  /** Where the cache is; the memory of this process by default. Taken over: `close` closes it. */
  memory?: KvMemory;
  /** Longest part of a prompt that is computed in one run; no limit by default. */
  maxChunkTokens?: number;
  vocabSize: number;
  /** Most sequences of one step, decoding and prompts, whose next token is wanted. */
  maxLogitRows: number;
}

export abstract class ArenaModelRunner implements ModelRunner {
  readonly vocabSize: number;
  readonly maxExtraLogits = maxExtraLogits;
  readonly maxDraftTokens: number = 0;
  readonly numRows: number;
  readonly rowCapacity: number;
  readonly bytesPerToken: number;
  readonly isGatheredAtFirstRow: boolean;
  protected readonly environment: OrtEnvironment;
  protected readonly session: OrtSession;
  protected readonly arena: KvMemory;
  /** Row-major `[rows, vocabSize]`. */
  protected readonly logits: Float32Array;
  readonly #maxChunkTokens: number;
  #isClosed = false;

  /** Takes over environment and session: `close` closes them. */
  constructor(
    environment: OrtEnvironment,
    session: OrtSession,
    {kv, memory, vocabSize, maxLogitRows, maxChunkTokens}: ArenaModelRunnerOptions,
  ) {
    this.vocabSize = vocabSize;
    this.#maxChunkTokens = maxChunkTokens ?? Number.POSITIVE_INFINITY;
    this.numRows = kv.numRows;
    this.rowCapacity = kv.capacity;
    this.environment = environment;
    this.session = session;
    this.arena = memory ?? new KvArena(environment, kv);
    this.bytesPerToken = this.arena.bytesPerToken;
    this.isGatheredAtFirstRow = this.arena.isGatheredAtFirstRow;
    this.logits = new Float32Array((maxLogitRows + maxExtraLogits) * vocabSize);
  }

  async execute({decodes, prefills}: ModelBatch): Promise<Float32Array> {
    let numRows = 0;
    if (decodes.length > 0) numRows += await this.#framed(decodes, true, () => this.runDecodes(decodes));
    for (const chunk of prefills.flatMap((prefill) => toPieces(prefill, this.#maxChunkTokens))) {
      const firstRow = numRows;
      numRows += await this.#framed([chunk], false, () => this.run([chunk], chunk.tokenIds.length, firstRow));
    }
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

  async #framed(chunks: readonly RowChunk[], isDecode: boolean, run: () => Promise<number>): Promise<number> {
    await this.arena.prepare(chunks, isDecode);
    const numRows = await run();
    await this.arena.settle(chunks, isDecode);
    return numRows;
  }

  /** Runs the decoding rows; their logits are the first of the step. @returns the number of rows of logits */
  protected runDecodes(decodes: readonly RowChunk[]): Promise<number> {
    return this.run(decodes, 1, 0);
  }

  /**
   * Runs chunks of the same length over neighbouring rows; the wanted logits go to the buffer from `firstLogitRow` on.
   * @param sequence length of each chunk in tokens
   * @returns the number of rows of logits
   */
  protected abstract run(chunks: readonly RowChunk[], sequence: number, firstLogitRow: number): Promise<number>;
}

/** The chunk in parts of at most `maxTokens`; together they give the same rows of logits. */
function toPieces({row, start, tokenIds, numLogits}: RowChunk, maxTokens: number): RowChunk[] {
  const numTokens = tokenIds.length;
  if (numTokens <= maxTokens) return [{row, start, tokenIds, numLogits}];
  const all = Array.from(tokenIds);
  return Array.from({length: Math.ceil(numTokens / maxTokens)}, (_, index) => {
    const own = all.slice(index * maxTokens, (index + 1) * maxTokens);
    const numBehind = Math.max(0, numTokens - (index + 1) * maxTokens);
    const wanted = Math.min(own.length, Math.max(0, numLogits - numBehind));
    return {row, start: start + index * maxTokens, tokenIds: own, numLogits: wanted};
  });
}
