/** The decoder configuration of a GGUF file, from its metadata and its tensors of rotary factors. */
import {ModelError} from '../../../errors.ts';
import type {GgufFile} from '../../../model/gguf/gguf-file.ts';
import {type Architecture, architectureOfGguf, layerOf} from './architectures.ts';
import {checkDecoderConfig, type DecoderConfig, type LayerConfig, maxContext} from './decoder-config.ts';
import {linearDivisors, type RotaryTable, yarnAmplitude, yarnDivisors} from './rotary.ts';
import type {WeightSource} from './weight-source.ts';

const defaultRotaryBase = 10_000;
/** The largest Gemma models scale attention by the width of the hidden state per head. */
const wideGemmaLayers: Readonly<Record<string, number>> = {gemma2: 46, gemma3: 62};

/** Metadata of one architecture: keys without its name in front. */
interface Metadata {
  path: string;
  integer(key: string): number;
  optionalInteger(key: string): number | null;
  optionalNumber(key: string): number | null;
  optionalText(key: string): string | null;
}

/** @throws ModelError when a value is missing, impossible or asks for something that is not supported */
export async function readGgufConfig(file: GgufFile, source: WeightSource): Promise<DecoderConfig> {
  const architecture = architectureOfGguf(file.architecture, file.path);
  const metadata = metadataOf(file);
  const sizes = readSizes(metadata, source);
  const rotary = await readRotary(architecture, metadata, source, sizes);
  const config: DecoderConfig = {
    architecture: architecture.ggufName,
    ...sizes,
    layers: readLayers(architecture, metadata, sizes.contextLength),
    norms: architecture.norms,
    mlpNorm: architecture.mlpNorm,
    normEpsilon: metadata.optionalNumber('attention.layer_norm_rms_epsilon') ?? 1e-5,
    queryKeyNorm: architecture.queryKeyNorm,
    activation: architecture.activation,
    rotatesNeighbours: architecture.ggufRotatesNeighbours,
    ...rotary,
    attentionScale: readAttentionScale(architecture, metadata, sizes),
    attentionSoftCap: metadata.optionalNumber('attn_logit_softcapping'),
    logitSoftCap: metadata.optionalNumber('final_logit_softcapping'),
    embeddingScale:
      metadata.optionalNumber('embedding_scale') ?? (architecture.scalesEmbedding ? Math.sqrt(sizes.hiddenSize) : 1),
    residualScale: metadata.optionalNumber('residual_scale') ?? 1,
    logitScale: 1 / (metadata.optionalNumber('logit_scale') ?? 1),
    mixture: readMixture(architecture, metadata),
  };
  return checkDecoderConfig(config, file.path);
}

function metadataOf(file: GgufFile): Metadata {
  const prefix = file.architecture;
  return {
    path: file.path,
    integer: (key) => file.integer(`${prefix}.${key}`),
    optionalInteger: (key) => file.optionalInteger(`${prefix}.${key}`),
    optionalNumber: (key) => file.optionalNumber(`${prefix}.${key}`),
    optionalText: (key) => file.optionalText(`${prefix}.${key}`),
  };
}

function readSizes(metadata: Metadata, source: WeightSource) {
  const hiddenSize = metadata.integer('embedding_length');
  const numHeads = metadata.integer('attention.head_count');
  return {
    hiddenSize,
    numHeads,
    numKvHeads: metadata.optionalInteger('attention.head_count_kv') ?? numHeads,
    headSize: metadata.optionalInteger('attention.key_length') ?? hiddenSize / numHeads,
    vocabSize: source.tensor('token_embd.weight').shape[1] ?? 0,
    contextLength: Math.min(metadata.integer('context_length'), maxContext),
  };
}

type Sizes = ReturnType<typeof readSizes>;

function readLayers(architecture: Architecture, metadata: Metadata, contextLength: number): LayerConfig[] {
  const numLayers = metadata.integer('block_count');
  if (numLayers > 1000) throw new ModelError(`${metadata.path}: ${numLayers} layers are impossible.`);
  const window = metadata.optionalInteger('attention.sliding_window') || null;
  return Array.from({length: numLayers}, (_, layer) => layerOf(architecture, layer, window, contextLength));
}

async function readRotary(architecture: Architecture, metadata: Metadata, source: WeightSource, sizes: Sizes) {
  const base = metadata.optionalNumber('rope.freq_base') ?? defaultRotaryBase;
  const size = metadata.optionalInteger('rope.dimension_count') ?? sizes.headSize;
  const global = {base, size, ...readScaling(architecture, metadata, base, size)};
  const list = async (name: string) => (source.has(name) ? [...(await source.floats([source.tensor(name)]))] : null);
  const divisors = (await list('rope_freqs.weight')) ?? (await list('rope_factors_short.weight'));
  const long = await list('rope_factors_long.weight');
  const amplitude = metadata.optionalNumber('rope.scaling.attn_factor') ?? global.amplitude;
  const main: RotaryTable = {...global, divisors: divisors ?? global.divisors, amplitude};
  const localBase = metadata.optionalNumber('rope.freq_base_swa') ?? defaultRotaryBase;
  const originalLength = metadata.optionalInteger('rope.scaling.original_context_length') ?? sizes.contextLength;
  return {
    rotary: {
      global: main,
      local: architecture.hasLocalRotary ? {base: localBase, size, divisors: null, amplitude: 1} : null,
    },
    longRotary: long ? {table: {...main, divisors: long}, originalLength} : null,
  };
}

/** Scalings that the metadata describe; factors in tensors come on top. */
function readScaling(architecture: Architecture, metadata: Metadata, base: number, size: number) {
  const type = metadata.optionalText('rope.scaling.type') ?? 'none';
  const factor = metadata.optionalNumber('rope.scaling.factor') ?? 1;
  if (type === 'none' || type === 'longrope') return {divisors: null, amplitude: 1};
  if (type === 'linear') return {divisors: linearDivisors(size, factor), amplitude: 1};
  if (type === 'yarn') {
    const scaling = {
      factor,
      betaFast: metadata.optionalNumber('rope.scaling.yarn_beta_fast') ?? 32,
      betaSlow: metadata.optionalNumber('rope.scaling.yarn_beta_slow') ?? 1,
      originalLength: metadata.integer('rope.scaling.original_context_length'),
      truncates: architecture.ggufName !== 'gpt-oss',
    };
    return {divisors: yarnDivisors(base, size, scaling), amplitude: yarnAmplitude(factor)};
  }
  throw new ModelError(
    `${metadata.path}: rope scaling "${type}" is not supported. Supported: none, linear, yarn, longrope, llama3 (factors in the file).`,
  );
}

function readAttentionScale({ggufName}: Architecture, metadata: Metadata, sizes: Sizes): number | null {
  if (metadata.integer('block_count') === wideGemmaLayers[ggufName]) {
    return 1 / Math.sqrt(sizes.hiddenSize / sizes.numHeads);
  }
  return metadata.optionalNumber('attention.scale');
}

function readMixture({isMixture, ggufName, clampLimit}: Architecture, metadata: Metadata) {
  const numExperts = metadata.optionalInteger('expert_count') ?? 0;
  if (isMixture) {
    return {numExperts, numUsed: metadata.integer('expert_used_count'), normalizesShares: true, clampLimit};
  }
  if (numExperts === 0) return null;
  throw new ModelError(
    `${metadata.path}: mixtures of experts (${numExperts} experts) are not supported for the ${ggufName} architecture.`,
  );
}
