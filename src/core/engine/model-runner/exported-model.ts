/** Facts of a model in the Transformers.js layout, and whether its graph is of a kind that can run. */
import {stat} from 'node:fs/promises';
import path from 'node:path';
import {ModelError} from '../../errors.ts';
import {readJsonObject} from '../../util/read-json.ts';
import type {ModelFacts} from './builder/build-model.ts';
import {readHfConfig} from './builder/hf-config.ts';

export function isExported(modelPath: string): boolean {
  return modelPath.toLowerCase().endsWith('.onnx');
}

/**
 * @param modelPath an `.onnx` file in the folder `onnx` of a model
 * @throws ModelError when there is no usable `config.json` one folder up
 */
export async function readExportedFacts(modelPath: string): Promise<{facts: ModelFacts; numBytes: number}> {
  const configPath = path.join(path.dirname(modelPath), '..', 'config.json');
  const content = await readJsonObject(configPath);
  if (content === null) throw new ModelError(`${modelPath} needs ${configPath}, which does not exist.`);
  const {config} = readHfConfig(content, configPath);
  const sizes = await Promise.all([modelPath, `${modelPath}_data`].map((file) => stat(file).catch(() => null)));
  return {
    facts: {
      architecture: config.architecture,
      numLayers: config.layers.length,
      numKvHeads: config.numKvHeads,
      headSize: config.headSize,
      vocabSize: config.vocabSize,
      contextLength: config.contextLength,
      longBeyond: null,
    },
    numBytes: sizes.reduce((sum, found) => sum + (found?.size ?? 0), 0),
  };
}

/** @throws ModelError when the graph is of another layout */
export function checkExportedInputs(inputNames: readonly string[], modelPath: string): void {
  const known = /^(input_ids|attention_mask|past_key_values\.\d+\.(key|value))$/;
  const other = inputNames.find((name) => !known.test(name));
  if (other === undefined && inputNames.includes('attention_mask')) return;
  throw new ModelError(
    `${modelPath} has the input "${other ?? 'none'}": only graphs with GroupQueryAttention and the inputs input_ids, ` +
      'attention_mask and past_key_values.* can be run. Use a newer export, the safetensors or a GGUF file of the model.',
  );
}
