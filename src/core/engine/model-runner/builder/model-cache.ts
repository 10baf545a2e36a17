/**
 * Built models on disk, one folder each, named by what they were made of: content of the weight file, version of the
 * builder and options. A folder is filled under another name and renamed when it is complete, so a reader sees a whole
 * model or none, also when two processes build the same one or one of them is killed.
 */
import {createHash, randomBytes} from 'node:crypto';
import {createReadStream} from 'node:fs';
import {mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {pipeline} from 'node:stream/promises';
import {ModelError} from '../../../errors.ts';
import {writableCacheFolder} from '../../../model/cache-folder.ts';
import {writeFault} from '../../../util/file-fault.ts';
import {writeFileAtomically} from '../../../util/write-file-atomically.ts';

/** To be raised with every change of the graph or of the file layout. */
const builderVersion = 6;
const descriptionFileName = 'description.json';
/** How often a finished model tries to take its place when others are in the way. */
const maxAttempts = 5;
const draftMark = '.building-';
const abandonedAfterMs = 10 * 60_000;
const folderHint = 'Another folder can be chosen with --model-cache-dir.';

/** What is kept beside the model files. */
interface Description<Facts> {
  facts: Facts;
  /** Bytes of each file: a folder with other sizes is damaged and built again. */
  files: Record<string, number>;
}

export interface CachedModel<Facts> {
  folder: string;
  facts: Facts;
  numBytes: number;
  wasBuilt: boolean;
}

/** Fills an empty folder and says what is in it. */
export type ModelBuild<Facts> = (folder: string) => Promise<Description<Facts>>;

/**
 * @param sourcePaths the weight files and what else describes the model
 * @param options everything besides the file that shapes the result
 * @param cacheFolder null = the user's cache folder
 */
export async function cachedModel<Facts>(
  sourcePaths: readonly string[],
  options: Readonly<Record<string, unknown>>,
  cacheFolder: string | null,
  build: ModelBuild<Facts>,
): Promise<CachedModel<Facts>> {
  const root = await writableCacheFolder({chosen: cacheFolder, part: 'models', hint: folderHint});
  const folder = path.join(root, 'models', await cacheKey(root, sourcePaths, options));
  const known = await readDescription<Facts>(folder);
  if (known) return toCachedModel(folder, known, false);
  return toCachedModel(folder, await buildInto(folder, build), true);
}

function toCachedModel<Facts>(
  folder: string,
  {facts, files}: Description<Facts>,
  wasBuilt: boolean,
): CachedModel<Facts> {
  return {folder, facts, wasBuilt, numBytes: Object.values(files).reduce((sum, size) => sum + size, 0)};
}

async function cacheKey(
  root: string,
  sourcePaths: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<string> {
  const content: string[] = [];
  for (const sourcePath of sourcePaths) content.push(await contentHash(root, sourcePath));
  const parts = JSON.stringify([content, builderVersion, options]);
  return createHash('sha256').update(parts).digest('hex').slice(0, 32);
}

/** SHA-256 of the file; remembered by path, size and time of change, so that a large file is read once. */
async function contentHash(root: string, sourcePath: string): Promise<string> {
  const file = await realpath(sourcePath);
  const {size, mtimeMs, ino} = await stat(file);
  const noteName = createHash('sha256')
    .update(JSON.stringify([file, size, mtimeMs, ino]))
    .digest('hex');
  const note = path.join(root, 'models', `${noteName.slice(0, 32)}.sha256`);
  const known = await readFile(note, 'utf8').catch(() => null);
  if (known && /^[0-9a-f]{64}$/.test(known)) return known;
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, {highWaterMark: 1 << 20}), hash);
  const digest = hash.digest('hex');
  // Without the note, in a folder that can only be read, the file is read again next time.
  await writeFileAtomically(note, digest).catch(() => {});
  return digest;
}

async function readDescription<Facts>(folder: string): Promise<Description<Facts> | null> {
  const text = await readFile(path.join(folder, descriptionFileName), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    const description = JSON.parse(text) as Description<Facts>;
    for (const [name, size] of Object.entries(description.files)) {
      if ((await stat(path.join(folder, name))).size !== size) return null;
    }
    return description;
  } catch {
    return null;
  }
}

async function buildInto<Facts>(folder: string, build: ModelBuild<Facts>): Promise<Description<Facts>> {
  await discardAbandonedDrafts(path.dirname(folder));
  const draft = `${folder}${draftMark}${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await mkdir(draft);
    const description = await build(draft);
    await writeFile(path.join(draft, descriptionFileName), JSON.stringify(description));
    await replaceFolder(draft, folder);
    return description;
  } catch (error) {
    await rm(draft, {recursive: true, force: true});
    throw isSystemError(error)
      ? new ModelError(`Cannot build the model in ${folder}: ${writeFault(error)}. ${folderHint}`, {cause: error})
      : error;
  }
}

/**
 * Takes away what builders left that were killed: a draft whose process is gone here and that nobody has touched for a
 * while (on a shared disk the builder may run on another machine).
 */
async function discardAbandonedDrafts(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const pid = /\.building-(\d+)-[0-9a-f]+$/.exec(name)?.[1];
    const draft = path.join(root, name);
    if (pid === undefined || isRunning(Number(pid)) || Date.now() - (await lastChangeMs(draft)) < abandonedAfterMs)
      continue;
    await rm(draft, {recursive: true, force: true}).catch(() => {});
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Of a folder and the files in it; milliseconds since 1970, 0 when it is gone. */
async function lastChangeMs(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const paths = [folder, ...names.map((name) => path.join(folder, name))];
  const times = await Promise.all(
    paths.map((file) =>
      stat(file).then(
        ({mtimeMs}) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(...times);
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

/**
 * Puts the draft in its place. Another process may finish the same model at any moment: then that folder stays and the
 * draft goes. A damaged folder is moved away, never emptied in place, so that nobody opens half of it.
 */
async function replaceFolder(draft: string, folder: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await rename(draft, folder);
    } catch (error) {
      if (attempt === maxAttempts) throw error;
    }
    if ((await readDescription(folder)) !== null) return rm(draft, {recursive: true, force: true});
    await discard(folder);
  }
}

async function discard(folder: string): Promise<void> {
  const removed = `${folder}.damaged-${randomBytes(4).toString('hex')}`;
  await rename(folder, removed).catch(() => {});
  await rm(removed, {recursive: true, force: true});
}
