/** From weights to a model folder that ONNX Runtime can load: the entry of the model builder. */
import {stat} from 'node:fs/promises';
import path from 'node:path';
import {ModelError} from '../../../errors.ts';
import {GgufFile} from '../../../model/gguf/gguf-file.ts';
import {ggufPartsOf} from '../../../model/gguf/gguf-parts.ts';
import {SafetensorsFolder, weightFilesOf} from '../../../model/safetensors/safetensors-folder.ts';
import {readJsonObject} from '../../../util/read-json.ts';
import {checkShapes} from './check-shapes.ts';
import type {DecoderConfig} from './decoder-config.ts';
import {buildDecoderGraph, type GraphVariant} from './decoder-graph.ts';
import {readGgufConfig} from './gguf-config.ts';
import {GgufTensors} from './gguf-tensors.ts';
import {readHfConfig} from './hf-config.ts';
import {HfTensors, type Quantization} from './hf-tensors.ts';
import type {LinearOptions} from './linear.ts';
import {type CachedModel, cachedModel} from './model-cache.ts';
import {type TensorReader, WeightSource} from './weight-source.ts';
import {addGraph, longModelFileName, modelFileName, writeModel} from './write-model.ts';

const configName = 'config.json';

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
  /** Attention bounds its scores, which not every device can. */
  needsSoftCap: boolean;
}

export interface BuildOptions extends LinearOptions {
  /** Of float weights on load; the blocks of a GGUF file stay as they are. */
  quantization: Quantization;
  /** Null = the user's cache folder. */
  cacheFolder: string | null;
  onProgress: (fraction: number, detail: string) => void;
}

/**
 * @param weightsPath a GGUF file, or a folder with `config.json` and safetensors
 * @returns the model's folder, built now or found in the cache
 * @throws ModelError when the model cannot be served
 */
export async function builtModel(weightsPath: string, options: BuildOptions): Promise<CachedModel<ModelFacts>> {
  const {weightMapping, activationPrecision, quantization, cacheFolder, floatType, isForCpu} = options;
  const isFolder = (await stat(weightsPath).catch(() => null))?.isDirectory() ?? false;
  const key = {
    weightMapping,
    activationPrecision,
    ...(isFolder && {quantization}),
    ...(floatType !== 'float32' && {floatType}),
    ...(!isForCpu && {isForCpu}),
  };
  const sources = isFolder
    ? [path.join(weightsPath, configName), ...(await weightFilesOf(weightsPath))]
    : await ggufPartsOf(weightsPath);
  return cachedModel(sources, key, cacheFolder, (folder) =>
    withWeights(weightsPath, quantization, (weights) => buildModel(weights, folder, options)),
  );
}

/**
 * Adds a graph in turns to a built model, unless it is there already.
 * @returns path of the graph
 */
export async function graphInTurns(
  weightsPath: string,
  {folder}: CachedModel<ModelFacts>,
  variant: GraphVariant,
  options: Omit<BuildOptions, 'cacheFolder' | 'onProgress'>,
): Promise<string> {
  const name = `model.${variant.isLong ? 'long.' : ''}turns-${variant.numTurns}.onnx`;
  const file = path.join(folder, name);
  if ((await stat(file).catch(() => null)) !== null) return file;
  await withWeights(weightsPath, options.quantization, async ({config, source}) =>
    addGraph(buildDecoderGraph(config, source, options, variant), folder, name),
  );
  return file;
}

interface OpenWeights {
  config: DecoderConfig;
  reader: TensorReader;
  source: WeightSource;
}

/** Opens the weights of a model for as long as `use` takes. */
async function withWeights<T>(
  weightsPath: string,
  quantization: Quantization,
  use: (weights: OpenWeights) => Promise<T>,
): Promise<T> {
  const isFolder = (await stat(weightsPath)).isDirectory();
  return isFolder ? withFolder(weightsPath, quantization, use) : withGguf(weightsPath, use);
}

async function withGguf<T>(weightsPath: string, use: (weights: OpenWeights) => Promise<T>): Promise<T> {
  const file = await GgufFile.open(weightsPath);
  try {
    const reader = new GgufTensors(file);
    const source = new WeightSource(reader);
    return await use(checked({config: await readGgufConfig(file, source), reader, source}));
  } finally {
    await file.close();
  }
}

async function withFolder<T>(
  weightsPath: string,
  quantization: Quantization,
  use: (weights: OpenWeights) => Promise<T>,
): Promise<T> {
  const configPath = path.join(weightsPath, configName);
  const {config, ...model} = readHfConfig((await readJsonObject(configPath)) ?? {}, configPath);
  const weights = await SafetensorsFolder.open(weightsPath);
  try {
    const reader = new HfTensors(weights, {...model, quantization});
    return await use(checked({config, reader, source: new WeightSource(reader)}));
  } finally {
    await weights.close();
  }
}

function checked(weights: OpenWeights): OpenWeights {
  checkShapes(weights.config, weights.reader.tensors, weights.reader.path);
  return weights;
}

async function buildModel({config, reader, source}: OpenWeights, folder: string, options: BuildOptions) {
  const graphs = {
    [modelFileName]: buildDecoderGraph(config, source, options),
    ...(config.longRotary && {
      [longModelFileName]: buildDecoderGraph(config, source, options, {isLong: true, numTurns: null}),
    }),
  };
  refuseUnused(source.unusedTensors(), config, reader);
  const files = await writeModel(graphs, folder, (fraction) => options.onProgress(fraction, 'weights'));
  return {facts: toFacts(config), files};
}

function refuseUnused(unused: readonly string[], {architecture}: DecoderConfig, reader: TensorReader): void {
  if (unused.length === 0) return;
  const some = `${unused.slice(0, 3).join(', ')}${unused.length > 3 ? ', …' : ''}`;
  throw new ModelError(
    `${reader.path} has tensors that the ${architecture} architecture does not know (${some}), so its answers would be wrong.`,
  );
}

function toFacts(config: DecoderConfig): ModelFacts {
  const {architecture, layers, numKvHeads, headSize, vocabSize, contextLength, longRotary} = config;
  const longBeyond = longRotary?.originalLength ?? null;
  const needsSoftCap = config.attentionSoftCap !== null;
  const numLayers = layers.length;
  return {architecture, numLayers, numKvHeads, headSize, vocabSize, contextLength, longBeyond, needsSoftCap};
}
