/**
 * A mixture of experts with float weights as one operator of the CPU that computes only the experts that the router chose.
 * It wants the rows of gate and up in turn, in one matrix. See decision 0012.
 */
import type {MixtureConfig} from './decoder-config.ts';
import type {GraphContext} from './graph-context.ts';
import {microsoftDomain, type Value} from './onnx-graph.ts';
import type {WeightTensor} from './weight-source.ts';

const tensorName = (layer: number, part: string) => `blk.${layer}.ffn_${part}_exps.weight`;

/** The operator's shares sum to 1. */
export function canBeSparse(
  {graph, source, linear}: GraphContext,
  {normalizesShares, clampLimit}: MixtureConfig,
  layer: number,
): boolean {
  const isFloat = ['gate', 'up', 'down'].every((part) => source.tensor(tensorName(layer, part)).layout === null);
  return linear.isForCpu && graph.floatType === 'float32' && normalizesShares && clampLimit === null && isFloat;
}

export function sparseExperts(context: GraphContext, mixture: MixtureConfig, layer: number, input: Value): Value {
  const {graph, source, linear} = context;
  const name = `layer.${layer}.experts`;
  const logits = linear.product(`${name}.router`, input, [`blk.${layer}.ffn_gate_inp.weight`]);
  const flat = graph.int64Constant('shape.router', [-1, mixture.numExperts]);
  const router = graph.node('Reshape', `${name}.router.flat`, [logits, flat]);
  const gateUp = source.interleaved(tensorName(layer, 'gate'), tensorName(layer, 'up'));
  const gateUpWeight = expertWeights(context, `${name}.gate_up`, gateUp);
  const down = expertWeights(context, `${name}.down`, source.tensor(tensorName(layer, 'down')));
  const attributes = {
    activation_type: {text: 'swiglu'},
    swiglu_fusion: 1,
    activation_alpha: {float: 1},
    activation_beta: {float: 0},
    k: mixture.numUsed,
    normalize_routing_weights: 1,
  };
  return graph.node('MoE', name, [input, router, gateUpWeight, '', down], attributes, microsoftDomain);
}

/** `[experts, rows, columns]` */
function expertWeights({graph, source}: GraphContext, name: string, tensor: WeightTensor): Value {
  const [columns = 0, rows = 0, numExperts = 0] = tensor.shape;
  return graph.floats(`${name}.weight`, [numExperts, rows, columns], () => source.floats([tensor]));
}
