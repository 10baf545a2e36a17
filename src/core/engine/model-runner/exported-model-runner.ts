/**
 * The forward pass of a graph that others exported, in the layout of Transformers.js with GroupQueryAttention: lengths come
 * from `attention_mask`, the cache is written in place, and logits come for every position. The graph's logits are
 * copied row by row, so a long chunk costs more here than with a graph of our own.
 */
import {assertInvariant} from '../../util/assert.ts';
import {ArenaModelRunner} from './arena-model-runner.ts';
import type {RowChunk} from './model-runner.ts';
import {OrtTensor} from './ort/ort-tensor.ts';

export class ExportedModelRunner extends ArenaModelRunner {
  protected async run(chunks: readonly RowChunk[], sequence: number, firstLogitRow: number): Promise<number> {
    const all = new Float32Array(chunks.length * sequence * this.vocabSize);
    const byName = this.#tensorsByName(chunks, sequence, all);
    const cache = this.arena.view((chunks[0] as RowChunk).row, chunks.length);
    const tensorFor = (name: string) => byName.get(name) ?? cacheTensor(cache, name);
    try {
      await this.session.run(this.session.inputNames.map(tensorFor), this.session.outputNames.map(tensorFor));
    } finally {
      for (const tensor of byName.values()) tensor.release();
    }
    return this.#keepWanted(chunks, sequence, all, firstLogitRow);
  }

  #tensorsByName(chunks: readonly RowChunk[], sequence: number, logits: Float32Array): Map<string, OrtTensor> {
    const numRows = chunks.length;
    const total = Math.max(...chunks.map((chunk) => chunk.start + sequence));
    const inputIds = new BigInt64Array(numRows * sequence);
    const mask = new BigInt64Array(numRows * total);
    chunks.forEach((chunk, row) => {
      mask.fill(1n, row * total, row * total + chunk.start + sequence);
      for (let index = 0; index < sequence; index++) {
        inputIds[row * sequence + index] = BigInt(chunk.tokenIds[index] as number);
      }
    });
    const over = (data: BigInt64Array | Float32Array, dims: number[]) => OrtTensor.over(this.environment, data, dims);
    return new Map([
      ['input_ids', over(inputIds, [numRows, sequence])],
      ['attention_mask', over(mask, [numRows, total])],
      ['logits', over(logits, [numRows, sequence, this.vocabSize])],
    ]);
  }

  #keepWanted(chunks: readonly RowChunk[], sequence: number, all: Float32Array, firstRow: number): number {
    let next = firstRow;
    for (const [row, {numLogits}] of chunks.entries()) {
      const end = (row + 1) * sequence * this.vocabSize;
      this.logits.set(all.subarray(end - numLogits * this.vocabSize, end), next * this.vocabSize);
      next += numLogits;
    }
    return next - firstRow;
  }
}

/** `past_key_values.3.value` and `present.3.value` are the same memory. */
function cacheTensor(cache: readonly OrtTensor[], name: string): OrtTensor {
  const [, layer, part] = /^(?:past_key_values|present)\.(\d+)\.(key|value)$/.exec(name) ?? [];
  const tensor = cache[2 * Number(layer) + Number(part === 'value')];
  assertInvariant(tensor, `${name} is an input or output of the layout`);
  return tensor;
}
