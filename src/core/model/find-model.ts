/**
 * From whatever names a model to files on this disk: a path, the id of a repository on the Hub, a model of Ollama or LM
 * Studio. A path that exists comes first.
 */
import {stat} from 'node:fs/promises';
import {resolve} from 'node:path';
import {type ModelSourceOptions, modelSourceOptionsSchema} from '../config/model-source-options.ts';
import {ModelError} from '../errors.ts';
import {type HubId, parseHubId} from './hub/hub-id.ts';
import type {HubContext} from './hub/hub-model.ts';
import {readHubSettings} from './hub/hub-settings.ts';
import {findInOtherStore} from './other-stores.ts';
import {
  filesWithWeights,
  findTextFiles,
  type ModelFiles,
  refuseDtype,
  resolveModel,
  type TextFiles,
} from './resolve-model.ts';

export const defaultModelSource: ModelSourceOptions = modelSourceOptionsSchema.parse({});

/**
 * @param model as the user gave it; null = the embedded model
 * @throws ModelError when there is no such model, or it cannot be had
 */
export async function findModel(
  model: string | null,
  source: ModelSourceOptions,
  context: HubContext,
): Promise<ModelFiles> {
  if (model === null || (await exists(model))) return resolveModel(model, source.dtype);
  const stored = await findInOtherStore(model);
  if (stored !== null) return {...(await resolveModel(stored, source.dtype)), displayName: model};
  const id = parseHubId(model);
  // Says what is allowed.
  if (id === null || looksLikeFile(model)) return resolveModel(model, source.dtype);
  const {folder, weightsPath} = await fetchModel(id, source, context, false);
  if (!weightsPath?.endsWith('.onnx')) refuseDtype(source.dtype, model);
  return filesWithWeights(folder, weightsPath ?? folder, model);
}

/**
 * A model whose weights are elsewhere: a folder or a repository with its tokenizer suffices.
 * @throws ModelError when there is none, or it cannot be had
 */
export async function findTextModel(
  model: string | null,
  source: ModelSourceOptions,
  context: HubContext,
): Promise<ModelFiles> {
  const isFolder = model !== null && (await stat(resolve(model)).catch(() => null))?.isDirectory();
  const files = isFolder ? await findTextFiles(resolve(model)) : null;
  const found = files?.tokenizerPath ? files : null;
  if (found !== null) return filesWithWeights(found.folder, found.folder, model!);
  if (model === null || (await exists(model))) return resolveModel(model, source.dtype);
  const onHub = await findTextFilesOnHub(model, source, context);
  return onHub === null ? findModel(model, source, context) : filesWithWeights(onHub.folder, onHub.folder, model);
}

/**
 * The text side of a model on the Hub, without its weights.
 * @returns null when the name is no id
 * @throws ModelError when it cannot be had
 */
export async function findTextFilesOnHub(
  model: string,
  source: ModelSourceOptions,
  context: HubContext,
): Promise<TextFiles | null> {
  const id = parseHubId(model);
  if (id === null || looksLikeFile(model)) return null;
  const {folder} = await fetchModel(id, source, context, true);
  const files = await findTextFiles(folder);
  if (files.tokenizerConfigPath ?? files.chatTemplatePath ?? files.tokenizerPath) return files;
  throw new ModelError(
    `${model} has neither a tokenizer nor a template beside its weights. Download it and give the .gguf file.`,
  );
}

/** The package that talks to the Hub is loaded only when it is needed. */
async function fetchModel(id: HubId, source: ModelSourceOptions, context: HubContext, textOnly: boolean) {
  const {fetchHubModel} = await import('./hub/hub-model.ts');
  return fetchHubModel(
    {id, revision: source.revision, dtype: source.dtype, textOnly},
    readHubSettings(source),
    context,
  );
}

function exists(path: string): Promise<boolean> {
  return stat(resolve(path)).then(
    () => true,
    () => false,
  );
}

/** `models/llama.gguf` is a path that somebody got wrong, not an id. */
function looksLikeFile(model: string): boolean {
  return /^[^:]*\.(gguf|onnx|safetensors)$/i.test(model) && !/^(https?:|hf:)/.test(model);
}
