/**
 * A mixture of experts. Where the runtime has an operator for the way that the weights are stored, only the chosen experts
 * are computed (`sparse-experts.ts`). Otherwise as three products over all experts at once: every expert is computed, and those that the router
 * did not choose count zero. Exact and simple; the price is the work of all experts for every token.
 */
import type {MixtureConfig} from './decoder-config.ts';
import type {GraphContext} from './graph-context.ts';
import {microsoftDomain, type Value} from './onnx-graph.ts';
import {canBeSparse, sparseExperts} from './sparse-experts.ts';

/** Of the gate in the clamped form. */
const clampedAlpha = 1.702;

export function mixtureOfExperts(context: GraphContext, mixture: MixtureConfig, layer: number, input: Value): Value {
  if (canBeSparse(context, mixture, layer)) return sparseExperts(context, mixture, layer, input);
  const {graph, source, linear} = context;
  const name = `layer.${layer}.experts`;
  const shares = expertShares(context, mixture, layer, input);
  const gate = linear.product(`${name}.gate`, input, [`blk.${layer}.ffn_gate_exps.weight`]);
  const up = linear.product(`${name}.up`, input, [`blk.${layer}.ffn_up_exps.weight`]);
  const gated =
    mixture.clampLimit === null
      ? plainGate(context, name, gate, up)
      : clampedGate(context, name, gate, up, mixture.clampLimit);
  const down = source.mergedExperts(`blk.${layer}.ffn_down_exps.weight`);
  const width = down.shape[0] ?? 0;
  const byExpert = graph.int64Constant('shape.experts', [0, 0, mixture.numExperts, width / mixture.numExperts]);
  const parts = graph.node('Reshape', `${name}.parts`, [gated, byExpert]);
  const lastAxis = graph.int64Constant('axis.last', [-1]);
  const column = graph.node('Unsqueeze', `${name}.shares.column`, [shares, lastAxis]);
  const weighted = graph.node('Mul', `${name}.weighted`, [parts, column]);
  const joined = graph.node('Reshape', `${name}.joined`, [
    weighted,
    graph.int64Constant('shape.experts.joined', [0, 0, width]),
  ]);
  const sum = linear.productOf(`${name}.down`, joined, [down]);
  return addDownBias(context, layer, sum, shares);
}

/** `[batch, sequence, experts]`: softmax over the chosen ones (or over all), zero for those that are not chosen. */
function expertShares(
  {graph, linear}: GraphContext,
  {numExperts, numUsed, normalizesShares}: MixtureConfig,
  layer: number,
  input: Value,
): Value {
  const name = `layer.${layer}.router`;
  const logits = linear.product(`${name}.logits`, input, [`blk.${layer}.ffn_gate_inp.weight`]);
  const scores = normalizesShares ? logits : graph.node('Softmax', `${name}.scores`, [logits], {axis: -1});
  const count = graph.int64Constant('experts.used', [numUsed]);
  const [best, chosen] = graph.nodeWithResults('TopK', [`${name}.best`, `${name}.chosen`], [scores, count], {
    axis: -1,
  }) as [Value, Value];
  const shares = normalizesShares ? graph.node('Softmax', `${name}.shares`, [best], {axis: -1}) : best;
  const zeros = graph.node('Mul', `${name}.zeros`, [logits, graph.floatConstant('zero', 0)]);
  return graph.node('ScatterElements', `${name}.spread.${numExperts}`, [zeros, chosen, shares], {axis: -1});
}

function plainGate({graph}: GraphContext, name: string, gate: Value, up: Value): Value {
  const activated = graph.node('QuickGelu', `${name}.activated`, [gate], {alpha: {float: 1}}, microsoftDomain);
  return graph.node('Mul', `${name}.gated`, [activated, up]);
}

/** `(up + 1) * gate * sigmoid(1.702 * gate)` of bounded values. */
function clampedGate({graph}: GraphContext, name: string, gate: Value, up: Value, limit: number): Value {
  const highest = graph.floatConstant('experts.limit', limit);
  const lowest = graph.floatConstant('experts.limit.negative', -limit);
  const boundedGate = graph.node('Clip', `${name}.gate.bounded`, [gate, '', highest]);
  const boundedUp = graph.node('Clip', `${name}.up.bounded`, [up, lowest, highest]);
  const attributes = {alpha: {float: clampedAlpha}};
  const activated = graph.node('QuickGelu', `${name}.activated`, [boundedGate], attributes, microsoftDomain);
  const moved = graph.node('Add', `${name}.up.moved`, [boundedUp, graph.floatConstant('one', 1)]);
  return graph.node('Mul', `${name}.gated`, [activated, moved]);
}

/** Each expert's bias counts by its share. */
function addDownBias({graph, config, source}: GraphContext, layer: number, sum: Value, shares: Value): Value {
  const tensorName = `blk.${layer}.ffn_down_exps.bias`;
  if (!source.has(tensorName)) return sum;
  const tensor = source.tensor(tensorName);
  const name = `layer.${layer}.experts.down_bias`;
  const dims = [tensor.shape[1] ?? 0, config.hiddenSize];
  const biases = graph.floats(name, dims, () => source.floats([tensor]));
  return graph.node('Add', `${name}.sum`, [sum, graph.node('MatMul', `${name}.shared`, [shares, biases])]);
}
