/** Dimensions of a model of the llama architecture, from the metadata of its GGUF file. */
import {ModelError} from '../../../errors.ts';
import type {GgufFile} from '../../../model/gguf/gguf-file.ts';

export interface LlamaConfig {
  numLayers: number;
  hiddenSize: number;
  numHeads: number;
  numKvHeads: number;
  headSize: number;
  /** Dimensions of a head that are rotated; the rest passes. */
  rotarySize: number;
  ropeBase: number;
  /** All positions are divided by it (linear scaling); 1 = none. */
  ropeScale: number;
  normEpsilon: number;
  /** Positions that the model was made for. */
  contextLength: number;
  vocabSize: number;
}

const defaultRopeBase = 10_000;

/** @throws ModelError when a value is missing, impossible or asks for something that is not supported */
export function readLlamaConfig(file: GgufFile): LlamaConfig {
  const integer = (key: string) => file.integer(`llama.${key}`);
  const optional = (key: string) => file.optionalInteger(`llama.${key}`);
  const hiddenSize = integer('embedding_length');
  const numHeads = integer('attention.head_count');
  const headSize = optional('attention.key_length') ?? hiddenSize / numHeads;
  const config: LlamaConfig = {
    numLayers: integer('block_count'),
    hiddenSize,
    numHeads,
    numKvHeads: optional('attention.head_count_kv') ?? numHeads,
    headSize,
    rotarySize: optional('rope.dimension_count') ?? headSize,
    ropeBase: file.optionalNumber('llama.rope.freq_base') ?? defaultRopeBase,
    ropeScale: readRopeScale(file),
    normEpsilon: file.optionalNumber('llama.attention.layer_norm_rms_epsilon') ?? 1e-5,
    contextLength: integer('context_length'),
    vocabSize: file.tensor('token_embd.weight').shape[1] ?? 0,
  };
  refuseUnsupported(file, config);
  return config;
}

function readRopeScale(file: GgufFile): number {
  const type = file.optionalText('llama.rope.scaling.type') ?? 'none';
  if (type === 'none') return 1;
  if (type === 'linear') return file.optionalNumber('llama.rope.scaling.factor') ?? 1;
  throw new ModelError(
    `${file.path}: rope scaling "${type}" is not supported. Supported: none, linear, llama3 (factors in the file).`,
  );
}

function refuseUnsupported(file: GgufFile, config: LlamaConfig): void {
  const refuse = (what: string): never => {
    throw new ModelError(`${file.path}: ${what}.`);
  };
  const numExperts = file.optionalInteger('llama.expert_count') ?? 0;
  if (numExperts > 0)
    refuse(`mixtures of experts (${numExperts} experts) are not supported for the llama architecture`);
  if (!Number.isInteger(config.headSize) || config.headSize % 8 !== 0)
    refuse(`head size ${config.headSize} is not a multiple of 8`);
  if (config.numKvHeads === 0 || config.numHeads % config.numKvHeads !== 0) {
    refuse(`${config.numHeads} heads cannot share ${config.numKvHeads} key/value heads`);
  }
  if (config.rotarySize % 16 !== 0 || config.rotarySize > config.headSize)
    refuse(`rotary size ${config.rotarySize} is not supported`);
  if (config.numLayers === 0 || config.numLayers > 1000) refuse(`${config.numLayers} layers are impossible`);
}
