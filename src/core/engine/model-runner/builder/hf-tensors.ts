/**
 * The tensors of a Hugging Face folder for the graph: their names become those of GGUF files, floats stay floats or are
 * quantized on load.
 */
import {ModelError} from '../../../errors.ts';
import {type BlockLayout, type BlockMatrix, quantizeFloats, toFloats} from '../../../model/gguf/block-formats.ts';
import type {SafetensorsTensor} from '../../../model/safetensors/safetensors-file.ts';
import type {SafetensorsFolder} from '../../../model/safetensors/safetensors-folder.ts';
import type {Architecture} from './architectures.ts';
import type {TensorReader, WeightTensor} from './weight-source.ts';

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
  input_layernorm: 'attn_norm',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
};

/** The norm behind attention is the one before the MLP, unless the MLP has its own. */
const normBehindAttention = {before: 'ffn_norm', around: 'post_attention_norm', after: 'post_attention_norm'} as const;

export interface HfTensorOptions {
  architecture: Architecture;
  quantization: Quantization;
  /** The head is the embedding; a copy in the file is left out. */
  isTied: boolean;
}

export class HfTensors implements TensorReader {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, WeightTensor>;
  readonly #folder: SafetensorsFolder;
  readonly #originals = new Map<string, SafetensorsTensor>();
  readonly #addsOne: boolean;

  constructor(folder: SafetensorsFolder, {architecture, quantization, isTied}: HfTensorOptions) {
    this.path = folder.path;
    this.#folder = folder;
    this.#addsOne = architecture.hfNormsAddOne;
    const tensors = new Map<string, WeightTensor>();
    for (const original of folder.tensors) {
      const name = graphName(original.name, architecture);
      if (name === null || (isTied && name === 'output.weight')) continue;
      const shape = [...original.shape].reverse();
      this.#originals.set(name, original);
      tensors.set(name, {name, shape, layout: layoutFor(name, shape, quantization)});
    }
    this.tensors = tensors;
  }

  async readFloats({name}: WeightTensor): Promise<Float32Array> {
    const original = this.#originals.get(name);
    if (!original) throw this.missing(name);
    if (original.type === 'U8')
      throw new ModelError(`${this.path}: tensor "${original.name}" holds bytes, not weights.`);
    const floats = toFloats(original.type, await this.#folder.read(original));
    return this.#addsOne && name.endsWith('norm.weight') ? floats.map((value) => value + 1) : floats;
  }

  async readBlocks(tensor: WeightTensor): Promise<BlockMatrix> {
    return quantizeFloats(await this.readFloats(tensor), tensor.layout?.bits ?? 8);
  }

  missing(name: string): ModelError {
    return new ModelError(`${this.path} has no tensor for "${name}", which this architecture needs.`);
  }
}

/** @returns null for buffers that are no weights */
function graphName(name: string, {norms}: Architecture): string | null {
  if (name.endsWith('rotary_emb.inv_freq')) return null;
  const match = /^model\.layers\.(\d+)\.(.+)\.(weight|bias)$/.exec(name);
  if (!match) return outerNames[name] ?? name;
  const [, layer, part = '', kind] = match;
  const known = part === 'post_attention_layernorm' ? normBehindAttention[norms] : layerNames[part];
  return known === undefined ? name : `blk.${layer}.${known}.${kind}`;
}

function layoutFor(name: string, shape: readonly number[], quantization: Quantization): BlockLayout | null {
  const isMatrix = shape.length === 2 && name.endsWith('.weight') && (shape[0] ?? 0) % 32 === 0;
  if (quantization === 'none' || !isMatrix) return null;
  const bits = quantization === 'int4' && !sensitiveTensors.has(name) ? 4 : 8;
  return {bits, blockSize: 32, hasCorrections: false};
}
