/**
 * The decoder graph of the llama architecture (Llama 2 and 3, Mistral, SmolLM2) over weights of a GGUF file. Names, types
 * and shapes of inputs and outputs are the contract of every runner graph:
 *
 * input_ids int64 [batch, sequence]; seqlens_k int32 [batch] = length after the step - 1; total_sequence_length int32 [1] =
 * longest length after the step; logits_at int64 [rows] = flat positions whose logits are wanted;
 * past_key_values.N.key/value and present.N.key/value float32 [batch, kv heads, capacity, head size], the same memory;
 * logits float32 [rows, vocab].
 */
import {blockSize} from '../../../model/gguf/block-formats.ts';
import type {GgufTensor} from '../../../model/gguf/gguf-file.ts';
import {addBlockWeights, LinearBuilder, type LinearOptions} from './linear.ts';
import type {LlamaConfig} from './llama-config.ts';
import {microsoftDomain, OnnxGraph, type Value} from './onnx-graph.ts';
import type {WeightSource} from './weight-source.ts';

/** GGUF files of this architecture have their q and k rows permuted for rotation of neighbouring pairs. */
const rotatesNeighbours = 1;

export function buildLlamaGraph(config: LlamaConfig, source: WeightSource, options: LinearOptions): OnnxGraph {
  return new LlamaGraphBuilder(config, source, options).build();
}

class LlamaGraphBuilder {
  readonly #graph = new OnnxGraph();
  readonly #config: LlamaConfig;
  readonly #source: WeightSource;
  readonly #linear: LinearBuilder;

  constructor(config: LlamaConfig, source: WeightSource, options: LinearOptions) {
    this.#config = config;
    this.#source = source;
    this.#linear = new LinearBuilder(this.#graph, source, options);
  }

  build(): OnnxGraph {
    this.#declareInputs();
    const tables = this.#rotaryTables();
    let residual = this.#embedding();
    let normed = this.#firstNorm('layer.0.attention.input', residual, 'blk.0.attn_norm.weight');
    for (let layer = 0; layer < this.#config.numLayers; layer++) {
      const attention = this.#attention(layer, normed, tables);
      const middle = this.#addAndNorm(`layer.${layer}.mlp.input`, residual, attention, `blk.${layer}.ffn_norm.weight`);
      const mlp = this.#gatedMlp(layer, middle.normed);
      const next = this.#normAfterLayer(layer, middle.residual, mlp);
      residual = next.residual;
      normed = next.normed;
    }
    this.#head(normed);
    return this.#graph;
  }

  #declareInputs(): void {
    const {numLayers, numKvHeads, headSize, vocabSize} = this.#config;
    const graph = this.#graph;
    graph.input('input_ids', 'int64', ['batch', 'sequence']);
    graph.input('seqlens_k', 'int32', ['batch']);
    graph.input('total_sequence_length', 'int32', [1]);
    graph.input('logits_at', 'int64', ['rows']);
    graph.output('logits', 'float32', ['rows', vocabSize]);
    for (let layer = 0; layer < numLayers; layer++) {
      for (const part of ['key', 'value']) {
        graph.input(`past_key_values.${layer}.${part}`, 'float32', ['batch', numKvHeads, 'capacity', headSize]);
        graph.output(`present.${layer}.${part}`, 'float32', ['batch', numKvHeads, 'capacity', headSize]);
      }
    }
  }

  /** Cosines and sines `[contextLength, rotarySize / 2]`. */
  #rotaryTables(): readonly [Value, Value] {
    const {contextLength, rotarySize} = this.#config;
    const dims = [contextLength, rotarySize / 2];
    const divisors = this.#source.has('rope_freqs.weight') ? this.#source.tensor('rope_freqs.weight') : null;
    const table = (name: string, map: (angle: number) => number) =>
      this.#graph.weight(name, 'float32', dims, async () =>
        tabulate(contextLength, await this.#frequencies(divisors), map),
      );
    return [table('rotary.cos', Math.cos), table('rotary.sin', Math.sin)];
  }

  /** Angle per position of each rotated pair. @param divisors of the frequencies, as Llama 3's scaling has them */
  async #frequencies(divisors: GgufTensor | null): Promise<Float64Array> {
    const {rotarySize, ropeBase, ropeScale} = this.#config;
    const dividedBy = divisors ? await this.#source.floats([divisors]) : null;
    return Float64Array.from({length: rotarySize / 2}, (_, pair) => {
      const frequency = ropeBase ** (-(2 * pair) / rotarySize);
      return frequency / ropeScale / (dividedBy?.[pair] ?? 1);
    });
  }

  #embedding(): Value {
    const tensor = this.#source.tensor('token_embd.weight');
    return tensor.type.name === 'Q8_0' ? this.#quantizedEmbedding(tensor) : this.#floatEmbedding(tensor);
  }

  #quantizedEmbedding(tensor: GgufTensor): Value {
    const {vocabSize, hiddenSize} = this.#config;
    const blocksPerRow = hiddenSize / blockSize;
    const {quants, scales} = addBlockWeights(this.#graph, this.#source, 'embedding', [tensor], {
      quants: [vocabSize, hiddenSize],
      scales: [vocabSize, blocksPerRow],
    });
    return this.#graph.node(
      'GatherBlockQuantized',
      'embedding',
      [quants, 'input_ids', scales],
      {bits: 8, block_size: blockSize, gather_axis: 0, quantize_axis: 1},
      microsoftDomain,
    );
  }

  #floatEmbedding(tensor: GgufTensor): Value {
    const {vocabSize, hiddenSize} = this.#config;
    const table = this.#graph.weight('embedding.table', 'float32', [vocabSize, hiddenSize], () =>
      this.#source.floats([tensor]),
    );
    return this.#graph.node('Gather', 'embedding', [table, 'input_ids'], {axis: 0});
  }

  #attention(layer: number, input: Value, [cos, sin]: readonly [Value, Value]): Value {
    const {numHeads, numKvHeads} = this.#config;
    const name = `layer.${layer}.attention`;
    const matrices = ['attn_q', 'attn_k', 'attn_v'].map((part) => `blk.${layer}.${part}.weight`);
    const qkv = this.#linear.product(`${name}.qkv`, input, matrices);
    const past = [`past_key_values.${layer}.key`, `past_key_values.${layer}.value`];
    const [mixed] = this.#graph.nodeWithResults(
      'GroupQueryAttention',
      [`${name}.mixed`, `present.${layer}.key`, `present.${layer}.value`],
      [qkv, '', '', ...past, 'seqlens_k', 'total_sequence_length', cos, sin],
      {
        num_heads: numHeads,
        kv_num_heads: numKvHeads,
        do_rotary: 1,
        rotary_interleaved: rotatesNeighbours,
        ...this.#rotarySizeAttribute(),
      },
      microsoftDomain,
    );
    return this.#linear.product(`${name}.output`, mixed as Value, [`blk.${layer}.attn_output.weight`]);
  }

  #rotarySizeAttribute(): Record<string, number> {
    const {rotarySize, headSize} = this.#config;
    return rotarySize === headSize ? {} : {rotary_embedding_dim: rotarySize};
  }

  /** down(silu(gate(x)) * up(x)) */
  #gatedMlp(layer: number, input: Value): Value {
    const graph = this.#graph;
    const name = `layer.${layer}.mlp`;
    const matrices = [`blk.${layer}.ffn_gate.weight`, `blk.${layer}.ffn_up.weight`];
    const both = this.#linear.product(`${name}.gate_up`, input, matrices);
    const [gate, up] = graph.nodeWithResults('Split', [`${name}.gate`, `${name}.up`], [both], {
      axis: -1,
      num_outputs: 2,
    });
    const activated = graph.node(
      'QuickGelu',
      `${name}.activated`,
      [gate as Value],
      {alpha: {float: 1}},
      microsoftDomain,
    );
    const gated = graph.node('Mul', `${name}.gated`, [activated, up as Value]);
    return this.#linear.product(`${name}.down`, gated, [`blk.${layer}.ffn_down.weight`]);
  }

  #normWeight(name: string, tensorName: string): Value {
    const tensor = this.#source.tensor(tensorName);
    return this.#graph.weight(`${name}.norm_weight`, 'float32', [this.#config.hiddenSize], () =>
      this.#source.floats([tensor]),
    );
  }

  #firstNorm(name: string, input: Value, tensorName: string): Value {
    const attributes = {axis: -1, epsilon: {float: this.#config.normEpsilon}, stash_type: 1};
    return this.#graph.node(
      'SimplifiedLayerNormalization',
      name,
      [input, this.#normWeight(name, tensorName)],
      attributes,
    );
  }

  /** Adds to the residual and norms the sum, in one operator. */
  #addAndNorm(name: string, residual: Value, delta: Value, tensorName: string): {normed: Value; residual: Value} {
    const [normed, , , sum] = this.#graph.nodeWithResults(
      'SkipSimplifiedLayerNormalization',
      [name, '', '', `${name}.residual`],
      [residual, delta, this.#normWeight(name, tensorName)],
      {epsilon: {float: this.#config.normEpsilon}},
      microsoftDomain,
    );
    return {normed: normed as Value, residual: sum as Value};
  }

  #normAfterLayer(layer: number, residual: Value, delta: Value) {
    const isLast = layer === this.#config.numLayers - 1;
    const name = isLast ? 'head.input' : `layer.${layer + 1}.attention.input`;
    return this.#addAndNorm(name, residual, delta, isLast ? 'output_norm.weight' : `blk.${layer + 1}.attn_norm.weight`);
  }

  /** Logits of the wanted positions only: the head is the largest matrix of all. */
  #head(normed: Value): void {
    const graph = this.#graph;
    const flat = graph.node('Reshape', 'head.flat', [
      normed,
      graph.int64Constant('shape.flat', [-1, this.#config.hiddenSize]),
    ]);
    const wanted = graph.node('Gather', 'head.wanted', [flat, 'logits_at'], {axis: 0});
    const isTied = !this.#source.has('output.weight');
    this.#linear.product('logits', wanted, [isTied ? 'token_embd.weight' : 'output.weight']);
  }
}

function tabulate(numPositions: number, frequencies: Float64Array, map: (angle: number) => number): Float32Array {
  const pairs = frequencies.length;
  const table = new Float32Array(numPositions * pairs);
  for (let position = 0; position < numPositions; position++) {
    for (let pair = 0; pair < pairs; pair++)
      table[position * pairs + pair] = map(position * (frequencies[pair] as number));
  }
  return table;
}
