/**
 * The tensors of a Hugging Face folder for the graph: their names become those of GGUF files, floats stay floats or are
 * quantized on load.
 */
import {ModelError} from '../../../errors.ts';
import {type BlockLayout, type BlockMatrix, quantizeFloats, toFloats} from '../../../model/gguf/block-formats.ts';
import type {SafetensorsTensor} from '../../../model/safetensors/safetensors-file.ts';
import type {SafetensorsFolder} from '../../../model/safetensors/safetensors-folder.ts';
import {languageTensorName} from '../../../model/text-config.ts';
import type {Architecture} from './architectures.ts';
import {type DerivedTensor, isPackedExperts, packedExperts} from './packed-experts.ts';
import {concatFloats, type TensorReader, type WeightTensor} from './weight-source.ts';

export type Quantization = 'none' | 'int8' | 'int4';

/** The embedding and the head keep 8 bits: rounding them to 4 costs more than everything else together. */
const sensitiveTensors: ReadonlySet<string> = new Set(['token_embd.weight', 'output.weight']);

const outerNames: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'lm_head.weight': 'output.weight',
};

/** Parts of a layer; `.weight` and `.bias` stay. */
const layerNames: Readonly<Record<string, string>> = {
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.qkv_proj': 'attn_qkv',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.gate_up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  'mlp.gate': 'ffn_gate_inp',
  'mlp.router': 'ffn_gate_inp',
  input_layernorm: 'attn_norm',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
};

/** Matrices of one expert; those of all experts of a layer become one tensor. */
const expertNames: Readonly<Record<string, string>> = {
  gate_proj: 'ffn_gate_exps',
  up_proj: 'ffn_up_exps',
  down_proj: 'ffn_down_exps',
};

const mxfp4Layout: BlockLayout = {bits: 8, blockSize: 32, hasCorrections: false};

export interface HfTensorOptions {
  architecture: Architecture;
  quantization: Quantization;
  /** The head is the embedding; a copy in the file is left out. */
  isTied: boolean;
  isWrapped: boolean;
}

export class HfTensors implements TensorReader {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, WeightTensor>;
  readonly #folder: SafetensorsFolder;
  /** One tensor of the file, or one for each expert. */
  readonly #originals = new Map<string, SafetensorsTensor[]>();
  /** Tensors that are made of others. */
  readonly #derived: ReadonlyMap<string, DerivedTensor>;
  readonly #addsOne: boolean;

  constructor(folder: SafetensorsFolder, {architecture, quantization, isTied, isWrapped}: HfTensorOptions) {
    this.path = folder.path;
    this.#folder = folder;
    this.#addsOne = architecture.hfNormsAddOne;
    this.#derived = packedExperts(folder.tensors, (tensor) => folder.read(tensor));
    for (const original of folder.tensors) {
      if (isPackedExperts(original.name)) continue;
      const name = isWrapped ? languageTensorName(original.name) : original.name;
      const place = name === null ? null : graphPlace(name, architecture);
      if (place === null || (isTied && place.name === 'output.weight')) continue;
      const parts = this.#originals.get(place.name) ?? [];
      parts[place.part] = original;
      this.#originals.set(place.name, parts);
    }
    this.tensors = new Map([
      ...[...this.#originals].map(([name, parts]) => [name, toWeight(name, parts, quantization)] as const),
      ...[...this.#derived].map(([name, tensor]) => [name, toDerivedWeight(name, tensor, quantization)] as const),
    ]);
  }

  async readFloats({name}: WeightTensor): Promise<Float32Array> {
    const derived = this.#derived.get(name);
    if (derived) return derived.readFloats();
    const parts: Float32Array[] = [];
    for (const original of this.#originals.get(name) ?? []) parts.push(await this.#readPart(original));
    const floats = concatFloats(parts);
    return this.#addsOne && name.endsWith('norm.weight') ? floats.map((value) => value + 1) : floats;
  }

  async #readPart(original: SafetensorsTensor | undefined): Promise<Float32Array> {
    if (!original) throw new ModelError(`${this.path} lacks the tensors of an expert.`);
    if (original.type === 'U8') {
      throw new ModelError(`${this.path}: tensor "${original.name}" holds bytes, not weights.`);
    }
    return toFloats(original.type, await this.#folder.read(original));
  }

  async readBlocks(tensor: WeightTensor): Promise<BlockMatrix> {
    const derived = this.#derived.get(tensor.name);
    if (derived?.isBlocks) return derived.readBlocks();
    return quantizeFloats(await this.readFloats(tensor), tensor.layout?.bits ?? 8);
  }

  missing(name: string): ModelError {
    return new ModelError(`${this.path} has no tensor for "${name}", which this architecture needs.`);
  }
}

/** Where a tensor of the file belongs; null for buffers that are no weights. */
function graphPlace(name: string, architecture: Architecture): {name: string; part: number} | null {
  if (name.endsWith('rotary_emb.inv_freq')) return null;
  const [, sinksLayer] = /^model\.layers\.(\d+)\.self_attn\.sinks$/.exec(name) ?? [];
  if (sinksLayer !== undefined) return {name: `blk.${sinksLayer}.attn_sinks.weight`, part: 0};
  const match = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name);
  if (!match) return {name: outerNames[name] ?? name, part: 0};
  const [, layer, part = '', kind] = match;
  const [, expert, matrix = ''] = /^mlp\.experts\.(\d{1,4})\.(\w+)$/.exec(part) ?? [];
  if (expert !== undefined)
    return {name: `blk.${layer}.${expertNames[matrix] ?? matrix}.${kind}`, part: Number(expert)};
  const known = part === 'post_attention_layernorm' ? normBehindAttention(architecture) : layerNames[part];
  return {name: known === undefined ? name : `blk.${layer}.${known}.${kind}`, part: 0};
}

/** It is the norm before the MLP, unless the MLP has its own. */
function normBehindAttention({norms, mlpNorm}: Architecture): string {
  return norms === 'before' ? mlpNorm : 'post_attention_norm';
}

function toDerivedWeight(name: string, {shape, isBlocks}: DerivedTensor, quantization: Quantization): WeightTensor {
  return {name, shape, layout: isBlocks ? mxfp4Layout : layoutFor(name, shape, quantization)};
}

function toWeight(name: string, parts: readonly SafetensorsTensor[], quantization: Quantization): WeightTensor {
  const shape = [...(parts.find((part) => part !== undefined)?.shape ?? [])].reverse();
  const all = name.endsWith('_exps.weight') ? [...shape, parts.length] : shape;
  return {name, shape: all, layout: layoutFor(name, all, quantization)};
}

function layoutFor(name: string, shape: readonly number[], quantization: Quantization): BlockLayout | null {
  const isMatrix =
    shape.length > 1 && !name.includes('ffn_gate_inp') && name.endsWith('.weight') && (shape[0] ?? 0) % 32 === 0;
  if (quantization === 'none' || !isMatrix) return null;
  const bits = quantization === 'int4' && !sensitiveTensors.has(name) ? 4 : 8;
  return {bits, blockSize: 32, hasCorrections: false};
}
