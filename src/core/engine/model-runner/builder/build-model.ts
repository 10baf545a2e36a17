/** From weights to a model folder that ONNX Runtime can load: the entry of the model builder. */
import {ModelError} from '../../../errors.ts';
import {GgufFile} from '../../../model/gguf/gguf-file.ts';
import type {DecoderConfig} from './decoder-config.ts';
import {buildDecoderGraph} from './decoder-graph.ts';
import {readGgufConfig} from './gguf-config.ts';
import {GgufTensors} from './gguf-tensors.ts';
import type {LinearOptions} from './linear.ts';
import {type CachedModel, cachedModel} from './model-cache.ts';
import {type TensorReader, WeightSource} from './weight-source.ts';
import {longModelFileName, modelFileName, writeModel} from './write-model.ts';

/** What a runner must know of a built model. */
export interface ModelFacts {
  architecture: string;
  numLayers: number;
  numKvHeads: number;
  headSize: number;
  vocabSize: number;
  contextLength: number;
  /** Longer sequences need the graph of their own; null = one graph serves all lengths. */
  longBeyond: number | null;
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
      const reader = new GgufTensors(file);
      const source = new WeightSource(reader);
      return await buildModel(await readGgufConfig(file, source), reader, source, folder, options);
    } finally {
      await file.close();
    }
  });
}

async function buildModel(
  config: DecoderConfig,
  reader: TensorReader,
  source: WeightSource,
  folder: string,
  options: BuildOptions,
) {
  const graphs = {
    [modelFileName]: buildDecoderGraph(config, source, options),
    ...(config.longRotary && {[longModelFileName]: buildDecoderGraph(config, source, options, true)}),
  };
  refuseUnused(source.unusedTensors(), config, reader);
  const files = await writeModel(graphs, folder, (fraction) => options.onProgress(fraction, 'weights'));
  return {facts: toFacts(config), files};
}

function refuseUnused(unused: readonly string[], {architecture}: DecoderConfig, {path}: TensorReader): void {
  if (unused.length === 0) return;
  const some = `${unused.slice(0, 3).join(', ')}${unused.length > 3 ? ', …' : ''}`;
  throw new ModelError(
    `${path} has tensors that the ${architecture} architecture does not know (${some}), so its answers would be wrong.`,
  );
}

function toFacts(config: DecoderConfig): ModelFacts {
  const {architecture, layers, numKvHeads, headSize, vocabSize, contextLength, longRotary} = config;
  const longBeyond = longRotary?.originalLength ?? null;
  return {architecture, numLayers: layers.length, numKvHeads, headSize, vocabSize, contextLength, longBeyond};
}
