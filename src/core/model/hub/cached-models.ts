/** What of the Hub is on this disk: every cached model with its revisions and the bytes that it really takes. */
import {readdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {CachedRepo} from './hub-cache.ts';

export interface CachedRevision {
  commit: string;
  /** Branches and tags that were at this commit when they were last asked for. */
  refs: string[];
  /** Paths as in the repository. */
  files: {path: string; numBytes: number}[];
}

export interface CachedModelEntry {
  /** `owner/name` */
  repo: string;
  folder: string;
  /** Contents count once, whatever revisions have them; unfinished downloads count too. */
  numBytes: number;
  /** Bytes of downloads that were not finished. */
  unfinishedBytes: number;
  lastUsedMs: number;
  revisions: CachedRevision[];
}

/** @returns in order of name; empty when there is no cache */
export async function listCachedModels(cacheFolder: string): Promise<CachedModelEntry[]> {
  const names = await readdir(cacheFolder).catch((): string[] => []);
  const repos = names.sort().flatMap((name) => repoOf(name) ?? []);
  return Promise.all(repos.map((repo) => describeRepo(new CachedRepo(cacheFolder, repo))));
}

/** @returns null when nothing of it is there */
export async function findCachedModel(cacheFolder: string, repo: string): Promise<CachedModelEntry | null> {
  const cached = new CachedRepo(cacheFolder, repo);
  const isThere = (await stat(cached.folder).catch(() => null))?.isDirectory() ?? false;
  return isThere ? describeRepo(cached) : null;
}

/** `models--owner--name`; models of the first days have no owner and cannot be named here. */
function repoOf(folder: string): string | null {
  const [, owner, name] = /^models--(.+?)--(.+)$/.exec(folder) ?? [];
  return owner === undefined || name === undefined ? null : `${owner}/${name}`;
}

async function describeRepo(cached: CachedRepo): Promise<CachedModelEntry> {
  const blobs = await blobsOf(cached.folder);
  const refs = await refsOf(cached.folder, cached);
  const commits = await readdir(join(cached.folder, 'snapshots')).catch((): string[] => []);
  const revisions = await Promise.all(
    commits.map(async (commit) => ({
      commit,
      refs: refs.filter((ref) => ref.commit === commit).map(({name}) => name),
      files: await cached.cachedFiles(commit),
    })),
  );
  return {
    repo: cached.repo,
    folder: cached.folder,
    numBytes: sum(blobs),
    unfinishedBytes: sum(blobs.filter(({name}) => name.includes('incomplete'))),
    lastUsedMs: Math.max(0, ...blobs.map(({usedMs}) => usedMs)),
    revisions,
  };
}

interface Blob {
  name: string;
  numBytes: number;
  usedMs: number;
}

async function blobsOf(folder: string): Promise<Blob[]> {
  const names = await readdir(join(folder, 'blobs')).catch((): string[] => []);
  return Promise.all(
    names.map(async (name) => {
      const {size, atimeMs, mtimeMs} = await stat(join(folder, 'blobs', name));
      return {name, numBytes: size, usedMs: Math.max(atimeMs, mtimeMs)};
    }),
  );
}

/** Names of branches may have slashes. */
async function refsOf(folder: string, cached: CachedRepo) {
  const root = join(folder, 'refs');
  const entries = await readdir(root, {recursive: true}).catch((): string[] => []);
  const refs = await Promise.all(
    entries.map(async (name) => ({name, commit: await cached.commitOf(name).catch(() => null)})),
  );
  return refs.filter(({commit}) => commit !== null);
}

function sum(blobs: readonly Blob[]): number {
  return blobs.reduce((total, {numBytes}) => total + numBytes, 0);
}
