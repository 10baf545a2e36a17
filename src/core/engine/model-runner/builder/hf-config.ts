/** The decoder configuration of a Hugging Face folder, from its `config.json` in older and newer style. */
import * as z from 'zod';
import {ModelError} from '../../../errors.ts';
import {isWrapped, languageConfigOf} from '../../../model/text-config.ts';
import {type Architecture, architectureOfModelType, layerOf} from './architectures.ts';
import {
  type Activation,
  checkDecoderConfig,
  type DecoderConfig,
  type LayerConfig,
  type MixtureConfig,
  maxContext,
} from './decoder-config.ts';
import {readHfRotary, ropeFieldsSchema, ropeSchema} from './hf-rotary.ts';

const size = z
  .int()
  .min(1)
  .max(2 ** 31);
const optionalSize = size.nullish();
const optionalNumber = z.number().nullish();

/** The keys that matter; all others are left alone. */
const configSchema = z.looseObject({
  model_type: z.string(),
  hidden_size: size,
  num_hidden_layers: size.max(1000),
  num_attention_heads: size,
  num_key_value_heads: optionalSize,
  head_dim: optionalSize,
  vocab_size: size,
  max_position_embeddings: size,
  rms_norm_eps: z.number().min(0).max(1).default(1e-6),
  hidden_act: z.string().nullish(),
  hidden_activation: z.string().nullish(),
  tie_word_embeddings: z.boolean().nullish(),
  sliding_window: optionalSize,
  use_sliding_window: z.boolean().nullish(),
  max_window_layers: z.int().min(0).nullish(),
  sliding_window_pattern: optionalSize,
  layer_types: z.array(z.string()).nullish(),
  no_rope_layers: z.array(z.int()).nullish(),
  no_rope_layer_interval: optionalSize,
  query_pre_attn_scalar: optionalNumber,
  attn_logit_softcapping: optionalNumber,
  final_logit_softcapping: optionalNumber,
  attention_multiplier: optionalNumber,
  embedding_multiplier: optionalNumber,
  residual_multiplier: optionalNumber,
  logits_scaling: optionalNumber,
  quantization_config: z.looseObject({quant_method: z.string().nullish()}).nullish(),
  num_experts: optionalSize,
  num_local_experts: optionalSize,
  num_experts_per_tok: optionalSize,
  swiglu_limit: optionalNumber,
  norm_topk_prob: z.boolean().nullish(),
  decoder_sparse_step: optionalSize,
  mlp_only_layers: z.array(z.int()).nullish(),
  rope_scaling: ropeSchema.nullish(),
  ...ropeFieldsSchema,
});

export type HfConfig = z.infer<typeof configSchema>;

const activations: Readonly<Record<string, Activation>> = {
  silu: 'silu',
  swish: 'silu',
  gelu_pytorch_tanh: 'gelu-tanh',
  gelu_new: 'gelu-tanh',
};

/** What a `config.json` describes. */
export interface HfModel {
  architecture: Architecture;
  config: DecoderConfig;
  isTied: boolean;
  /** It is the language model inside of another model, and its tensors have names of that. */
  isWrapped: boolean;
}

/**
 * @param content of `config.json`
 * @param path of that file, for messages
 * @throws ModelError when a value is missing, impossible or asks for something that is not supported
 */
export function readHfConfig(whole: Record<string, unknown>, path: string): HfModel {
  const content = languageConfigOf(whole, path);
  // The architecture first: a file of another kind lacks other keys, too.
  const architecture = architectureOfModelType(String(content.model_type), path);
  const parsed = configSchema.safeParse(content);
  if (!parsed.success) throw schemaError(parsed.error, path);
  const file = parsed.data;
  refuseQuantized(file, architecture, path);
  const headSize = file.head_dim ?? file.hidden_size / file.num_attention_heads;
  const config: DecoderConfig = {
    architecture: file.model_type,
    hiddenSize: file.hidden_size,
    numHeads: file.num_attention_heads,
    numKvHeads: file.num_key_value_heads ?? file.num_attention_heads,
    headSize,
    vocabSize: file.vocab_size,
    contextLength: Math.min(file.max_position_embeddings, maxContext),
    layers: readLayers(file, architecture),
    norms: architecture.norms,
    mlpNorm: architecture.mlpNorm,
    normEpsilon: file.rms_norm_eps,
    queryKeyNorm: architecture.queryKeyNorm,
    activation: readActivation(file, architecture, path),
    rotatesNeighbours: false,
    ...readHfRotary(file, headSize, architecture.hasLocalRotary, path),
    ...readFactors(file, architecture),
    mixture: readMixture(file, architecture, path),
  };
  const isTied = file.tie_word_embeddings ?? architecture.tiesByDefault;
  return {architecture, config: checkDecoderConfig(config, path), isTied, isWrapped: isWrapped(whole)};
}

function schemaError(error: z.ZodError, path: string): ModelError {
  const [issue] = error.issues;
  return new ModelError(`${path}: ${issue?.path.join('.')}: ${issue?.message}.`, {cause: error});
}

/** Experts in MXFP4 are read as they are. */
function refuseQuantized(
  {quantization_config: quantization}: HfConfig,
  {clampLimit}: Architecture,
  path: string,
): void {
  if (!quantization || (quantization.quant_method === 'mxfp4' && clampLimit !== null)) return;
  throw new ModelError(
    `${path}: weights quantized with "${quantization.quant_method}" are not supported. ` +
      'Use the model in float32, float16 or bfloat16 (with --quantization int8 or int4), or a GGUF file of it.',
  );
}

function readActivation(file: HfConfig, architecture: Architecture, path: string): Activation {
  const name = file.hidden_activation ?? file.hidden_act;
  if (!name) return architecture.activation;
  const known = Object.hasOwn(activations, name) ? activations[name] : undefined;
  if (known) return known;
  throw new ModelError(
    `${path}: activation "${name}" is not supported. Supported: ${Object.keys(activations).join(', ')}.`,
  );
}

function readLayers(file: HfConfig, architecture: Architecture): LayerConfig[] {
  const window = windowOf(file, architecture);
  const firstWindowLayer = architecture.windowIsOptional && !file.layer_types ? (file.max_window_layers ?? 0) : 0;
  return Array.from({length: file.num_hidden_layers}, (_, layer) =>
    layerOf(
      {...architecture, ...kindOfLayer(file, architecture, layer)},
      layer,
      layer >= firstWindowLayer ? window : null,
      file.max_position_embeddings,
    ),
  );
}

/** What the lists of the file say of one layer, or the period where there is no list. */
function kindOfLayer(file: HfConfig, architecture: Architecture, layer: number) {
  const type = file.layer_types?.[layer];
  const rotates = file.no_rope_layers?.[layer];
  const globalEvery = file.sliding_window_pattern ?? architecture.globalEvery;
  const noRotaryEvery = file.no_rope_layer_interval ?? architecture.noRotaryEvery;
  return {
    globalEvery: type === undefined ? globalEvery : type === 'sliding_attention' ? null : 1,
    noRotaryEvery: rotates === undefined ? noRotaryEvery : rotates === 0 ? 1 : null,
  };
}

function windowOf(file: HfConfig, {windowIsOptional}: Architecture): number | null {
  const isUsed = file.use_sliding_window ?? !windowIsOptional;
  return isUsed ? (file.sliding_window ?? null) : null;
}

function readMixture(file: HfConfig, {isMixture, clampLimit}: Architecture, path: string): MixtureConfig | null {
  if (!isMixture) return null;
  const isPlain = (file.decoder_sparse_step ?? 1) === 1 && !file.mlp_only_layers?.length;
  const numExperts = file.num_experts ?? file.num_local_experts;
  if (!isPlain || !numExperts || !file.num_experts_per_tok) {
    throw new ModelError(
      `${path}: only mixtures with num_experts and num_experts_per_tok in every layer are supported.`,
    );
  }
  const limit = clampLimit === null ? null : (file.swiglu_limit ?? clampLimit);
  // gpt_oss knows no other way.
  const normalizesShares = file.norm_topk_prob === true || clampLimit !== null;
  return {numExperts, numUsed: file.num_experts_per_tok, normalizesShares, clampLimit: limit};
}

function readFactors(file: HfConfig, {scalesEmbedding}: Architecture) {
  const scalar = file.query_pre_attn_scalar;
  return {
    attentionScale: file.attention_multiplier ?? (scalar ? 1 / Math.sqrt(scalar) : null),
    attentionSoftCap: file.attn_logit_softcapping ?? null,
    logitSoftCap: file.final_logit_softcapping ?? null,
    embeddingScale: file.embedding_multiplier ?? (scalesEmbedding ? Math.sqrt(file.hidden_size) : 1),
    residualScale: file.residual_multiplier ?? 1,
    logitScale: 1 / (file.logits_scaling ?? 1),
  };
}
