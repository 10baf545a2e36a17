/** From a weight file to a model folder that ONNX Runtime can load: the entry of the model builder. */
import {ModelError} from '../../../errors.ts';
import {GgufFile} from '../../../model/gguf/gguf-file.ts';
import type {LinearOptions} from './linear.ts';
import {type LlamaConfig, readLlamaConfig} from './llama-config.ts';
import {buildLlamaGraph} from './llama-graph.ts';
import {type CachedModel, cachedModel} from './model-cache.ts';
import {WeightSource} from './weight-source.ts';
import {writeModel} from './write-model.ts';

/** What a runner must know of a built model. */
export interface ModelFacts {
  architecture: string;
  numLayers: number;
  numKvHeads: number;
  headSize: number;
  vocabSize: number;
  contextLength: number;
}

export interface BuildOptions extends LinearOptions {
  /** Null = the user's cache folder. */
  cacheFolder: string | null;
  onProgress: (fraction: number, detail: string) => void;
}

/**
 * @param weightsPath a GGUF file
 * @returns the model's folder, built now or found in the cache
 * @throws ModelError when the file cannot be served
 */
export function builtModel(weightsPath: string, options: BuildOptions): Promise<CachedModel<ModelFacts>> {
  const {weightMapping, activationPrecision, cacheFolder} = options;
  return cachedModel(weightsPath, {weightMapping, activationPrecision}, cacheFolder, async (folder) => {
    const file = await GgufFile.open(weightsPath);
    try {
      return await buildFromGguf(file, folder, options);
    } finally {
      await file.close();
    }
  });
}

async function buildFromGguf(file: GgufFile, folder: string, options: BuildOptions) {
  if (file.architecture !== 'llama') {
    throw new ModelError(
      `${file.path} is of architecture "${file.architecture}", which is not supported. Supported: llama.`,
    );
  }
  const config = readLlamaConfig(file);
  const source = new WeightSource(file);
  const graph = buildLlamaGraph(config, source, options);
  const unused = source.unusedTensors();
  if (unused.length > 0) {
    throw new ModelError(
      `${file.path} has tensors that the llama architecture does not know (${unused.slice(0, 3).join(', ')}${unused.length > 3 ? ', …' : ''}), ` +
        'so its answers would be wrong.',
    );
  }
  const files = await writeModel(graph, folder, (fraction) => options.onProgress(fraction, 'weights'));
  return {facts: toFacts(file.architecture, config), files};
}

function toFacts(architecture: string, config: LlamaConfig): ModelFacts {
  const {numLayers, numKvHeads, headSize, vocabSize, contextLength} = config;
  return {architecture, numLayers, numKvHeads, headSize, vocabSize, contextLength};
}
