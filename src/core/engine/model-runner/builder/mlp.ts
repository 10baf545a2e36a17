/** The gated MLP of a layer: `down(activation(gate(x)) * up(x))`, gate and up as one product. */
import type {Activation} from './decoder-config.ts';
import type {GraphContext} from './graph-context.ts';
import {microsoftDomain, type Value} from './onnx-graph.ts';
import type {AttributeValue} from './onnx-proto.ts';

/** QuickGelu with alpha 1 is SiLU; FastGelu is the tanh form of GELU. */
const activations: Readonly<Record<Activation, {operator: string; attributes: Record<string, AttributeValue>}>> = {
  silu: {operator: 'QuickGelu', attributes: {alpha: {float: 1}}},
  'gelu-tanh': {operator: 'FastGelu', attributes: {}},
};

export function gatedMlp({graph, config, source, linear}: GraphContext, layer: number, input: Value): Value {
  const name = `layer.${layer}.mlp`;
  const gateTensor = `blk.${layer}.ffn_gate.weight`;
  const upTensor = `blk.${layer}.ffn_up.weight`;
  // Files with packed weights have both in one matrix, the gate first.
  const both = linear.product(`${name}.gate_up`, input, source.has(gateTensor) ? [gateTensor, upTensor] : [upTensor]);
  const [gate, up] = graph.nodeWithResults('Split', [`${name}.gate`, `${name}.up`], [both], {
    axis: -1,
    num_outputs: 2,
  }) as [Value, Value];
  const {operator, attributes} = activations[config.activation];
  const activated = graph.node(operator, `${name}.activated`, [gate], attributes, microsoftDomain);
  const gated = graph.node('Mul', `${name}.gated`, [activated, up]);
  return linear.product(`${name}.down`, gated, [`blk.${layer}.ffn_down.weight`]);
}
