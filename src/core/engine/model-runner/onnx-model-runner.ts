/**
 * The forward pass on ONNX Runtime, on the CPU. Rows that decode run as one batch over neighbouring rows of the arena;
 * each chunk of a prompt runs alone over a view of its row. The graph writes keys and values into the arena and logits
 * into one buffer: a step allocates and copies nothing of size. Drafts are checked by a second graph, in turns.
 */
import {assertInvariant} from '../../util/assert.ts';
import {ArenaModelRunner, type ArenaModelRunnerOptions} from './arena-model-runner.ts';
import type {RowChunk} from './model-runner.ts';
import type {OrtEnvironment} from './ort/ort-environment.ts';
import type {OrtSession} from './ort/ort-session.ts';
import {OrtTensor} from './ort/ort-tensor.ts';
import {toTurns} from './turns.ts';

/** Inputs of the graph besides the cache, in this order. */
const stepInputNames = ['input_ids', 'seqlens_k', 'total_sequence_length', 'logits_at'] as const;

/** The graph that checks drafts; see `builder/attention-in-turns.ts`. */
export interface DraftSession {
  session: OrtSession;
  numTurns: number;
}

export class OnnxModelRunner extends ArenaModelRunner {
  override readonly maxDraftTokens: number;
  readonly #drafts: DraftSession | null;

  /** Takes over environment and sessions: `close` closes them. */
  constructor(
    environment: OrtEnvironment,
    session: OrtSession,
    options: ArenaModelRunnerOptions,
    drafts: DraftSession | null = null,
  ) {
    super(environment, session, options);
    this.#drafts = drafts;
    this.maxDraftTokens = drafts ? drafts.numTurns - 1 : 0;
    assertInvariant(
      stepInputNames.every((name, index) => session.inputNames[index] === name),
      `the graph's inputs begin with ${stepInputNames.join(', ')}`,
    );
  }

  override close(): void {
    this.#drafts?.session.close();
    super.close();
  }

  protected override runDecodes(decodes: readonly RowChunk[]): Promise<number> {
    return decodes.some(({tokenIds}) => tokenIds.length > 1) ? this.#runInTurns(decodes) : super.runDecodes(decodes);
  }

  async #runInTurns(chunks: readonly RowChunk[]): Promise<number> {
    assertInvariant(this.#drafts, 'drafts come only to a runner that checks them');
    const {session, numTurns} = this.#drafts;
    const turns = toTurns(chunks, numTurns);
    const numTokens = turns.inputIds.length;
    const numRows = chunks.length;
    const over = (data: BigInt64Array | Int32Array, dims: number[]) => OrtTensor.over(this.environment, data, dims);
    const steps = [
      over(turns.inputIds, [numTokens, 1]),
      ...turns.tokensOfTurns.map((tokens) => over(tokens, [numRows])),
      ...turns.lengths.map((lengths) => over(lengths, [numRows])),
      over(turns.totalLength, [1]),
      over(turns.tokenOrder, [numTokens]),
      over(turns.logitsAt, [turns.logitsAt.length]),
    ];
    const logits = this.#logitTensor(0, turns.logitsAt.length);
    const cache = this.arena.view((chunks[0] as RowChunk).row, numRows);
    const results = cache.flatMap((tensor) => Array.from({length: numTurns}, () => tensor));
    try {
      await session.run([...steps, ...cache], [logits, ...results]);
    } finally {
      for (const tensor of steps) tensor.release();
      logits.release();
    }
    return turns.logitsAt.length;
  }

  protected async run(chunks: readonly RowChunk[], sequence: number, firstLogitRow: number): Promise<number> {
    const steps = this.#stepTensors(chunks, sequence);
    const numLogits = chunks.reduce((sum, chunk) => sum + chunk.numLogits, 0);
    const logits = this.#logitTensor(firstLogitRow, numLogits);
    const cache = this.arena.view((chunks[0] as RowChunk).row, chunks.length);
    try {
      await this.session.run([...steps, ...cache], [logits, ...cache]);
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
    const over = (data: BigInt64Array | Int32Array, dims: number[]) => OrtTensor.over(this.environment, data, dims);
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
    const data = this.logits.subarray(start, start + numRows * this.vocabSize);
    return OrtTensor.over(this.environment, data, [numRows, this.vocabSize]);
  }
}
