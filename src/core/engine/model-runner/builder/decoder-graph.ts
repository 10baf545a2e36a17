/**
 * The decoder graph of any described architecture. Names, types and shapes of inputs and outputs are the contract of
 * every runner graph:
 *
 * input_ids int64 [batch, sequence]; seqlens_k int32 [batch] = length after the step - 1; total_sequence_length int32 [1] =
 * longest length after the step; logits_at int64 [rows] = flat positions whose logits are wanted;
 * past_key_values.N.key/value and present.N.key/value float32 [batch, kv heads, capacity, head size], the same memory;
 * logits float32 [rows, vocab]. In a graph of halves the cache is float16, the logits are not.
 *
 * A graph in turns checks drafts: it computes several tokens of a row as if one after the other (`attention-in-turns.ts`).
 */

import type {KvType} from '../kv-memory.ts';
import {attention, type RotaryValues} from './attention.ts';
import {declareTurns, presentNames} from './attention-in-turns.ts';
import type {DecoderConfig} from './decoder-config.ts';
import {embedding, embeddingTensor} from './embedding.ts';
import {addAndNorm, type GraphContext, norm, scaled} from './graph-context.ts';
import {LinearBuilder, type LinearOptions} from './linear.ts';
import {mixtureOfExperts} from './mixture.ts';
import {gatedMlp} from './mlp.ts';
import {OnnxGraph, type Value} from './onnx-graph.ts';
import {dataTypes} from './onnx-proto.ts';
import {type RotaryTable, tabulate} from './rotary.ts';
import type {WeightSource} from './weight-source.ts';

/** The residual stream between two parts, and what the next part reads. */
interface Stream {
  residual: Value;
  normed: Value;
}

export interface GraphVariant {
  /** For sequences beyond the original length, of models whose rotary depends on it. */
  isLong: boolean;
  /** Most tokens of one row in a step of a graph in turns; null = the ordinary graph. */
  numTurns: number | null;
}

export function buildDecoderGraph(
  config: DecoderConfig,
  source: WeightSource,
  options: LinearOptions,
  {isLong, numTurns}: GraphVariant = {isLong: false, numTurns: null},
): OnnxGraph {
  const graph = new OnnxGraph(floatTypeFor(config, options.floatType));
  const context = {graph, config, source, linear: new LinearBuilder(graph, source, options), numTurns};
  declareInputs(context);
  const tables = rotaryTables(context, isLong);
  let stream = firstStream(context);
  for (const [layer, {rotary}] of config.layers.entries()) {
    const mixed = attention(context, layer, stream.normed, rotary && tables[rotary]);
    stream = join(context, `layer.${layer}.mlp.input`, stream, branch(context, layer, 'attention', mixed), {
      normTensor: config.norms === 'after' ? null : `blk.${layer}.${config.mlpNorm}.weight`,
    });
    const mlp = config.mixture
      ? mixtureOfExperts(context, config.mixture, layer, stream.normed)
      : gatedMlp(context, layer, stream.normed);
    stream = join(context, inputName(config, layer + 1), stream, branch(context, layer, 'ffw', mlp), {
      normTensor: inputNorm(config, layer + 1),
    });
  }
  head(context, stream.normed);
  return graph;
}

/** The stream of models with norms around their parts grows beyond what halves can hold. */
function floatTypeFor({norms}: DecoderConfig, wanted: KvType): KvType {
  return norms === 'around' ? 'float32' : wanted;
}

function declareInputs({graph, config, numTurns}: GraphContext): void {
  const {layers, numKvHeads, headSize, vocabSize} = config;
  if (numTurns === null) {
    graph.input('input_ids', 'int64', ['batch', 'sequence']);
    graph.input('seqlens_k', 'int32', ['batch']);
    graph.input('total_sequence_length', 'int32', [1]);
  } else declareTurns(graph, numTurns);
  graph.input('logits_at', 'int64', ['rows']);
  graph.output('logits', 'float32', ['rows', vocabSize]);
  const results = presentNames(numTurns);
  for (const layer of layers.keys()) {
    for (const part of ['key', 'value']) {
      graph.input(`past_key_values.${layer}.${part}`, graph.floatType, ['batch', numKvHeads, 'capacity', headSize]);
      for (const present of results) {
        graph.output(`${present}.${layer}.${part}`, graph.floatType, ['batch', numKvHeads, 'capacity', headSize]);
      }
    }
  }
}

function rotaryTables(context: GraphContext, isLong: boolean): Record<'global' | 'local', RotaryValues | null> {
  const {rotary, longRotary} = context.config;
  const isOther = isLong && longRotary !== null;
  return {
    global: rotaryValues(context, isOther ? 'rotary.long' : 'rotary', isOther ? longRotary.table : rotary.global),
    local: rotary.local && rotaryValues(context, 'rotary.local', rotary.local),
  };
}

function rotaryValues({graph, config}: GraphContext, name: string, table: RotaryTable): RotaryValues {
  const {contextLength} = config;
  const dims = [contextLength, table.size / 2];
  const values = (part: string, map: (angle: number) => number) =>
    graph.floats(`${name}.${part}`, dims, async () => tabulate(table, contextLength, map));
  return [values('cos', Math.cos), values('sin', Math.sin)];
}

function firstStream(context: GraphContext): Stream {
  const residual = embedding(context);
  const tensorName = inputNorm(context.config, 0);
  return {
    residual,
    normed: tensorName === null ? residual : norm(context, inputName(context.config, 0), residual, tensorName),
  };
}

/** What reads the stream before this layer; behind the last layer it is the head. */
function inputName({layers}: DecoderConfig, layer: number): string {
  return layer === layers.length ? 'head.input' : `layer.${layer}.attention.input`;
}

/** Null = the layer reads the stream as it is. */
function inputNorm({layers, norms}: DecoderConfig, layer: number): string | null {
  if (layer === layers.length) return 'output_norm.weight';
  return norms === 'after' ? null : `blk.${layer}.attn_norm.weight`;
}

/** What a part adds to the stream: its result, normed and scaled as the architecture wants. */
function branch(context: GraphContext, layer: number, part: 'attention' | 'ffw', result: Value): Value {
  const {norms, residualScale} = context.config;
  const normed =
    norms === 'before' ? result : norm(context, `${result}.normed`, result, `blk.${layer}.post_${part}_norm.weight`);
  return scaled(context, `${normed}.scaled`, normed, residualScale);
}

function join(
  context: GraphContext,
  name: string,
  {residual}: Stream,
  delta: Value,
  {normTensor}: {normTensor: string | null},
): Stream {
  if (normTensor !== null) return addAndNorm(context, name, residual, delta, normTensor);
  const sum = context.graph.node('Add', name, [residual, delta]);
  return {residual: sum, normed: sum};
}

/** Logits of the wanted positions only: the head is the largest matrix of all. */
function head(context: GraphContext, normed: Value): void {
  const {graph, config, source, linear} = context;
  const flatShape = graph.int64Constant('shape.flat', [-1, config.hiddenSize]);
  const flat = graph.node('Reshape', 'head.flat', [normed, flatShape]);
  const wanted = linear.markFlat(graph.node('Gather', 'head.wanted', [flat, 'logits_at'], {axis: 0}));
  const isTied = !source.has('output.weight');
  const isLast = config.logitScale === 1 && config.logitSoftCap === null;
  const result = graph.floatType === 'float32' ? 'logits' : 'head.logits.halves';
  const raw = linear.product(isLast ? result : 'head.logits', wanted, [isTied ? embeddingTensor : 'output.weight']);
  if (!isLast) finishLogits(context, result, raw);
  if (result !== 'logits') graph.node('Cast', 'logits', [result], {to: dataTypes.float32});
}

function finishLogits({graph, config}: GraphContext, result: Value, raw: Value): void {
  const {logitScale, logitSoftCap} = config;
  if (logitSoftCap === null) {
    graph.node('Mul', result, [raw, graph.floatConstant('logit_scale', logitScale)]);
    return;
  }
  const cap = graph.floatConstant('logit_cap', logitSoftCap);
  const inward = graph.floatConstant('logit_cap.inverse', logitScale / logitSoftCap);
  const small = graph.node('Mul', 'head.logits.small', [raw, inward]);
  graph.node('Mul', result, [graph.node('Tanh', 'head.logits.bounded', [small]), cap]);
}
