/**
 * The forward pass on ONNX Runtime, on the CPU. Rows that decode run as one batch over neighbouring rows of the arena;
 * each chunk of a prompt runs alone over a view of its row. The graph writes keys and values into the arena and logits
 * into one buffer: a step allocates and copies nothing of size.
 */
import {assertInvariant} from '../../util/assert.ts';
import {KvArena, type KvShape, kvBytesPerToken} from './kv-arena.ts';
import type {ModelBatch, ModelRunner, RowChunk} from './model-runner.ts';
import type {OrtEnvironment} from './ort/ort-environment.ts';
import type {OrtSession} from './ort/ort-session.ts';
import {OrtTensor} from './ort/ort-tensor.ts';

/** Inputs of the graph besides the cache, in this order. */
const stepInputNames = ['input_ids', 'seqlens_k', 'total_sequence_length', 'logits_at'] as const;

/**
 * Bounds the logits buffer and what ranking them costs in one step. A multiple of 16, so that chunks of this length are
 * good ones (see `scheduler/chunk-length.ts`).
 */
const maxExtraLogits = 64;

export interface OnnxModelRunnerOptions {
  kv: KvShape;
  vocabSize: number;
  /** Most sequences of one step, decoding and prompts, whose next token is wanted. */
  maxLogitRows: number;
}

export class OnnxModelRunner implements ModelRunner {
  readonly vocabSize: number;
  readonly maxExtraLogits = maxExtraLogits;
  readonly numRows: number;
  readonly rowCapacity: number;
  readonly bytesPerToken: number;
  readonly #environment: OrtEnvironment;
  readonly #session: OrtSession;
  readonly #arena: KvArena;
  readonly #logits: Float32Array;
  #isClosed = false;

  /** Takes over environment and session: `close` closes them. */
  constructor(environment: OrtEnvironment, session: OrtSession, {kv, vocabSize, maxLogitRows}: OnnxModelRunnerOptions) {
    this.vocabSize = vocabSize;
    this.numRows = kv.numRows;
    this.rowCapacity = kv.capacity;
    this.bytesPerToken = kvBytesPerToken(kv);
    this.#environment = environment;
    this.#session = session;
    this.#arena = new KvArena(environment, kv);
    this.#logits = new Float32Array((maxLogitRows + maxExtraLogits) * vocabSize);
    assertInvariant(
      stepInputNames.every((name, index) => session.inputNames[index] === name),
      `the graph's inputs begin with ${stepInputNames.join(', ')}`,
    );
  }

  async execute({decodes, prefills}: ModelBatch): Promise<Float32Array> {
    let numRows = 0;
    if (decodes.length > 0) numRows += await this.#run(decodes, 1, 0);
    for (const chunk of prefills) numRows += await this.#run([chunk], chunk.tokenIds.length, numRows);
    return this.#logits.subarray(0, numRows * this.vocabSize);
  }

  copyRow(sourceRow: number, targetRow: number, numTokens: number): void {
    this.#arena.copyRow(sourceRow, targetRow, numTokens);
  }

  swapRows(rowA: number, numTokensA: number, rowB: number, numTokensB: number): void {
    this.#arena.swapRows(rowA, numTokensA, rowB, numTokensB);
  }

  releaseRow(row: number, keepTokens: number): void {
    this.#arena.releaseRow(row, keepTokens);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#arena.close();
    this.#session.close();
    this.#environment.close();
  }

  /** Runs chunks of the same length over neighbouring rows; logits go to the buffer from `firstLogitRow` on. @returns their number */
  async #run(chunks: readonly RowChunk[], sequence: number, firstLogitRow: number): Promise<number> {
    const steps = this.#stepTensors(chunks, sequence);
    const numLogits = chunks.reduce((sum, chunk) => sum + chunk.numLogits, 0);
    const logits = this.#logitTensor(firstLogitRow, numLogits);
    const cache = this.#arena.view((chunks[0] as RowChunk).row, chunks.length);
    try {
      await this.#session.run([...steps, ...cache], [logits, ...cache]);
    } finally {
      for (const tensor of steps) tensor.release();
      logits.release();
    }
    return numLogits;
  }

  #stepTensors(chunks: readonly RowChunk[], sequence: number): OrtTensor[] {
    const ends = chunks.map((chunk) => chunk.start + sequence);
    const inputIds = new BigInt64Array(chunks.length * sequence);
    chunks.forEach((chunk, row) => {
      for (let index = 0; index < sequence; index++)
        inputIds[row * sequence + index] = BigInt(chunk.tokenIds[index] as number);
    });
    const wanted = chunks.flatMap(({numLogits}, row) =>
      Array.from({length: numLogits}, (_, index) => BigInt((row + 1) * sequence - numLogits + index)),
    );
    const over = (data: BigInt64Array | Int32Array, dims: number[]) => OrtTensor.over(this.#environment, data, dims);
    return [
      over(inputIds, [chunks.length, sequence]),
      over(
        Int32Array.from(ends, (end) => end - 1),
        [chunks.length],
      ),
      over(Int32Array.of(Math.max(...ends)), [1]),
      over(BigInt64Array.from(wanted), [wanted.length]),
    ];
  }

  #logitTensor(firstRow: number, numRows: number): OrtTensor {
    const start = firstRow * this.vocabSize;
    const data = this.#logits.subarray(start, start + numRows * this.vocabSize);
    return OrtTensor.over(this.#environment, data, [numRows, this.vocabSize]);
  }
}
