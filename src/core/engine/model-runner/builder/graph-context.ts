/** What the parts of a decoder graph share while it is built, and the small pieces that several of them use. */
import type {DecoderConfig} from './decoder-config.ts';
import type {LinearBuilder} from './linear.ts';
import {microsoftDomain, type OnnxGraph, type Value} from './onnx-graph.ts';
import type {WeightSource} from './weight-source.ts';

export interface GraphContext {
  graph: OnnxGraph;
  config: DecoderConfig;
  source: WeightSource;
  linear: LinearBuilder;
  /** Most tokens of one row in a step of a graph in turns; null = the ordinary graph. */
  numTurns: number | null;
}

/** A vector of the model as a weight of the graph. */
function vectorWeight({graph, source}: GraphContext, name: string, tensorName: string): Value {
  const tensor = source.tensor(tensorName);
  return graph.floats(name, [tensor.shape[0] ?? 0], () => source.floats([tensor]));
}

/** Root-mean-square norm over the last dimension. */
export function norm(context: GraphContext, name: string, input: Value, tensorName: string): Value {
  const {graph, config} = context;
  const attributes = {axis: -1, epsilon: {float: config.normEpsilon}, stash_type: 1};
  const weight = vectorWeight(context, `${name}.norm_weight`, tensorName);
  return graph.node('SimplifiedLayerNormalization', name, [input, weight], attributes);
}

/** Adds to the residual and norms the sum, in one operator. */
export function addAndNorm(
  context: GraphContext,
  name: string,
  residual: Value,
  delta: Value,
  tensorName: string,
): {normed: Value; residual: Value} {
  const weight = vectorWeight(context, `${name}.norm_weight`, tensorName);
  const [normed, , , sum] = context.graph.nodeWithResults(
    'SkipSimplifiedLayerNormalization',
    [name, '', '', `${name}.residual`],
    [residual, delta, weight],
    {epsilon: {float: context.config.normEpsilon}},
    microsoftDomain,
  );
  return {normed: normed as Value, residual: sum as Value};
}

/** `input * factor`; the input itself for 1. */
export function scaled({graph}: GraphContext, name: string, input: Value, factor: number): Value {
  if (factor === 1) return input;
  return graph.node('Mul', name, [input, graph.floatConstant(`factor.${factor}`, factor)]);
}
