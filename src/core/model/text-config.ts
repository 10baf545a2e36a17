/**
 * The language model inside of a model that also takes pictures: its part of `config.json` and its tensors. Such files
 * leave out what equals the defaults of the family, so these are known here.
 */
import {ModelError} from '../errors.ts';

type Content = Record<string, unknown>;

/** Kinds of models whose language model computes texts as it does alone, and what it is when the file does not say. */
const wrappers: Readonly<Record<string, string>> = {
  gemma3: 'gemma3_text',
  mistral3: 'mistral',
  llava: 'llama',
  llava_next: 'llama',
  idefics3: 'llama',
  smolvlm: 'llama',
};

/** What `transformers` takes for keys that are not there. */
const familyDefaults: Readonly<Record<string, Content>> = {
  llama: {
    vocab_size: 32_000,
    hidden_size: 4096,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    max_position_embeddings: 2048,
  },
  mistral: {
    vocab_size: 32_000,
    hidden_size: 4096,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    max_position_embeddings: 131_072,
    sliding_window: 4096,
  },
  qwen2: {
    vocab_size: 151_936,
    hidden_size: 4096,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 32,
    max_position_embeddings: 32_768,
  },
  gemma3_text: {
    vocab_size: 262_208,
    hidden_size: 2304,
    num_hidden_layers: 26,
    num_attention_heads: 8,
    num_key_value_heads: 4,
    head_dim: 256,
    max_position_embeddings: 131_072,
    query_pre_attn_scalar: 256,
    sliding_window: 4096,
    sliding_window_pattern: 6,
    rope_theta: 1_000_000,
    rope_local_base_freq: 10_000,
  },
};

/** Keys that concern the whole model, and stand outside. */
const outerKeys = ['eos_token_id', 'quantization_config', 'tie_word_embeddings'];

/** True for the configuration of a model that has a language model inside. */
export function isWrapped({model_type: type, text_config: inner}: Content): boolean {
  return inner !== undefined && inner !== null && typeof type === 'string' && Object.hasOwn(wrappers, type);
}

/**
 * @param content of `config.json`
 * @returns that of the language model, as if it stood alone; other configurations as they are
 * @throws ModelError when the inner part is of no use
 */
export function languageConfigOf(content: Content, path: string): Content {
  if (!isWrapped(content)) return content;
  const inner = content.text_config;
  if (typeof inner !== 'object' || Array.isArray(inner))
    throw new ModelError(`${path}: text_config must be an object.`);
  const text = inner as Content;
  const type = String(text.model_type ?? wrappers[content.model_type as string]);
  const outer = outerKeys.filter((key) => content[key] !== undefined).map((key) => [key, content[key]]);
  const defaults = Object.hasOwn(familyDefaults, type) ? familyDefaults[type] : {};
  return {...defaults, ...Object.fromEntries(outer), ...text, model_type: type};
}

const languagePrefix = /^(?:language_model\.model\.|model\.language_model\.(?:model\.)?|model\.text_model\.)/;
const otherParts =
  /^(?:model\.)?(?:vision_tower|vision_model|multi_modal_projector|connector|image_newline|embed_vision)\b/;

/** @returns the name that a tensor has in the language model alone; null for what only pictures need */
export function languageTensorName(name: string): string | null {
  if (otherParts.test(name)) return null;
  return name.replace(languagePrefix, 'model.').replace(/^language_model\.lm_head\./, 'lm_head.');
}
