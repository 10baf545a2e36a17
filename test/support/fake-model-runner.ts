/**
 * A model runner without a model. The logits of a sequence are a hash of ALL its tokens, so one wrong, missing or
 * foreign token in a row's cache changes the answer. It keeps what each row really holds, follows copies, exchanges and
 * releases, and throws when a batch breaks the contract of `ModelRunner`.
 */
import type {ModelBatch, ModelRunner, RowChunk} from '../../src/core/engine/model-runner/model-runner.ts';
import {assertInvariant} from '../../src/core/util/assert.ts';

export interface FakeModelOptions {
  vocabSize?: number;
  numRows?: number;
  rowCapacity?: number;
  maxExtraLogits?: number;
  maxDraftTokens?: number;
  /** Rows that decode must begin with the first one, as on a device; false by default. */
  isGatheredAtFirstRow?: boolean;
  /** Called before each forward pass; a promise holds the pass up. */
  beforeExecute?: (batch: ModelBatch) => void | Promise<void>;
  /** Changes the logits of a row, given all tokens of its sequence. */
  changeLogits?: (logits: Float32Array, tokenIds: readonly number[]) => void;
}

/** What a row holds where nothing valid is: no token has this id. */
const garbage = -1;

export class FakeModelRunner implements ModelRunner {
  readonly vocabSize: number;
  readonly numRows: number;
  readonly rowCapacity: number;
  readonly bytesPerToken = 8;
  readonly isGatheredAtFirstRow: boolean;
  readonly maxExtraLogits: number;
  readonly maxDraftTokens: number;
  /** Everything that was executed. */
  readonly batches: ModelBatch[] = [];
  numCopiedTokens = 0;
  numSwaps = 0;
  isClosed = false;
  readonly #options: FakeModelOptions;
  readonly #rows: number[][];

  constructor(options: FakeModelOptions = {}) {
    this.vocabSize = options.vocabSize ?? 64;
    this.numRows = options.numRows ?? 8;
    this.rowCapacity = options.rowCapacity ?? 256;
    this.maxExtraLogits = options.maxExtraLogits ?? 16;
    this.maxDraftTokens = options.maxDraftTokens ?? 0;
    this.isGatheredAtFirstRow = options.isGatheredAtFirstRow ?? false;
    this.#options = options;
    this.#rows = Array.from({length: this.numRows}, () => []);
  }

  get numComputedTokens(): number {
    return this.batches
      .flatMap(({decodes, prefills}) => [...decodes, ...prefills])
      .reduce((sum, {tokenIds}) => sum + tokenIds.length, 0);
  }

  async execute(batch: ModelBatch): Promise<Float32Array> {
    await this.#options.beforeExecute?.(batch);
    this.#checkBatch(batch);
    this.batches.push(batch);
    const chunks = [...batch.decodes, ...batch.prefills];
    for (const chunk of chunks) this.#write(chunk);
    const wanted = chunks.flatMap(({row, start, tokenIds, numLogits}) =>
      Array.from({length: numLogits}, (_, index) => ({row, length: start + tokenIds.length - numLogits + index + 1})),
    );
    const logits = new Float32Array(wanted.length * this.vocabSize);
    wanted.forEach(({row, length}, index) => {
      const sequence = this.#rows[row].slice(0, length);
      logits.set(fakeLogits(sequence, this.vocabSize, this.#options.changeLogits), index * this.vocabSize);
    });
    return logits;
  }

  copyRow(sourceRow: number, targetRow: number, numTokens: number): void {
    this.#checkRange(sourceRow, numTokens);
    this.#rows[targetRow] = this.#rows[sourceRow].slice(0, numTokens);
    this.numCopiedTokens += numTokens;
  }

  swapRows(rowA: number, numTokensA: number, rowB: number, numTokensB: number): void {
    this.#checkRange(rowA, numTokensA);
    this.#checkRange(rowB, numTokensB);
    const [a, b] = [this.#rows[rowA].slice(0, numTokensA), this.#rows[rowB].slice(0, numTokensB)];
    this.#rows[rowA] = b;
    this.#rows[rowB] = a;
    this.numSwaps++;
  }

  releaseRow(row: number, keepTokens: number): void {
    this.#rows[row].fill(garbage, keepTokens);
  }

  close(): void {
    this.isClosed = true;
  }

  #write({row, start, tokenIds}: RowChunk): void {
    for (let i = 0; i < tokenIds.length; i++) this.#rows[row][start + i] = tokenIds[i];
  }

  #checkBatch({decodes, prefills}: ModelBatch): void {
    assertInvariant(!this.isClosed, 'a closed runner computes nothing');
    const rows = [...decodes, ...prefills].map(({row}) => row);
    assertInvariant(new Set(rows).size === rows.length, 'no row occurs twice in a batch');
    const numExtra = [...decodes, ...prefills].reduce((sum, {numLogits}) => sum + Math.max(0, numLogits - 1), 0);
    assertInvariant(numExtra <= this.maxExtraLogits, 'a batch wants no more logits than allowed');
    decodes.forEach(({row, tokenIds, numLogits}, index) => {
      assertInvariant(row === decodes[0].row + index, 'decoding rows ascend without gaps');
      assertInvariant(row === index || !this.isGatheredAtFirstRow, 'decoding rows begin with the first one');
      assertInvariant(tokenIds.length <= 1 + this.maxDraftTokens, 'a decode is one token and its draft');
      assertInvariant(numLogits <= tokenIds.length, 'a decode has logits of its own tokens only');
    });
    for (const {row, start, tokenIds, numLogits} of [...decodes, ...prefills]) {
      assertInvariant(numLogits <= tokenIds.length, 'a chunk has logits of its own tokens only');
      assertInvariant(tokenIds.length > 0 && start + tokenIds.length <= this.rowCapacity, 'a chunk fits into its row');
      assertInvariant(
        Array.from(tokenIds).every((id) => id >= 0 && id < this.vocabSize),
        'token ids are in the vocabulary',
      );
      this.#checkRange(row, start);
    }
  }

  /** The first tokens of a row must have been written and not given back. */
  #checkRange(row: number, numTokens: number): void {
    const content = this.#rows[row].slice(0, numTokens);
    assertInvariant(content.length === numTokens && !content.includes(garbage), 'only written tokens are used');
  }
}

/** The logits after a sequence: numbers in [0, 8) from a hash of all of it. */
export function fakeLogits(
  tokenIds: readonly number[],
  vocabSize: number,
  changeLogits?: FakeModelOptions['changeLogits'],
): Float32Array {
  let state = tokenIds.reduce((hash, id) => Math.imul(hash ^ (id + 1), 0x01000193) ^ (hash >>> 15), 0x811c9dc5);
  const logits = Float32Array.from({length: vocabSize}, () => {
    state = Math.imul(state ^ (state >>> 13), 0x5bd1e995) + 0x2545f491;
    return ((state ^ (state >>> 16)) >>> 0) / 2 ** 29;
  });
  changeLogits?.(logits, tokenIds);
  return logits;
}

/** What a greedy sequence must give, computed without any engine. Ends at `eosTokenId` or after `maxTokens`. */
export function greedyContinuation(
  promptTokenIds: readonly number[],
  {
    vocabSize = 64,
    maxTokens,
    eosTokenId = null,
    changeLogits,
  }: {vocabSize?: number; maxTokens: number; eosTokenId?: number | null} & Pick<FakeModelOptions, 'changeLogits'>,
): number[] {
  const tokenIds = [...promptTokenIds];
  const output: number[] = [];
  while (output.length < maxTokens && (output.length === 0 || output.at(-1) !== eosTokenId)) {
    const logits = fakeLogits(tokenIds, vocabSize, changeLogits);
    output.push(logits.indexOf(Math.max(...logits)));
    tokenIds.push(output.at(-1) as number);
  }
  return output;
}
