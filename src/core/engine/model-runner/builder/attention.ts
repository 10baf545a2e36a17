/** The attention part of a layer: packed product, norms of queries and keys where there are any, and one operator. */
import {type AttentionOperator, attendInTurns} from './attention-in-turns.ts';
import type {LayerConfig} from './decoder-config.ts';
import {type GraphContext, norm} from './graph-context.ts';
import {microsoftDomain, type Value} from './onnx-graph.ts';

/** Cosines and sines `[contextLength, rotarySize / 2]`. */
export type RotaryValues = readonly [cos: Value, sin: Value];

/** @param rotary null = positions are not rotated in this layer */
export function attention(context: GraphContext, layer: number, input: Value, rotary: RotaryValues | null): Value {
  const name = `layer.${layer}.attention`;
  const parts = queryKeyValue(context, layer, input);
  const tail = ['total_sequence_length', ...(rotary ?? []), ...sinks(context, layer, rotary)];
  const operator: AttentionOperator = ({result, past, present}, own, lengths) =>
    groupQueryAttention(
      context,
      layer,
      rotary !== null,
      [result, `${present}.${layer}.key`, `${present}.${layer}.value`],
      [...own, `${past}.${layer}.key`, `${past}.${layer}.value`, lengths, ...tail],
    );
  const mixed =
    context.numTurns === null
      ? operator({result: `${name}.mixed`, past: 'past_key_values', present: 'present'}, parts, 'seqlens_k')
      : attendInTurns(context.graph, context.numTurns, `${name}.mixed`, parts, operator);
  return context.linear.product(`${name}.output`, mixed, [`blk.${layer}.attn_output.weight`]);
}

function groupQueryAttention(
  context: GraphContext,
  layer: number,
  isRotated: boolean,
  results: readonly Value[],
  inputs: readonly Value[],
): Value {
  const {graph, config} = context;
  const [mixed] = graph.nodeWithResults(
    'GroupQueryAttention',
    results,
    inputs,
    {
      num_heads: config.numHeads,
      kv_num_heads: config.numKvHeads,
      do_rotary: Number(isRotated),
      rotary_interleaved: Number(config.rotatesNeighbours),
      ...attentionAttributes(context, config.layers[layer] as LayerConfig),
    },
    microsoftDomain,
  );
  return mixed as Value;
}

function attentionAttributes({config}: GraphContext, {window}: LayerConfig) {
  const {attentionScale, attentionSoftCap} = config;
  return {
    ...(attentionScale !== null && {scale: {float: attentionScale}}),
    ...(attentionSoftCap !== null && {softcap: {float: attentionSoftCap}}),
    ...(window !== null && {local_window_size: window}),
  };
}

/** A logit per head that takes part in the softmax and stands for nothing; input 11 of the operator. */
function sinks({graph, source}: GraphContext, layer: number, rotary: RotaryValues | null): Value[] {
  const tensorName = `blk.${layer}.attn_sinks.weight`;
  if (!source.has(tensorName)) return [];
  const tensor = source.tensor(tensorName);
  const skipped = rotary ? ['', ''] : ['', '', '', ''];
  const weight = graph.floats(`layer.${layer}.attention.sinks`, [tensor.shape[0] ?? 0], () => source.floats([tensor]));
  return [...skipped, weight];
}

/** The first three inputs: everything packed in one, or queries, keys and values after their norms. */
function queryKeyValue(context: GraphContext, layer: number, input: Value): readonly Value[] {
  const {graph, config, source, linear} = context;
  const name = `layer.${layer}.attention`;
  const packed = `blk.${layer}.attn_qkv.weight`;
  const matrices = source.has(packed) ? [packed] : ['q', 'k', 'v'].map((part) => `blk.${layer}.attn_${part}.weight`);
  const qkv = linear.product(`${name}.qkv`, input, matrices);
  if (config.queryKeyNorm === 'none') return [qkv, '', ''];
  const sizes = [config.numHeads, config.numKvHeads, config.numKvHeads].map((heads) => heads * config.headSize);
  const [query, key, value] = graph.nodeWithResults(
    'Split',
    [`${name}.query`, `${name}.key`, `${name}.value`],
    [qkv, graph.int64Constant('sizes.qkv', sizes)],
    {axis: -1},
  ) as [Value, Value, Value];
  const normed = [
    headNorm(context, `${name}.query`, query, config.numHeads, `blk.${layer}.attn_q_norm.weight`),
    headNorm(context, `${name}.key`, key, config.numKvHeads, `blk.${layer}.attn_k_norm.weight`),
  ];
  return [...normed, value];
}

function headNorm(context: GraphContext, name: string, input: Value, numHeads: number, tensorName: string): Value {
  const {graph, config} = context;
  if (config.queryKeyNorm === 'all') return norm(context, `${name}.normed`, input, tensorName);
  const {headSize} = config;
  const byHead = graph.int64Constant(`shape.heads.${numHeads}`, [0, 0, numHeads, headSize]);
  const joined = graph.int64Constant(`shape.joined.${numHeads}`, [0, 0, numHeads * headSize]);
  const heads = graph.node('Reshape', `${name}.heads`, [input, byHead]);
  const normed = norm(context, `${name}.heads.normed`, heads, tensorName);
  return graph.node('Reshape', `${name}.normed`, [normed, joined]);
}
