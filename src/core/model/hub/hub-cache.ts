/**
 * The cache of the Hub on this disk, in the layout that all tools of Hugging Face share, so that nothing is downloaded
 * twice: `models--owner--name/blobs/<hash>` holds contents, `snapshots/<commit>/<path>` links to them, `refs/<revision>`
 * names the commit of a branch or tag.
 */
import {copyFile, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {dirname, join, relative, sep} from 'node:path';
import {ModelError} from '../../errors.ts';
import {writeFault} from '../../util/file-fault.ts';
import {makeFolder} from '../../util/make-folder.ts';
import type {RepoFile} from './choose-files.ts';

const commitPattern = /^[0-9a-f]{40,64}$/;

export class CachedRepo {
  readonly folder: string;
  readonly repo: string;
  readonly #locks: string;

  constructor(cacheFolder: string, repo: string) {
    const name = `models--${repo.replace('/', '--')}`;
    this.repo = repo;
    this.folder = join(cacheFolder, name);
    this.#locks = join(cacheFolder, '.locks', name);
  }

  snapshotFolder(commit: string): string {
    return join(this.folder, 'snapshots', commit);
  }

  /** @param hash of the content @throws ModelError for a hash that is none */
  blobPath(hash: string): string {
    if (!commitPattern.test(hash))
      throw new ModelError(`${this.repo} lists a file with the impossible hash "${hash}".`);
    return join(this.folder, 'blobs', hash);
  }

  lockPath(hash: string): string {
    return join(this.#locks, `${hash}.parlance`);
  }

  /** The commit that was last seen for a branch or tag; null = never. */
  async commitOf(revision: string): Promise<string | null> {
    if (commitPattern.test(revision)) return revision;
    const text = await readFile(this.#refPath(revision), 'utf8').catch(() => '');
    return commitPattern.test(text.trim()) ? text.trim() : null;
  }

  async setCommit(revision: string, commit: string): Promise<void> {
    if (revision === commit || (await this.commitOf(revision)) === commit) return;
    const path = this.#refPath(revision);
    await makeFolder(dirname(path));
    const draft = `${path}.${process.pid}`;
    await writeFile(draft, commit);
    await rename(draft, path);
  }

  /** Files that are complete in this cache; empty when there are none. */
  async cachedFiles(commit: string): Promise<RepoFile[]> {
    return filesBelow(this.snapshotFolder(commit));
  }

  /** Makes a file of the snapshot out of a content that is there. */
  async link(commit: string, path: string, hash: string): Promise<void> {
    const place = this.pathOf(commit, path);
    const blob = this.blobPath(hash);
    await makeFolder(dirname(place));
    const draft = `${place}.${process.pid}.link`;
    await rm(draft, {force: true});
    // Where links are not allowed, as on some Windows systems, the file is there twice.
    await symlink(relative(dirname(place), blob), draft).catch(() => copyFile(blob, draft));
    await rename(draft, place);
  }

  /** @throws ModelError for a path that leads out of the snapshot */
  pathOf(commit: string, path: string): string {
    const parts = path.split('/');
    const isPlain = parts.every((part) => part !== '' && part !== '.' && part !== '..') && !/[\\:\0]/.test(path);
    if (isPlain) return join(this.snapshotFolder(commit), ...parts);
    throw new ModelError(`${this.repo} lists a file with the impossible name ${JSON.stringify(path)}.`);
  }

  #refPath(revision: string): string {
    if (/^[\w][\w./-]*$/.test(revision) && !revision.includes('..')) return join(this.folder, 'refs', revision);
    throw new ModelError(`"${revision}" is no name of a branch, tag or commit.`);
  }

  async remove(): Promise<void> {
    await rm(this.folder, {recursive: true, force: true});
    await rm(this.#locks, {recursive: true, force: true});
  }
}

/** Files whose content is there, with paths as in the repository. */
async function filesBelow(folder: string, root = folder): Promise<RepoFile[]> {
  const files: RepoFile[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => null);
    if (stats?.isDirectory() && !(await lstat(path)).isSymbolicLink()) files.push(...(await filesBelow(path, root)));
    else if (stats?.isFile()) files.push({path: relative(root, path).split(sep).join('/'), numBytes: stats.size});
  }
  return files;
}

/** Makes the folder of the cache, with the note that keeps backup programs out. @throws ModelError */
export async function prepareCacheFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    await mkdir(join(folder, '.locks')).catch(() => {});
  } catch (cause) {
    throw new ModelError(
      `The cache for models ${folder} cannot be written: ${writeFault(cause)}. Another folder is chosen with --download-dir or HF_HUB_CACHE.`,
      {cause},
    );
  }
}
