/**
 * Sampling defaults of the server: what `generation_config.json` and `--override-generation-config` state, and the ids
 * that end an answer. Follows vLLM's ModelConfig (`vllm/config/model.py`, get_diff_sampling_param): nine keys are
 * kept, `max_new_tokens` becomes `max_tokens`, and the end ids count in every mode.
 */
import {stat} from 'node:fs/promises';
import {join} from 'node:path';
import * as z from 'zod';
import {ModelError, UsageError} from '../errors.ts';
import {pythonDictRepr} from '../protocol/openai/python-repr.ts';
import {parseJson, toPlainJson} from '../util/parse-json.ts';
import {readJsonObject} from '../util/read-json.ts';

/** Defaults of a request's fields; only those that are stated. */
export interface SamplingDefaults {
  repetitionPenalty?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  maxTokens?: number;
  skipSpecialTokens?: boolean;
}

export interface GenerationConfig {
  defaults: SamplingDefaults;
  /** A limit on `max_tokens` that no request can exceed; null = none. */
  overrideMaxTokens: number | null;
  /** Ids that end an answer, from the file (or from `config.json` when there is none), in its order. */
  eosTokenIds: number[];
  /** Text for the log when defaults differ from OpenAI's, else null. */
  warning: string | null;
}

export interface GenerationConfigOptions {
  /** `auto` = the model's file, `vllm` = no file, else a folder that holds a `generation_config.json`. */
  mode: string;
  /** Path of the model's own file; null or missing = none. */
  modelFile: string | null;
  /** Values that replace those of the file; null = none. */
  override: Record<string, unknown> | null;
  /** `eos_token_id` of `config.json`, used when no generation config exists. */
  modelEosTokenIds: number[];
}

const samplingKeysSchema = z.object({
  repetition_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  temperature: z.number().nullish(),
  top_k: z.int().nullish(),
  top_p: z.number().nullish(),
  min_p: z.number().nullish(),
  max_new_tokens: z.int().nullish(),
  skip_special_tokens: z.boolean().nullish(),
});

type SamplingKeys = z.infer<typeof samplingKeysSchema>;
type SamplingKey = keyof SamplingKeys;

const defaultNames: Record<SamplingKey, keyof SamplingDefaults> = {
  repetition_penalty: 'repetitionPenalty',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  temperature: 'temperature',
  top_k: 'topK',
  top_p: 'topP',
  min_p: 'minP',
  max_new_tokens: 'maxTokens',
  skip_special_tokens: 'skipSpecialTokens',
};

const samplingKeys = Object.keys(samplingKeysSchema.shape) as SamplingKey[];

const eosTokenIdSchema = z.union([z.int(), z.array(z.int())]).nullish();

/**
 * Reads and merges file and override.
 * @throws ModelError when a file is damaged or the folder has none; UsageError when the override holds a wrong type
 */
export async function loadGenerationConfig(options: GenerationConfigOptions): Promise<GenerationConfig> {
  const {mode, override} = options;
  const file = await readGenerationConfigFile(options);
  const usesFile = mode !== 'vllm';
  const fileValues = usesFile ? parseSamplingKeys(file.content ?? {}, file.path ?? mode) : {};
  const values = {...fileValues, ...parseOverrideValues(override)};
  const defaults = toSamplingDefaults(values);
  return {
    defaults,
    overrideMaxTokens: isFolderMode(mode) ? (defaults.maxTokens ?? null) : toMaxTokens(override),
    eosTokenIds: file.content ? parseEosTokenIds(file.content, file.path) : options.modelEosTokenIds,
    warning: overriddenDefaultsWarning(mode, values, {...(usesFile && file.written), ...override}),
  };
}

/**
 * Reads `eos_token_id`, which is an id, a list of ids or missing.
 * @throws ModelError naming the file
 */
export function parseEosTokenIds(content: Record<string, unknown>, path: string | null): number[] {
  const result = eosTokenIdSchema.safeParse(content.eos_token_id);
  if (!result.success) throw new ModelError(`${path}: eos_token_id must be an integer or a list of integers.`);
  return [result.data ?? []].flat();
}

function isFolderMode(mode: string): boolean {
  return mode !== 'auto' && mode !== 'vllm';
}

/** A file's content, as plain values and as they are written, `1.0` apart from `1`. */
interface GenerationConfigFile {
  path: string | null;
  /** Null when there is no file. */
  content: Record<string, unknown> | null;
  written: Record<string, unknown> | null;
}

async function readGenerationConfigFile({mode, modelFile}: GenerationConfigOptions): Promise<GenerationConfigFile> {
  if (!isFolderMode(mode)) return readFileAt(modelFile);
  const isFolder = await stat(mode).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  const path = join(mode, 'generation_config.json');
  const file = await readFileAt(isFolder ? path : null);
  if (file.content) return file;
  throw new UsageError(`--generation-config: there is no file ${path}.`, {
    hint: 'Give "auto" (the file of the model), "vllm" (no file) or a folder that holds a generation_config.json.',
  });
}

async function readFileAt(path: string | null): Promise<GenerationConfigFile> {
  const written = await readJsonObject(path, parseJson);
  return {path, content: toPlainJson(written) as GenerationConfigFile['content'], written};
}

function parseSamplingKeys(content: Record<string, unknown>, path: string): SamplingKeys {
  const result = samplingKeysSchema.safeParse(content);
  if (result.success) return dropNulls(result.data);
  throw new ModelError(`${path}: ${firstIssue(result.error)}.`);
}

function parseOverrideValues(override: Record<string, unknown> | null): SamplingKeys {
  const result = samplingKeysSchema.safeParse(override ?? {});
  if (result.success) return result.data;
  throw overrideError(firstIssue(result.error));
}

function overrideError(what: string): UsageError {
  return new UsageError(`--override-generation-config: ${what}`, {
    hint: `Allowed keys: ${samplingKeys.join(', ')}; for example '{"temperature": 0.5}'.`,
  });
}

function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  return issue ? `${issue.path.join('.')}: ${issue.message}` : error.message;
}

function dropNulls(values: SamplingKeys): SamplingKeys {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isStated(value))) as SamplingKeys;
}

function toSamplingDefaults(values: SamplingKeys): SamplingDefaults {
  const stated = samplingKeys.filter((key) => isStated(values[key]));
  return Object.fromEntries(stated.map((key) => [defaultNames[key], values[key]]));
}

function isStated(value: unknown): boolean {
  return value !== null && value !== undefined;
}

function toMaxTokens(override: Record<string, unknown> | null): number | null {
  return parseOverrideValues(override).max_new_tokens ?? null;
}

/** @param written the values as they stand in file and override */
function overriddenDefaultsWarning(
  mode: string,
  values: SamplingKeys,
  written: Record<string, unknown>,
): string | null {
  const stated = samplingKeys.filter((key) => isStated(values[key]));
  if (mode === 'vllm' || stated.length === 0) return null;
  const source = isFolderMode(mode) ? `\`${mode}\`` : "the model's `generation_config.json`";
  return (
    `Default vLLM sampling parameters have been overridden by ${source}: ` +
    `\`${toPythonDict(stated, written)}\`. If this is not intended, please relaunch vLLM instance with ` +
    '`--generation-config vllm`.'
  );
}

/** The renamed key comes last. */
function toPythonDict(keys: SamplingKey[], written: Record<string, unknown>): string {
  const ordered = keys.toSorted((a, b) => Number(a === 'max_new_tokens') - Number(b === 'max_new_tokens'));
  const name = (key: SamplingKey) => (key === 'max_new_tokens' ? 'max_tokens' : key);
  return pythonDictRepr(ordered.map((key) => [name(key), written[key]]));
}
