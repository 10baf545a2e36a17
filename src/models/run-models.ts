/**
 * `parlance models`: lists, describes, downloads and removes models. Everything that touches the terminal comes in as a
 * context, so the same code runs in tests.
 */
import {type ModelSourceOptions, modelSourceOptionsSchema} from '../core/config/model-source-options.ts';
import {UsageError} from '../core/errors.ts';
import {findModel} from '../core/model/find-model.ts';
import {type CachedModelEntry, findCachedModel, listCachedModels} from '../core/model/hub/cached-models.ts';
import {sizeText} from '../core/model/hub/choose-files.ts';
import {CachedRepo} from '../core/model/hub/hub-cache.ts';
import {parseHubId} from '../core/model/hub/hub-id.ts';
import {hubCacheFolder} from '../core/model/hub/hub-settings.ts';
import {type FileProgress, hubContext} from '../core/model/hub-progress.ts';
import type {Logger} from '../core/util/logger.ts';
import {describeModel, type ModelDescription} from './describe-model.ts';
import type {ModelsOptions, modelActions} from './options.ts';

export type ModelAction = (typeof modelActions)[number];

export interface ModelsContext {
  write: (line: string) => void;
  logger: Logger;
  signal: AbortSignal;
  onProgress: (progress: FileProgress) => void;
  /** Null = nobody is there to be asked. */
  confirm: ((question: string) => Promise<boolean>) | null;
}

export interface ModelsRequest extends ModelsOptions {
  action: ModelAction;
  model: string | null;
  json: boolean;
}

/** @throws UsageError, ModelError */
export async function runModels(request: ModelsRequest, context: ModelsContext): Promise<void> {
  const actions: Record<ModelAction, (request: ModelsRequest, context: ModelsContext) => Promise<void>> = {
    list,
    inspect,
    pull,
    remove,
  };
  await actions[request.action](request, context);
}

async function list({downloadDir, json}: ModelsRequest, {write}: ModelsContext): Promise<void> {
  const folder = hubCacheFolder(downloadDir);
  const models = await listCachedModels(folder);
  if (json) return write(JSON.stringify({folder, models: models.map(toJson)}));
  if (models.length === 0) return write(`No models in ${folder}. Download one: parlance models pull owner/name`);
  const rows = models.map((model) => [model.repo, sizeText(model.numBytes), usedText(model.lastUsedMs), noteOf(model)]);
  for (const line of table([['MODEL', 'SIZE', 'LAST USED', 'FILES'], ...rows])) write(line);
  const total = models.reduce((sum, {numBytes}) => sum + numBytes, 0);
  write(`${models.length} ${models.length === 1 ? 'model' : 'models'}, ${sizeText(total)} in ${folder}`);
}

function toJson({repo, folder, numBytes, unfinishedBytes, lastUsedMs, revisions}: CachedModelEntry) {
  const last_used = lastUsedMs === 0 ? null : new Date(lastUsedMs).toISOString();
  return {
    model: repo,
    folder,
    bytes: numBytes,
    unfinished_bytes: unfinishedBytes,
    last_used,
    revisions: revisions.map(({commit, refs, files}) => ({
      commit,
      refs,
      files: files.map(({path, numBytes: bytes}) => ({path, bytes})),
    })),
  };
}

/** The weights that are there, shortest first; or that a download was not finished. */
function noteOf({revisions, unfinishedBytes}: CachedModelEntry): string {
  const files = new Set(revisions.flatMap((revision) => revision.files.map(({path}) => path)));
  const weights = [...files].filter((path) => /\.(gguf|safetensors|onnx)$/.test(path));
  const unfinished = unfinishedBytes > 0 ? [`unfinished ${sizeText(unfinishedBytes)}`] : [];
  const shown = weights.length > 3 ? [...weights.slice(0, 2), `${weights.length - 2} more`] : weights;
  return [...shown, ...unfinished].join(', ') || 'no weights';
}

function usedText(ms: number): string {
  return ms === 0 ? '-' : new Date(ms).toISOString().slice(0, 10);
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

async function inspect(request: ModelsRequest, context: ModelsContext): Promise<void> {
  const files = await findModel(request.model, sourceOf(request), hubContext(context, context.onProgress));
  const description = await describeModel(files);
  if (request.json) return context.write(JSON.stringify(descriptionJson(description)));
  for (const [name, value] of descriptionRows(description)) context.write(`${name.padEnd(18)}${value}`);
}

function descriptionJson(description: ModelDescription) {
  const {contextLength, numParameters, numBytes, tensorTypes, toolCallParser, reasoningParser, ...rest} = description;
  return {
    ...rest,
    bytes: numBytes,
    parameters: numParameters,
    context_length: contextLength,
    tensor_types: tensorTypes,
    tool_call_parser: toolCallParser,
    reasoning_parser: reasoningParser,
  };
}

function descriptionRows(model: ModelDescription): [string, string][] {
  const {template, contextLength, numParameters} = model;
  const types = Object.entries(model.tensorTypes).map(([type, count]) => `${type} x ${count}`);
  return [
    ['Model', model.name],
    ['Folder', model.folder],
    ['Weights', `${model.kind}: ${model.files.join(', ')} (${sizeText(model.numBytes)})`],
    ['Architecture', model.architecture ?? 'not said'],
    ['Parameters', numParameters === null ? 'not counted' : countText(numParameters)],
    ['Tensor types', types.join(', ') || 'see the name of the graph'],
    ['Context', contextLength === null ? 'not said' : `${contextLength.toLocaleString('en-US')} tokens`],
    ['Chat template', template === null ? 'none' : `${template.source} (${template.names.join(', ')})`],
    ['Tool call parser', model.toolCallParser ?? 'none is recognised'],
    ['Reasoning parser', model.reasoningParser ?? 'none is recognised'],
  ];
}

function countText(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(2)} billion`;
  return count >= 1e6 ? `${(count / 1e6).toFixed(1)} million` : count.toLocaleString('en-US');
}

async function pull(request: ModelsRequest, context: ModelsContext): Promise<void> {
  const model = named(request);
  const files = await findModel(model, sourceOf(request), hubContext(context, context.onProgress));
  if (request.json) return context.write(JSON.stringify({model, folder: files.folder, weights: files.weightsPath}));
  context.write(`${model} is in ${files.folder}`);
}

async function remove(request: ModelsRequest, {write, confirm}: ModelsContext): Promise<void> {
  const id = parseHubId(named(request));
  if (id === null)
    throw new UsageError(`${request.model} is no id of the Hub: only what was downloaded is removed here`);
  const folder = hubCacheFolder(request.downloadDir);
  const found = await findCachedModel(folder, id.repo);
  if (found === null)
    throw new UsageError(`${id.repo} is not in ${folder}`, {hint: '`parlance models` lists what is there'});
  if (!request.yes) await requireConsent(found, confirm);
  await new CachedRepo(folder, id.repo).remove();
  if (request.json) return write(JSON.stringify({model: id.repo, removed_bytes: found.numBytes}));
  write(`Removed ${id.repo}: ${sizeText(found.numBytes)}`);
}

async function requireConsent({repo, folder, numBytes}: CachedModelEntry, confirm: ModelsContext['confirm']) {
  if (confirm === null) throw new UsageError(`Removing ${repo} needs --yes where nobody can be asked`);
  const isAgreed = await confirm(`Remove ${repo} with ${sizeText(numBytes)} from ${folder}? [y/N] `);
  if (!isAgreed) throw new UsageError('Nothing was removed', {exitCode: 1});
}

function named({model, action}: ModelsRequest): string {
  if (model !== null) return model;
  throw new UsageError(`parlance models ${action} needs a model`, {hint: `parlance models ${action} owner/name`});
}

function sourceOf({revision, hfToken, downloadDir, dtype}: ModelsRequest): ModelSourceOptions {
  return modelSourceOptionsSchema.parse({revision, hfToken, downloadDir, dtype});
}
