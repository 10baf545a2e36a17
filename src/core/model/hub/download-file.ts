/**
 * One file of the Hub into the cache: goes on where an earlier try was cut off, tries again while there is progress, and
 * lets a content in only when its hash is the one that the repository names.
 */
import {createHash, type Hash} from 'node:crypto';
import {createReadStream} from 'node:fs';
import {type FileHandle, open, rename, rm, stat} from 'node:fs/promises';
import {dirname} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {ModelError} from '../../errors.ts';
import {makeFolder} from '../../util/make-folder.ts';
import {sizeText} from './choose-files.ts';
import {withFileLock} from './file-lock.ts';
import type {CachedRepo} from './hub-cache.ts';
import {type HubClient, type HubFile, HubUnreachableError} from './hub-client.ts';

export interface DownloadContext {
  client: HubClient;
  cache: CachedRepo;
  commit: string;
  signal: AbortSignal;
  /** Bytes that are there of this file so far. */
  onProgress: (file: HubFile, numBytes: number) => void;
  onWait: (file: HubFile) => void;
  /** Before the first further try; doubled with each one. */
  retryMs: number;
}

/** Tries in a row without a single byte. */
const maxIdleTries = 5;
const longestRetryMs = 30_000;

/** @throws ModelError when it cannot be had, does not fit on the disk or is not what the repository says */
export async function downloadFile(file: HubFile, context: DownloadContext): Promise<void> {
  const {cache, commit, signal, onWait} = context;
  const blob = cache.blobPath(file.hash);
  const place = cache.pathOf(commit, file.path);
  if ((await sizeOf(place)) === file.numBytes) return context.onProgress(file, file.numBytes);
  await withFileLock(cache.lockPath(file.hash), {signal, onWait: () => onWait(file)}, async () => {
    if ((await sizeOf(blob)) !== file.numBytes) await fetchBlob(file, blob, context);
    await cache.link(commit, file.path, file.hash);
  });
  context.onProgress(file, file.numBytes);
}

async function fetchBlob(file: HubFile, blob: string, context: DownloadContext): Promise<void> {
  await makeFolder(dirname(blob));
  const draft = `${blob}.parlance-incomplete`;
  await fetchInto(draft, file, context);
  if ((await hashOf(draft, file)) !== file.hash) {
    // What was there before may have been damaged; a second fault cannot be explained so.
    await rm(draft, {force: true});
    await fetchInto(draft, file, context);
    if ((await hashOf(draft, file)) !== file.hash) {
      await rm(draft, {force: true});
      throw new ModelError(
        `${context.cache.repo}: ${file.path} arrived damaged twice, its hash is not ${file.hash}. Is a proxy changing it?`,
      );
    }
  }
  await rename(draft, blob);
}

/** Until the file is complete; each try goes on behind what is there. */
async function fetchInto(draft: string, file: HubFile, context: DownloadContext): Promise<void> {
  const {signal, retryMs} = context;
  for (let idleTries = 0; ; ) {
    const before = (await sizeOf(draft)) ?? 0;
    if (before > file.numBytes) await rm(draft);
    if (before === file.numBytes && before > 0) return;
    try {
      return await fetchRest(draft, file, context);
    } catch (error) {
      const hasGrown = ((await sizeOf(draft)) ?? 0) > before;
      idleTries = hasGrown ? 0 : idleTries + 1;
      if (!(error instanceof HubUnreachableError) || idleTries >= maxIdleTries) throw error;
      const waitMs = error.retryAfterMs ?? retryMs * 2 ** idleTries;
      await delay(Math.min(waitMs, longestRetryMs), undefined, {signal});
    }
  }
}

async function fetchRest(draft: string, file: HubFile, context: DownloadContext): Promise<void> {
  const {client, cache, commit, signal} = context;
  const there = Math.min((await sizeOf(draft)) ?? 0, file.numBytes);
  const {start, chunks} = await client.openFile(cache.repo, commit, file.path, there, signal);
  const handle = await open(draft, start === 0 ? 'w' : 'r+');
  try {
    await writeChunks(handle, chunks, start, file, context);
  } finally {
    await handle.close();
  }
}

async function writeChunks(
  handle: FileHandle,
  chunks: AsyncIterable<Uint8Array>,
  start: number,
  file: HubFile,
  {signal, onProgress}: DownloadContext,
): Promise<void> {
  let at = start;
  try {
    for await (const chunk of chunks) {
      if (at + chunk.length > file.numBytes)
        throw new ModelError(`${file.path} is longer than ${file.numBytes} bytes.`);
      await writeAll(handle, chunk, at);
      at += chunk.length;
      onProgress(file, at);
    }
  } catch (cause) {
    if (cause instanceof ModelError || signal.aborted) throw cause;
    throw isFull(cause) ? noSpace(file, cause) : cutOff(file, at, cause);
  }
  if (at < file.numBytes) throw cutOff(file, at, null);
}

async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
  }
}

function cutOff({path, numBytes}: HubFile, at: number, cause: unknown): HubUnreachableError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new HubUnreachableError(`${path} was cut off at ${sizeText(at)} of ${sizeText(numBytes)}${reason}.`, {cause});
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
}

export function noSpace({path, numBytes}: HubFile, cause: unknown): ModelError {
  return new ModelError(
    `There is no space left for ${path} (${sizeText(numBytes)}). Free some, or choose another folder with --download-dir.`,
    {cause},
  );
}

/** In the way that the Hub names contents: SHA-256 of large files, git's hash of small ones. */
async function hashOf(path: string, {hash, numBytes}: HubFile): Promise<string> {
  const digest: Hash = hash.length === 64 ? createHash('sha256') : createHash('sha1').update(`blob ${numBytes}\0`);
  for await (const chunk of createReadStream(path, {highWaterMark: 1 << 20})) digest.update(chunk as Buffer);
  return digest.digest('hex');
}

/** @returns null when there is no such file */
async function sizeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({size}) => size,
    () => null,
  );
}
