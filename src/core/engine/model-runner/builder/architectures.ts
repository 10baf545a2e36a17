/**
 * The decoder architectures, one description each. A description says in what a family differs from the plain form (norms
 * before each part, SiLU, all positions rotated, every token seen); dimensions and numbers come from the file.
 */
import {ModelError} from '../../../errors.ts';
import type {Activation, LayerConfig, NormPlacement} from './decoder-config.ts';

export interface Architecture {
  /** `general.architecture` of GGUF files and `model_type` of `config.json`. */
  ggufName: string;
  modelTypes: readonly string[];
  norms: NormPlacement;
  queryKeyNorm: 'none' | 'head' | 'all';
  activation: Activation;
  /** GGUF files have q and k rows permuted for rotation of neighbouring pairs. */
  ggufRotatesNeighbours: boolean;
  /** Norm weights in Hugging Face files are stored without the 1 that is added to them. */
  hfNormsAddOne: boolean;
  /** Embeddings are multiplied by the root of the hidden size. */
  scalesEmbedding: boolean;
  /** Every n-th layer sees all tokens, the others a window; null = all layers alike. */
  globalEvery: number | null;
  /** Layers with a window have a rotary table of their own. */
  hasLocalRotary: boolean;
  /** Every n-th layer has no rotary; null = all have it. */
  noRotaryEvery: number | null;
  /** The head is the embedding when `config.json` does not say. */
  tiesByDefault: boolean;
  /** `sliding_window` of `config.json` counts only when `use_sliding_window` says so, from `max_window_layers` on. */
  windowIsOptional: boolean;
  isMixture: boolean;
  /** Bound of the clamped SwiGLU of the experts; null = plain. */
  clampLimit: number | null;
  /** Tensor of the norm before the MLP, in GGUF files. */
  mlpNorm: 'ffn_norm' | 'post_attention_norm';
}

const plain = {
  norms: 'before',
  queryKeyNorm: 'none',
  activation: 'silu',
  ggufRotatesNeighbours: false,
  hfNormsAddOne: false,
  scalesEmbedding: false,
  globalEvery: null,
  hasLocalRotary: false,
  noRotaryEvery: null,
  tiesByDefault: false,
  windowIsOptional: false,
  isMixture: false,
  clampLimit: null,
  mlpNorm: 'ffn_norm',
} as const;

const gemma = {
  ...plain,
  norms: 'around',
  activation: 'gelu-tanh',
  hfNormsAddOne: true,
  scalesEmbedding: true,
  tiesByDefault: true,
} as const;

const architectures: readonly Architecture[] = [
  {...plain, ggufName: 'llama', modelTypes: ['llama', 'mistral'], ggufRotatesNeighbours: true},
  {...plain, ggufName: 'qwen2', modelTypes: ['qwen2'], windowIsOptional: true},
  {...plain, ggufName: 'qwen3', modelTypes: ['qwen3'], queryKeyNorm: 'head', windowIsOptional: true},
  {
    ...plain,
    ggufName: 'qwen3moe',
    modelTypes: ['qwen3_moe'],
    queryKeyNorm: 'head',
    windowIsOptional: true,
    isMixture: true,
  },
  {
    ...plain,
    ggufName: 'gpt-oss',
    modelTypes: ['gpt_oss'],
    globalEvery: 2,
    isMixture: true,
    clampLimit: 7,
    mlpNorm: 'post_attention_norm',
  },
  {...plain, ggufName: 'phi3', modelTypes: ['phi3']},
  {...gemma, ggufName: 'gemma2', modelTypes: ['gemma2'], globalEvery: 2},
  {
    ...gemma,
    ggufName: 'gemma3',
    modelTypes: ['gemma3_text'],
    queryKeyNorm: 'head',
    globalEvery: 6,
    hasLocalRotary: true,
  },
  {...plain, ggufName: 'granite', modelTypes: ['granite'], ggufRotatesNeighbours: true},
  {
    ...plain,
    ggufName: 'smollm3',
    modelTypes: ['smollm3'],
    ggufRotatesNeighbours: true,
    noRotaryEvery: 4,
    tiesByDefault: true,
    windowIsOptional: true,
  },
  {...plain, ggufName: 'olmo2', modelTypes: ['olmo2'], norms: 'after', queryKeyNorm: 'all'},
];

/** @throws ModelError that names what is supported */
export function architectureOfGguf(name: string, path: string): Architecture {
  const found = architectures.find(({ggufName}) => ggufName === name);
  if (found) return found;
  throw unsupported(
    path,
    name,
    architectures.map(({ggufName}) => ggufName),
  );
}

/** @throws ModelError that names what is supported */
export function architectureOfModelType(name: string, path: string): Architecture {
  const found = architectures.find(({modelTypes}) => modelTypes.includes(name));
  if (found) return found;
  throw unsupported(
    path,
    name,
    architectures.flatMap(({modelTypes}) => modelTypes),
  );
}

/** @param window of the layers that have one; null = no layer has */
export function layerOf(
  {globalEvery, noRotaryEvery, hasLocalRotary}: Pick<Architecture, 'globalEvery' | 'noRotaryEvery' | 'hasLocalRotary'>,
  layer: number,
  window: number | null,
  contextLength: number,
): LayerConfig {
  const isGlobal = window === null || (globalEvery !== null && (layer + 1) % globalEvery === 0);
  const isPlain = noRotaryEvery !== null && (layer + 1) % noRotaryEvery === 0;
  return {
    window: isGlobal || window >= contextLength ? null : window,
    rotary: isPlain ? null : hasLocalRotary && !isGlobal ? 'local' : 'global',
  };
}

function unsupported(path: string, name: string, supported: readonly string[]): ModelError {
  return new ModelError(
    `${path} is of architecture "${name}", which is not supported. Supported: ${supported.join(', ')}.`,
  );
}
