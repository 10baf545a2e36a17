/**
 * Everything about a decoder that its graph depends on, whatever file it came from: dimensions, norms, rotary tables,
 * windows and factors, all resolved. Readers for GGUF metadata and `config.json` make one; the graph trusts it.
 */
import {ModelError} from '../../../errors.ts';
import type {RotaryTable} from './rotary.ts';

export type Activation = 'silu' | 'gelu-tanh';

/** Where a block has its norms: before attention and MLP, after them, or both. */
export type NormPlacement = 'before' | 'after' | 'around';

export interface LayerConfig {
  /** Tokens that attention sees, the token itself included; null = all. */
  window: number | null;
  /** Which rotary table turns queries and keys; null = none. */
  rotary: 'global' | 'local' | null;
}

export interface MixtureConfig {
  numExperts: number;
  numUsed: number;
  /** The shares of the chosen experts sum to 1; false = they are what all experts together leave them. */
  normalizesShares: boolean;
  /** Bound of gate and up in the clamped form of SwiGLU; null = the plain form. */
  clampLimit: number | null;
}

export interface DecoderConfig {
  architecture: string;
  hiddenSize: number;
  numHeads: number;
  numKvHeads: number;
  headSize: number;
  vocabSize: number;
  /** Positions that the model was made for. */
  contextLength: number;
  layers: readonly LayerConfig[];
  norms: NormPlacement;
  /** Name of the norm before the MLP. */
  mlpNorm: 'ffn_norm' | 'post_attention_norm';
  normEpsilon: number;
  /** Norm of queries and keys: of each head, or of all heads as one vector. */
  queryKeyNorm: 'none' | 'head' | 'all';
  activation: Activation;
  /** Rotary turns neighbouring pairs (as rows are permuted in some GGUF files) instead of halves. */
  rotatesNeighbours: boolean;
  rotary: {global: RotaryTable; local: RotaryTable | null};
  /** For sequences beyond `originalLength`, the global table has other divisors. */
  longRotary: {table: RotaryTable; originalLength: number} | null;
  /** Factor of query-key products; null = 1 / sqrt(head size). */
  attentionScale: number | null;
  /** Bounds of attention scores and of logits through tanh; null = none. */
  attentionSoftCap: number | null;
  logitSoftCap: number | null;
  embeddingScale: number;
  residualScale: number;
  /** Logits are multiplied by it. */
  logitScale: number;
  mixture: MixtureConfig | null;
}

const maxLayers = 1000;
/** More positions are not offered: tables of rotary values for them would take gigabytes. */
export const maxContext = 2 ** 20;
const minContext = 2;
const maxHeadSize = 1024;
/** Bounds what a file can make us allocate for tables; several times what any model has. */
const maxSize = 2 ** 23;

/** @throws ModelError when a dimension is impossible or asks for what the operators cannot do */
export function checkDecoderConfig(config: DecoderConfig, path: string): DecoderConfig {
  const refuse = (what: string): never => {
    throw new ModelError(`${path}: ${what}.`);
  };
  const {headSize, numHeads, numKvHeads, layers, hiddenSize, vocabSize, contextLength, mixture} = config;
  if (layers.length === 0 || layers.length > maxLayers) refuse(`${layers.length} layers are impossible`);
  if (!Number.isInteger(headSize) || headSize % 8 !== 0 || headSize === 0 || headSize > maxHeadSize) {
    refuse(`head size ${headSize} is not a multiple of 8 up to ${maxHeadSize}`);
  }
  if (contextLength < minContext) refuse(`a context of ${contextLength} tokens is of no use`);
  if (numKvHeads === 0 || numHeads % numKvHeads !== 0) {
    refuse(`${numHeads} heads cannot share ${numKvHeads} key/value heads`);
  }
  if (mixture && (mixture.numUsed < 1 || mixture.numUsed > mixture.numExperts)) {
    refuse(`${mixture.numUsed} of ${mixture.numExperts} experts is impossible`);
  }
  for (const [name, size] of Object.entries({hiddenSize, vocabSize, contextLength})) {
    if (!Number.isSafeInteger(size) || size < 1 || size > maxSize) refuse(`${name} ${size} is impossible`);
  }
  for (const table of [config.rotary.global, config.rotary.local, config.longRotary?.table]) {
    if (table) checkRotary(table, headSize, refuse);
  }
  return config;
}

function checkRotary({base, size, divisors}: RotaryTable, headSize: number, refuse: (what: string) => never): void {
  if (!(size >= 16) || size % 16 !== 0 || size > headSize) refuse(`rotary size ${size} is not supported`);
  if (!(base > 0) || !Number.isFinite(base)) refuse(`rotary base ${base} is impossible`);
  if (divisors && divisors.length !== size / 2) {
    refuse(`${divisors.length} rotary factors do not fit a rotary size of ${size}`);
  }
}
