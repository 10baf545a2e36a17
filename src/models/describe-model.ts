/**
 * What there is to know of a model before it is started: kind and size of its weights, how they are stored, context,
 * tokenizer, template, and the formats in which it writes thoughts and tool calls. Reads headers only.
 */
import {readdir, stat} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import {GgufFile} from '../core/model/gguf/gguf-file.ts';
import {loadModelConfig} from '../core/model/model-config.ts';
import {dataFilesOf} from '../core/model/onnx-layout.ts';
import type {ModelFiles} from '../core/model/resolve-model.ts';
import {SafetensorsFolder, weightFilesOf} from '../core/model/safetensors/safetensors-folder.ts';
import {detectFormats} from '../core/parsers/detect-formats.ts';
import {findChatTemplates} from '../core/renderer/find-chat-template.ts';

export interface WeightFacts {
  kind: 'gguf' | 'safetensors' | 'onnx';
  files: string[];
  numBytes: number;
  /** Null = the file does not say. */
  architecture: string | null;
  contextLength: number | null;
  /** Null = not counted. */
  numParameters: number | null;
  /** How many tensors there are of each type. */
  tensorTypes: Record<string, number>;
}

export interface ModelDescription extends WeightFacts {
  name: string;
  folder: string;
  template: {source: string; names: string[]} | null;
  /** What `auto` would choose; null = none. */
  toolCallParser: string | null;
  reasoningParser: string | null;
}

/** @throws ModelError when a file is damaged */
export async function describeModel(files: ModelFiles): Promise<ModelDescription> {
  const weights = await describeWeights(files);
  const {named, source} = await findChatTemplates(files, null);
  const formats = detectFormats([...named.values()].join('\n'));
  return {
    name: files.displayName,
    folder: files.folder,
    ...weights,
    template: named.size === 0 ? null : {source, names: [...named.keys()]},
    toolCallParser: named.size === 0 ? null : formats.tool,
    reasoningParser: named.size === 0 ? null : formats.reasoning,
  };
}

async function describeWeights(files: ModelFiles): Promise<WeightFacts> {
  if (files.weightsPath === files.folder) return describeSafetensors(files);
  return files.weightsPath.endsWith('.onnx') ? describeGraph(files) : describeGguf(files.weightsPath);
}

async function describeGguf(path: string): Promise<WeightFacts> {
  const file = await GgufFile.open(path);
  try {
    const tensors = [...file.tensors.values()];
    return {
      kind: 'gguf',
      files: file.paths.map((part) => basename(part)),
      numBytes: file.numBytes,
      architecture: file.architecture,
      contextLength: file.optionalInteger(`${file.architecture}.context_length`),
      numParameters: countParameters(tensors),
      tensorTypes: countTypes(tensors.map(({type}) => type.name)),
    };
  } finally {
    await file.close();
  }
}

async function describeSafetensors(files: ModelFiles): Promise<WeightFacts> {
  const {modelType, maxPositionEmbeddings} = await loadModelConfig(files.configPath);
  const paths = await weightFilesOf(files.folder);
  const folder = await SafetensorsFolder.open(files.folder);
  try {
    return {
      kind: 'safetensors',
      ...(await filesAndBytes(paths)),
      architecture: modelType,
      contextLength: maxPositionEmbeddings,
      numParameters: countParameters(folder.tensors),
      tensorTypes: countTypes(folder.tensors.map(({type}) => type)),
    };
  } finally {
    await folder.close();
  }
}

async function describeGraph({weightsPath, configPath}: ModelFiles): Promise<WeightFacts> {
  const {modelType, maxPositionEmbeddings} = await loadModelConfig(configPath);
  const folder = dirname(weightsPath);
  const all = (await readdir(folder)).map((name) => `${folder}/${name}`);
  return {
    kind: 'onnx',
    ...(await filesAndBytes([weightsPath, ...dataFilesOf(weightsPath, all)])),
    architecture: modelType,
    contextLength: maxPositionEmbeddings,
    numParameters: null,
    tensorTypes: {},
  };
}

async function filesAndBytes(paths: readonly string[]): Promise<Pick<WeightFacts, 'files' | 'numBytes'>> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  return {files: paths.map((path) => basename(path)), numBytes: sizes.reduce((sum, size) => sum + size, 0)};
}

function countParameters(tensors: readonly {shape: readonly number[]}[]): number {
  return tensors.reduce((sum, {shape}) => sum + shape.reduce((product, size) => product * size, 1), 0);
}

function countTypes(types: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a));
}
