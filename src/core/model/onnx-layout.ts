/**
 * The file names of the Transformers.js layout: `onnx/model<suffix>.onnx`, a suffix for each data type, and data files
 * beside a graph that is too large for one file. Pure.
 */
import type {DtypeName} from '../config/model-source-options.ts';
import {ModelError} from '../errors.ts';

/** Data type -> names of its graph, the usual one first. Older exports call 8 bits "quantized". */
export const graphDtypes: Readonly<Record<string, readonly string[]>> = {
  fp32: ['model.onnx'],
  fp16: ['model_fp16.onnx'],
  q8: ['model_quantized.onnx'],
  int8: ['model_int8.onnx', 'model_quantized.onnx'],
  uint8: ['model_uint8.onnx'],
  q4: ['model_q4.onnx'],
  q4f16: ['model_q4f16.onnx'],
  bnb4: ['model_bnb4.onnx'],
};

/** Names of vLLM for two of them. */
const aliases: Readonly<Record<string, string>> = {float32: 'fp32', float: 'fp32', float16: 'fp16', half: 'fp16'};

/** Taken in this order when no type is named: exact first, then what the CPU computes quickly. */
const preference = ['fp32', 'q4', 'q8', 'int8', 'uint8', 'fp16', 'q4f16', 'bnb4'];

/**
 * @param names of the files in the folder `onnx`
 * @param model for messages
 * @throws ModelError when there is no graph of this type
 */
export function chooseGraph(names: readonly string[], dtype: DtypeName, model: string): string {
  const wanted = dtype === 'auto' ? preference : [aliases[dtype] ?? dtype];
  const found = wanted.flatMap((type) => graphDtypes[type] ?? []).find((name) => names.includes(name));
  if (found !== undefined) return found;
  const there = Object.keys(graphDtypes).filter((type) => graphDtypes[type]?.some((name) => names.includes(name)));
  const graphs = names.filter((name) => name.endsWith('.onnx'));
  throw new ModelError(
    there.length > 0
      ? `${model} has no graph for --dtype ${dtype}. It has: ${there.join(', ')}.`
      : `${model} has no graph with a name that is known (${Object.values(graphDtypes).flat().join(', ')}), only ${graphs.slice(0, 5).join(', ') || 'none'}.`,
  );
}

/** Files that belong to a graph: `model.onnx_data`, `model.onnx_data_1`, `model.onnx.data`. */
export function dataFilesOf(graphPath: string, paths: readonly string[]): string[] {
  return paths.filter(
    (path) => path.startsWith(graphPath) && /^(?:_data(?:_\d+)?|\.data)$/.test(path.slice(graphPath.length)),
  );
}
