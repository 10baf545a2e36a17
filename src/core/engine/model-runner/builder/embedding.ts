/** Token ids to vectors: rows of a float table, or of quantized blocks that are unpacked as they are gathered. */
import type {BlockLayout} from '../../../model/gguf/block-formats.ts';
import {type GraphContext, scaled} from './graph-context.ts';
import {addBlockWeights} from './linear.ts';
import {microsoftDomain, type Value} from './onnx-graph.ts';
import type {WeightTensor} from './weight-source.ts';

export const embeddingTensor = 'token_embd.weight';

/** @returns `[batch, sequence, hidden]` */
export function embedding(context: GraphContext): Value {
  const tensor = context.source.tensor(embeddingTensor);
  const rows = tensor.layout ? blockEmbedding(context, tensor, tensor.layout) : floatEmbedding(context, tensor);
  return scaled(context, 'embedding.scaled', rows, context.config.embeddingScale);
}

function floatEmbedding({graph, config, source}: GraphContext, tensor: WeightTensor): Value {
  const dims = [config.vocabSize, config.hiddenSize];
  const table = graph.floats('embedding.table', dims, () => source.floats([tensor]));
  return graph.node('Gather', 'embedding', [table, 'input_ids'], {axis: 0});
}

function blockEmbedding(context: GraphContext, tensor: WeightTensor, layout: BlockLayout): Value {
  const {graph, source, config} = context;
  const {bits, blockSize, hasCorrections} = layout;
  const blocksPerRow = config.hiddenSize / blockSize;
  const {quants, scales} = addBlockWeights(graph, source, 'embedding', [tensor], {
    quants: [config.vocabSize, (config.hiddenSize * bits) / 8],
    scales: [config.vocabSize, blocksPerRow],
  });
  const rows = graph.node(
    'GatherBlockQuantized',
    hasCorrections ? 'embedding.main' : 'embedding',
    [quants, 'input_ids', scales],
    {bits, block_size: blockSize, gather_axis: 0, quantize_axis: 1},
    microsoftDomain,
  );
  return hasCorrections ? addCorrections(context, rows, tensor, blockSize) : rows;
}

/** Adds the part of each block that does not depend on its bits. */
function addCorrections(
  {graph, config, source}: GraphContext,
  rows: Value,
  tensor: WeightTensor,
  blockSize: number,
): Value {
  const {vocabSize, hiddenSize} = config;
  const blocksPerRow = hiddenSize / blockSize;
  const table = graph.floats(
    'embedding.corrections',
    [vocabSize, blocksPerRow, 1],
    async () => (await source.blocks([tensor])).corrections as Float32Array,
  );
  const corrections = graph.node('Gather', 'embedding.correction', [table, 'input_ids'], {axis: 0});
  const inBlocks = graph.int64Constant('shape.embedding.blocks', [0, 0, blocksPerRow, blockSize]);
  const blocks = graph.node('Reshape', 'embedding.blocks', [rows, inBlocks]);
  const sum = graph.node('Add', 'embedding.sum', [blocks, corrections]);
  return graph.node('Reshape', 'embedding', [sum, graph.int64Constant('shape.embedding', [0, 0, hiddenSize])]);
}
