/**
 * The forward pass of a graph that others exported, in the layout of Transformers.js with GroupQueryAttention: lengths come
 * from `attention_mask`, the cache is written in place, and logits come for every position. The graph's logits are
 * copied row by row, so a long chunk costs more here than with a graph of our own.
 */
import {assertInvariant} from '../../util/assert.ts';
import {ArenaModelRunner, type ArenaModelRunnerOptions} from './arena-model-runner.ts';
import {cacheIndex, exportedStep} from './exported-inputs.ts';
import type {ExportedLayout} from './exported-model.ts';
import type {RowChunk} from './model-runner.ts';
import type {OrtEnvironment} from './ort/ort-environment.ts';
import type {OrtSession} from './ort/ort-session.ts';
import type {OrtTensor} from './ort/ort-tensor.ts';

export class ExportedModelRunner extends ArenaModelRunner {
  readonly #layout: ExportedLayout;

  /** Takes over environment and session: `close` closes them. */
  constructor(
    environment: OrtEnvironment,
    session: OrtSession,
    layout: ExportedLayout,
    options: ArenaModelRunnerOptions,
  ) {
    super(environment, session, options);
    this.#layout = layout;
  }

  protected async run(chunks: readonly RowChunk[], sequence: number, firstLogitRow: number): Promise<number> {
    const {tensors, logits} = exportedStep(this.environment, this.#layout, this.vocabSize, chunks, sequence);
    const cache = this.arena.view((chunks[0] as RowChunk).row, chunks.length);
    const tensorFor = (name: string) => tensors.get(name) ?? cacheTensor(cache, name);
    try {
      await this.session.run(this.session.inputNames.map(tensorFor), this.session.outputNames.map(tensorFor));
    } finally {
      for (const tensor of tensors.values()) tensor.release();
    }
    let next = firstLogitRow;
    for (const [index, {numLogits}] of chunks.entries()) {
      this.logits.set(logits.lastOf(index, numLogits), next * this.vocabSize);
      next += numLogits;
    }
    return next - firstLogitRow;
  }
}

/** `past_key_values.3.value` and `present.3.value` are the same memory. */
function cacheTensor(cache: readonly OrtTensor[], name: string): OrtTensor {
  const tensor = cache[cacheIndex(name) ?? -1];
  assertInvariant(tensor, `${name} is an input or output of the layout`);
  return tensor;
}
