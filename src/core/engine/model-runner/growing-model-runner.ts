/**
 * The forward pass of older exports, without GroupQueryAttention: the cache of a sequence goes in, and comes out longer by
 * the tokens of the step. Each sequence runs alone and its cache is copied at every step: correct, and slower than a
 * graph that writes in place.
 */
import {assertInvariant} from '../../util/assert.ts';
import {cacheIndex, exportedStep} from './exported-inputs.ts';
import type {ExportedLayout, FloatType} from './exported-model.ts';
import type {ModelBatch, ModelRunner, RowChunk} from './model-runner.ts';
import type {OrtEnvironment} from './ort/ort-environment.ts';
import type {OrtSession} from './ort/ort-session.ts';
import {addressOf, OrtTensor} from './ort/ort-tensor.ts';

export interface GrowingRunnerOptions {
  numLayers: number;
  numKvHeads: number;
  headSize: number;
  numRows: number;
  rowCapacity: number;
  vocabSize: number;
  /** Most sequences of one step whose next token is wanted. */
  maxLogitRows: number;
}

/** Keys and values of one row: for each cache `[kv heads, numTokens, head size]`, without gaps. */
interface GrowingRow {
  numTokens: number;
  caches: readonly Uint8Array[];
}

const bytesOf: Readonly<Record<FloatType, number>> = {float32: 4, float16: 2};
/** Logits of a prompt's inner positions, see `ArenaModelRunner`. */
const maxExtraLogits = 64;
/** A tensor of no tokens needs an address all the same. */
const nothing = new Uint8Array(16);

export class GrowingModelRunner implements ModelRunner {
  readonly vocabSize: number;
  readonly maxExtraLogits = maxExtraLogits;
  readonly maxDraftTokens = 0;
  readonly isGatheredAtFirstRow = false;
  readonly numRows: number;
  readonly rowCapacity: number;
  readonly bytesPerToken: number;
  readonly #environment: OrtEnvironment;
  readonly #session: OrtSession;
  readonly #layout: ExportedLayout;
  readonly #numKvHeads: number;
  /** Bytes of one token in one head of one cache. */
  readonly #tokenBytes: number;
  readonly #headSize: number;
  readonly #rows: GrowingRow[];
  readonly #logits: Float32Array;
  #isClosed = false;

  /** Takes over environment and session: `close` closes them. */
  constructor(environment: OrtEnvironment, session: OrtSession, layout: ExportedLayout, options: GrowingRunnerOptions) {
    const {numLayers, numKvHeads, headSize, numRows, rowCapacity, vocabSize, maxLogitRows} = options;
    this.vocabSize = vocabSize;
    this.numRows = numRows;
    this.rowCapacity = rowCapacity;
    this.#environment = environment;
    this.#session = session;
    this.#layout = layout;
    this.#numKvHeads = numKvHeads;
    this.#headSize = headSize;
    this.#tokenBytes = headSize * bytesOf[layout.cacheType];
    this.bytesPerToken = 2 * numLayers * numKvHeads * this.#tokenBytes;
    const empty: GrowingRow = {numTokens: 0, caches: Array.from({length: 2 * numLayers}, () => new Uint8Array())};
    this.#rows = Array.from({length: numRows}, () => empty);
    this.#logits = new Float32Array((maxLogitRows + maxExtraLogits) * vocabSize);
  }

  async execute({decodes, prefills}: ModelBatch): Promise<Float32Array> {
    let numRows = 0;
    for (const chunk of [...decodes, ...prefills]) numRows += await this.#run(chunk, numRows);
    return this.#logits.subarray(0, numRows * this.vocabSize);
  }

  copyRow(sourceRow: number, targetRow: number, numTokens: number): void {
    this.#rows[targetRow] = this.#beginning(this.#row(sourceRow), numTokens);
  }

  swapRows(rowA: number, _numTokensA: number, rowB: number): void {
    const [a, b] = [this.#row(rowA), this.#row(rowB)];
    this.#rows[rowA] = b;
    this.#rows[rowB] = a;
  }

  releaseRow(row: number, keepTokens: number): void {
    this.#rows[row] = this.#beginning(this.#row(row), keepTokens);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#session.close();
    this.#environment.close();
  }

  #row(index: number): GrowingRow {
    const row = this.#rows[index];
    assertInvariant(row, 'a row lies inside the cache');
    return row;
  }

  async #run(chunk: RowChunk, firstLogitRow: number): Promise<number> {
    const sequence = chunk.tokenIds.length;
    const past = this.#beginning(this.#row(chunk.row), chunk.start);
    const present = this.#emptyRow(past.caches.length, chunk.start + sequence);
    const {tensors, logits} = exportedStep(this.#environment, this.#layout, this.vocabSize, [chunk], sequence);
    const pastTensors = past.caches.map((cache) => this.#tensor(cache, past.numTokens));
    const presentTensors = present.caches.map((cache) => this.#tensor(cache, present.numTokens));
    const pick = (caches: readonly OrtTensor[]) => (name: string) =>
      (tensors.get(name) ?? caches[cacheIndex(name) ?? -1]) as OrtTensor;
    try {
      const {inputNames, outputNames} = this.#session;
      await this.#session.run(inputNames.map(pick(pastTensors)), outputNames.map(pick(presentTensors)));
    } finally {
      for (const tensor of [...tensors.values(), ...pastTensors, ...presentTensors]) tensor.release();
    }
    this.#rows[chunk.row] = present;
    this.#logits.set(logits.lastOf(0, chunk.numLogits), firstLogitRow * this.vocabSize);
    return chunk.numLogits;
  }

  #emptyRow(numCaches: number, numTokens: number): GrowingRow {
    const numBytes = this.#numKvHeads * numTokens * this.#tokenBytes;
    return {numTokens, caches: Array.from({length: numCaches}, () => new Uint8Array(numBytes))};
  }

  /** The first tokens of a row; the row itself when that is all of it. */
  #beginning(row: GrowingRow, numTokens: number): GrowingRow {
    if (numTokens >= row.numTokens) return row;
    const from = row.numTokens * this.#tokenBytes;
    const to = numTokens * this.#tokenBytes;
    const caches = row.caches.map((cache) => {
      const kept = new Uint8Array(this.#numKvHeads * to);
      for (let head = 0; head < this.#numKvHeads; head++) {
        kept.set(cache.subarray(head * from, head * from + to), head * to);
      }
      return kept;
    });
    return {numTokens, caches};
  }

  #tensor(cache: Uint8Array, numTokens: number): OrtTensor {
    const memory = cache.length === 0 ? nothing : cache;
    const dims = [1, this.#numKvHeads, numTokens, this.#headSize];
    return OrtTensor.at(this.#environment, addressOf(memory), memory, this.#layout.cacheType, cache.length, dims);
  }
}
