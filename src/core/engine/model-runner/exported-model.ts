/**
 * Facts of a model in the Transformers.js layout, and which kind of graph it has: with GroupQueryAttention, which writes
 * into the cache that it is given, or an older one, whose cache grows by concatenation.
 */
import {createReadStream} from 'node:fs';
import {stat} from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import {ModelError} from '../../errors.ts';
import {languageConfigOf} from '../../model/text-config.ts';
import {readJsonObject} from '../../util/read-json.ts';
import type {ModelFacts} from './builder/build-model.ts';
import type {OrtSession} from './ort/ort-session.ts';

export function isExported(modelPath: string): boolean {
  return modelPath.toLowerCase().endsWith('.onnx');
}

/** Of the cache and of logits. */
export type FloatType = 'float32' | 'float16';

export interface ExportedLayout {
  /** The cache is written in place; false = it comes out longer than it went in. */
  isInPlace: boolean;
  cacheType: FloatType;
  logitsType: FloatType;
  hasPositions: boolean;
  /** The graph can be told how many logits at the end are wanted. */
  countsLogits: boolean;
}

const size = z
  .int()
  .min(1)
  .max(2 ** 24);
const optionalSize = size.nullish();

/** Any decoder will do: what it computes is in the graph. Older families have other names for the same. */
const configSchema = z.looseObject({
  model_type: z.string().nullish(),
  hidden_size: optionalSize,
  n_embd: optionalSize,
  num_hidden_layers: optionalSize,
  n_layer: optionalSize,
  num_attention_heads: optionalSize,
  n_head: optionalSize,
  num_key_value_heads: optionalSize,
  head_dim: optionalSize,
  vocab_size: size,
  max_position_embeddings: optionalSize,
  n_positions: optionalSize,
});

/**
 * @param modelPath an `.onnx` file in the folder `onnx` of a model
 * @throws ModelError when there is no usable `config.json` one folder up
 */
export async function readExportedFacts(modelPath: string): Promise<{facts: ModelFacts; numBytes: number}> {
  const configPath = path.join(path.dirname(modelPath), '..', 'config.json');
  const content = await readJsonObject(configPath);
  if (content === null) throw new ModelError(`${modelPath} needs ${configPath}, which does not exist.`);
  const sizes = await Promise.all([modelPath, `${modelPath}_data`].map((file) => stat(file).catch(() => null)));
  return {
    facts: readFacts(content, configPath),
    numBytes: sizes.reduce((sum, found) => sum + (found?.size ?? 0), 0),
  };
}

function readFacts(content: Record<string, unknown>, configPath: string): ModelFacts {
  const parsed = configSchema.safeParse(languageConfigOf(content, configPath));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ModelError(`${configPath}: ${issue?.path.join('.')}: ${issue?.message}.`);
  }
  const file = parsed.data;
  const need = (value: number | null | undefined, name: string): number => {
    if (value) return value;
    throw new ModelError(`${configPath} lacks ${name}.`);
  };
  const numHeads = need(file.num_attention_heads ?? file.n_head, 'num_attention_heads');
  const headSize = file.head_dim ?? need(file.hidden_size ?? file.n_embd, 'hidden_size') / numHeads;
  if (!Number.isInteger(headSize)) throw new ModelError(`${configPath}: head size ${headSize} is impossible.`);
  return {
    architecture: file.model_type ?? 'unknown',
    numLayers: need(file.num_hidden_layers ?? file.n_layer, 'num_hidden_layers'),
    numKvHeads: file.num_key_value_heads ?? numHeads,
    headSize,
    vocabSize: file.vocab_size,
    contextLength: need(file.max_position_embeddings ?? file.n_positions, 'max_position_embeddings'),
    longBeyond: null,
    needsSoftCap: typeof file.attn_logit_softcapping === 'number',
  };
}

const cacheName = /^past_key_values\.(\d+)\.(key|value)$/;
const otherInputs = ['input_ids', 'attention_mask', 'position_ids', 'num_logits_to_keep'];

/** @throws ModelError when the graph is of another layout or does not fit the configuration */
export async function readLayout(session: OrtSession, facts: ModelFacts, modelPath: string): Promise<ExportedLayout> {
  const {inputNames} = session;
  const foreign = inputNames.find((name) => !cacheName.test(name) && !otherInputs.includes(name));
  if (foreign !== undefined || !inputNames.includes('attention_mask') || !session.outputNames.includes('logits')) {
    throw new ModelError(
      `${modelPath} ${foreign === undefined ? 'has no attention_mask or no logits' : `has the input "${foreign}"`}: only decoders with the inputs ` +
        `${otherInputs.join(', ')} and past_key_values.* can be run. Use another export, the safetensors or a GGUF file of the model.`,
    );
  }
  checkCacheShape(session, facts, modelPath);
  return {
    isInPlace: await isInPlace(modelPath),
    cacheType: floatTypeOf(session, 'Input', 'past_key_values.0.key', modelPath),
    logitsType: floatTypeOf(session, 'Output', 'logits', modelPath),
    hasPositions: inputNames.includes('position_ids'),
    countsLogits: inputNames.includes('num_logits_to_keep'),
  };
}

function checkCacheShape(session: OrtSession, {numLayers, numKvHeads, headSize}: ModelFacts, modelPath: string): void {
  const numCaches = session.inputNames.filter((name) => cacheName.test(name)).length;
  const dims = numCaches === 0 ? [] : session.describe('Input', 'past_key_values.0.key').dims;
  const [, heads = -1, , width = -1] = dims;
  const isOpenOr = (dim: number, expected: number) => dim < 0 || dim === expected;
  if (numCaches === 2 * numLayers && isOpenOr(heads, numKvHeads) && isOpenOr(width, headSize)) return;
  throw new ModelError(
    `${modelPath} does not fit the config.json one folder up: its cache has ${numCaches / 2} layers and the shape [${dims.join(', ')}], ` +
      `the file says ${numLayers} layers, ${numKvHeads} key/value heads and head size ${headSize}.`,
  );
}

function floatTypeOf(session: OrtSession, side: 'Input' | 'Output', name: string, modelPath: string): FloatType {
  const {type} = session.describe(side, name);
  if (type === 'float32' || type === 'float16') return type;
  throw new ModelError(`${modelPath}: ${name} is ${type ?? 'of an unknown type'}, but must be float32 or float16.`);
}

/** The graph writes its cache in place; others give a longer one back. */
export function isInPlace(modelPath: string): Promise<boolean> {
  return holdsText(modelPath, 'GroupQueryAttention');
}

/** Names of operators stand in the file as they are. */
async function holdsText(file: string, text: string): Promise<boolean> {
  let tail = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, {highWaterMark: 1 << 20})) {
    const piece = Buffer.concat([tail, chunk as Buffer]);
    if (piece.includes(text)) return true;
    tail = Buffer.from(piece.subarray(Math.max(0, piece.length - text.length)));
  }
  return false;
}
