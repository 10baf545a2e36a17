/** The few facts of a model's `config.json` that the text side needs; the engine reads its own from the weights. */
import {parseEosTokenIds} from '../config/generation-config.ts';
import {ModelError} from '../errors.ts';
import {readJsonObject} from '../util/read-json.ts';
import {languageConfigOf} from './text-config.ts';

export interface ModelConfig {
  /** E.g. `llama`; null when the file is missing or does not say. */
  modelType: string | null;
  /** Longest sequence the model was trained for; null when unknown. */
  maxPositionEmbeddings: number | null;
  /** Tokens that the model has numbers for; null when unknown. */
  vocabSize: number | null;
  eosTokenIds: number[];
}

/**
 * @param path of `config.json`; null = there is none
 * @throws ModelError when the file is damaged
 */
export async function loadModelConfig(path: string | null): Promise<ModelConfig> {
  const content = languageConfigOf((await readJsonObject(path)) ?? {}, path ?? '');
  return {
    modelType: typeof content.model_type === 'string' ? content.model_type : null,
    maxPositionEmbeddings: readCount(content, 'max_position_embeddings', path),
    vocabSize: readCount(content, 'vocab_size', path),
    eosTokenIds: parseEosTokenIds(content, path),
  };
}

function readCount(content: Record<string, unknown>, key: string, path: string | null): number | null {
  const value = content[key];
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new ModelError(`${path}: ${key} must be a positive integer, got ${JSON.stringify(value)}.`);
}
