/** Inputs and logits that all graphs in the Transformers.js layout have in common, whatever their cache is. */
import {halvesToFloats} from '../../model/gguf/half.ts';
import type {ExportedLayout} from './exported-model.ts';
import type {RowChunk} from './model-runner.ts';
import type {OrtEnvironment} from './ort/ort-environment.ts';
import {addressOf, OrtTensor} from './ort/ort-tensor.ts';

/** Tensors of one run by name, and where its logits will be. */
export interface ExportedStep {
  tensors: ReadonlyMap<string, OrtTensor>;
  logits: StepLogits;
}

/** Logits of the last `numKept` positions of each chunk. */
class StepLogits {
  readonly #vocabSize: number;
  readonly #numKept: number;
  /** One of both is used. */
  readonly #floats: Float32Array;
  readonly #halves: Uint8Array;

  constructor(type: ExportedLayout['logitsType'], numChunks: number, numKept: number, vocabSize: number) {
    const length = numChunks * numKept * vocabSize;
    this.#vocabSize = vocabSize;
    this.#numKept = numKept;
    this.#floats = new Float32Array(type === 'float32' ? length : 0);
    this.#halves = new Uint8Array(type === 'float16' ? 2 * length : 0);
  }

  tensor(environment: OrtEnvironment, numChunks: number): OrtTensor {
    const dims = [numChunks, this.#numKept, this.#vocabSize];
    if (this.#floats.length > 0) return OrtTensor.over(environment, this.#floats, dims);
    const address = addressOf(this.#halves);
    return OrtTensor.at(environment, address, this.#halves, 'float16', this.#halves.length, dims);
  }

  /** Those at the end of a chunk. */
  lastOf(chunk: number, numWanted: number): Float32Array {
    const end = (chunk + 1) * this.#numKept * this.#vocabSize;
    const start = end - numWanted * this.#vocabSize;
    if (this.#floats.length > 0) return this.#floats.subarray(start, end);
    return halvesToFloats(this.#halves.subarray(2 * start, 2 * end));
  }
}

/** @param sequence length of each chunk in tokens */
export function exportedStep(
  environment: OrtEnvironment,
  {logitsType, hasPositions, countsLogits}: ExportedLayout,
  vocabSize: number,
  chunks: readonly RowChunk[],
  sequence: number,
): ExportedStep {
  const numChunks = chunks.length;
  const total = Math.max(...chunks.map(({start}) => start + sequence));
  const mask = new BigInt64Array(numChunks * total);
  for (const [row, {start}] of chunks.entries()) mask.fill(1n, row * total, row * total + start + sequence);
  const perToken = (value: (chunk: RowChunk, index: number) => number) =>
    BigInt64Array.from({length: numChunks * sequence}, (_, at) =>
      BigInt(value(chunks[Math.floor(at / sequence)] as RowChunk, at % sequence)),
    );
  const numWanted = Math.max(1, ...chunks.map(({numLogits}) => numLogits));
  const numKept = countsLogits ? numWanted : sequence;
  const logits = new StepLogits(logitsType, numChunks, numKept, vocabSize);
  const over = (data: BigInt64Array, dims: number[]) => OrtTensor.over(environment, data, dims);
  const ids = perToken(({tokenIds}, index) => tokenIds[index] as number);
  const positions = () => perToken(({start}, index) => start + index);
  const tensors = new Map([
    ['input_ids', over(ids, [numChunks, sequence])],
    ['attention_mask', over(mask, [numChunks, total])],
    ...(hasPositions ? [['position_ids', over(positions(), [numChunks, sequence])] as const] : []),
    ...(countsLogits ? [['num_logits_to_keep', over(BigInt64Array.of(BigInt(numKept)), [])] as const] : []),
    ['logits', logits.tensor(environment, numChunks)],
  ]);
  return {tensors, logits};
}

/** Which layer and part `past_key_values.3.value` or `present.3.value` is, as a position in the list of caches. */
export function cacheIndex(name: string): number | null {
  const [, layer, part] = /^(?:past_key_values|present)\.(\d+)\.(key|value)$/.exec(name) ?? [];
  return layer === undefined ? null : 2 * Number(layer) + Number(part === 'value');
}
