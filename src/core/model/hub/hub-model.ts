/**
 * A model named by its id on the Hub, as files on this disk: asks which commit is meant, chooses what is needed, downloads
 * what is missing, and falls back to the cache where the Hub cannot be reached.
 */
import {readFile, statfs} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {DtypeName} from '../../config/model-source-options.ts';
import {ModelError} from '../../errors.ts';
import type {Logger} from '../../util/logger.ts';
import {parseJsonObject} from '../../util/read-json.ts';
import {chooseFiles, type FileChoice, isTextFile, type RepoFile, sizeText, type Wish} from './choose-files.ts';
import {type DownloadContext, downloadFile, noSpace} from './download-file.ts';
import {CachedRepo, prepareCacheFolder} from './hub-cache.ts';
import {HubClient, type HubFile, HubUnreachableError} from './hub-client.ts';
import type {HubId} from './hub-id.ts';
import type {HubSettings} from './hub-settings.ts';

export interface HubProgress {
  path: string;
  numBytes: number;
  totalBytes: number;
  /** Bytes a second since this file began; 0 when it was there. */
  rate: number;
}

export interface HubContext {
  logger: Logger;
  signal: AbortSignal;
  onProgress: (progress: HubProgress) => void;
  /** Looks at `config.json` before the weights are fetched. @throws ModelError for a model that cannot be served */
  checkConfig?: (content: Record<string, unknown>, path: string) => void;
  /** Pause before a second try. */
  retryMs?: number;
}

export interface HubRequest {
  id: HubId;
  revision: string | null;
  dtype: DtypeName;
  /** Without the weights. */
  textOnly?: boolean;
}

export interface HubModel {
  /** Folder of the snapshot. */
  folder: string;
  commit: string;
  /** Absolute; the folder itself for safetensors; null without weights. */
  weightsPath: string | null;
}

const defaultRevision = 'main';
const defaultRetryMs = 1000;
const filesAtOnce = 4;
const rateFromMs = 500;
/** Smaller files are not worth a line of progress. */
const shownFromBytes = 100_000;

/** @throws ModelError when it does not exist, may not be read, cannot be served or cannot be fetched */
export async function fetchHubModel(
  request: HubRequest,
  settings: HubSettings,
  context: HubContext,
): Promise<HubModel> {
  const cache = new CachedRepo(settings.cacheFolder, request.id.repo);
  if (settings.isOffline) return fromCache(request, cache, 'HF_HUB_OFFLINE is set');
  await prepareCacheFolder(settings.cacheFolder);
  const client = new HubClient(settings);
  try {
    return await download(request, {client, cache, ...context});
  } catch (error) {
    if (!(error instanceof HubUnreachableError)) throw error;
    return await fallBack(request, cache, error, context.logger);
  } finally {
    await client.close();
  }
}

type Tools = HubContext & {client: HubClient; cache: CachedRepo};

async function download(request: HubRequest, tools: Tools): Promise<HubModel> {
  const {client, cache, signal} = tools;
  const {repo} = request.id;
  const revision = revisionOf(request);
  const commit = await client.commitOf(repo, revision, signal);
  const files = await client.listFiles(repo, commit, signal);
  const choice = choose(files, request);
  if (choice.note !== null) tools.logger.info({}, choice.note);
  const job: Job = {...tools, commit};
  await downloadAll(choice.text, job);
  await checkConfig(choice, cache.snapshotFolder(commit), tools);
  await requireSpace(choice.weights, job);
  await downloadAll(choice.weights, job);
  // A reference without weights would hide an older snapshot that has them.
  if (!request.textOnly || (await cache.commitOf(revision)) === null) await cache.setCommit(revision, commit);
  return toModel(choice, cache, commit);
}

function revisionOf({revision, id}: HubRequest): string {
  return revision ?? id.revision ?? defaultRevision;
}

function choose<File extends RepoFile>(files: readonly File[], {id, dtype, textOnly}: HubRequest): FileChoice<File> {
  const wish: Wish = {name: id.repo, selector: id.selector, dtype};
  if (!textOnly) return chooseFiles(files, wish);
  const text = files.filter(({path}) => isTextFile(path));
  return {kind: 'safetensors', weightsPath: null, weights: [], note: null, text};
}

function toModel(choice: FileChoice<RepoFile>, cache: CachedRepo, commit: string): HubModel {
  const folder = cache.snapshotFolder(commit);
  const hasWeights = choice.weights.length > 0;
  const weightsPath = choice.weightsPath === null ? folder : join(folder, choice.weightsPath);
  return {folder, commit, weightsPath: hasWeights ? weightsPath : null};
}

interface Job extends Tools {
  commit: string;
}

/** Some at the same time; the first that fails ends the others. */
async function downloadAll(files: readonly HubFile[], job: Job): Promise<void> {
  const failure = new AbortController();
  const signal = AbortSignal.any([job.signal, failure.signal]);
  const context: DownloadContext = {
    ...job,
    signal,
    retryMs: job.retryMs ?? defaultRetryMs,
    onProgress: progressListener(job),
    onWait: ({path}) => job.logger.info({}, `Another process is downloading ${path}, waiting for it`),
  };
  const queue = [...files];
  const worker = async () => {
    for (let file = queue.shift(); file; file = queue.shift()) await downloadFile(file, context);
  };
  const workers = Array.from({length: Math.min(filesAtOnce, files.length)}, worker);
  try {
    await Promise.all(workers);
  } catch (error) {
    failure.abort();
    await Promise.allSettled(workers);
    throw error;
  }
}

function progressListener({onProgress}: Tools): DownloadContext['onProgress'] {
  const begun = new Map<string, {ms: number; numBytes: number}>();
  return ({path, numBytes: totalBytes}, numBytes) => {
    if (totalBytes < shownFromBytes) return;
    const first = begun.get(path) ?? {ms: performance.now(), numBytes};
    begun.set(path, first);
    const ms = performance.now() - first.ms;
    const rate = ms < rateFromMs ? 0 : ((numBytes - first.numBytes) / ms) * 1000;
    onProgress({path, numBytes, totalBytes, rate});
  };
}

/** The configuration beside a GGUF file may be that of another model, such as the one it was made of. */
async function checkConfig(
  {kind, text}: FileChoice<RepoFile>,
  folder: string,
  {checkConfig: check}: Tools,
): Promise<void> {
  if (!check || kind === 'gguf' || !text.some(({path}) => path === 'config.json')) return;
  const path = join(folder, 'config.json');
  check(parseJsonObject(await readFile(path, 'utf8'), path), path);
}

/** @throws ModelError when the disk has less room than the files need that are not there */
async function requireSpace(files: readonly HubFile[], {cache, commit}: Job): Promise<void> {
  const there = new Set((await cache.cachedFiles(commit)).map(({path}) => path));
  const missing = files.filter(({path}) => !there.has(path));
  const needed = missing.reduce((sum, {numBytes}) => sum + numBytes, 0);
  const {bavail, bsize} = await statfs(dirname(cache.folder));
  const [largest] = missing.toSorted((a, b) => b.numBytes - a.numBytes);
  if (!largest || needed <= bavail * bsize) return;
  const total = {
    ...largest,
    path: `${cache.repo}, which needs ${sizeText(needed)}; ${sizeText(bavail * bsize)} are free`,
  };
  throw noSpace(total, null);
}

/** The Hub does not answer: what was downloaded before will do, when it is complete. */
async function fallBack(
  request: HubRequest,
  cache: CachedRepo,
  error: HubUnreachableError,
  logger: Logger,
): Promise<HubModel> {
  const model = await fromCache(request, cache, error.message).catch(() => null);
  if (model === null) throw error;
  logger.warn(
    {},
    `${error.message} The copy of ${request.id.repo} in the cache is used (${model.commit.slice(0, 12)}).`,
  );
  return model;
}

/** @param reason why the Hub is not asked */
async function fromCache(request: HubRequest, cache: CachedRepo, reason: string): Promise<HubModel> {
  const revision = revisionOf(request);
  const commit = await cache.commitOf(revision);
  const files = commit === null ? [] : await cache.cachedFiles(commit);
  if (commit === null || files.length === 0) {
    throw new ModelError(
      `${request.id.repo} at ${revision} is not in the cache ${dirname(cache.folder)}, and ${reason}. Download it with a network once: parlance models pull ${request.id.repo}.`,
    );
  }
  return toModel(choose(files, request), cache, commit);
}
