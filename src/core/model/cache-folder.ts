/**
 * Where things are kept that can be made again: the folder that the user chose, else the cache folder of the user, else one
 * of the user's own among the temporary files, where the home cannot be written (containers, services).
 */
import {lstat, mkdir} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {ModelError} from '../errors.ts';
import {writeFault} from '../util/file-fault.ts';
import {makeFolder} from '../util/make-folder.ts';
import {userCacheFolder} from '../util/user-folders.ts';

interface Wanted {
  /** Null for the usual places. */
  chosen: string | null;
  /** Folder that is needed inside. */
  part: string;
  /** What to try when there is no such folder, as a sentence. */
  hint: string;
}

/**
 * @returns the first folder in which `part` exists or can be made
 * @throws ModelError when there is none
 */
export async function writableCacheFolder({chosen, part, hint}: Wanted): Promise<string> {
  const temporary = temporaryFolder();
  const candidates = chosen === null ? [userCacheFolder(), temporary] : [chosen];
  let reason: unknown;
  for (const folder of candidates) {
    try {
      if (folder === temporary) await makeOwnFolder(folder);
      await makeFolder(resolve(folder, part));
      return folder;
    } catch (error) {
      reason = error;
    }
  }
  const message = `Cannot write the model cache ${candidates.join(' or ')}: ${writeFault(reason)}. ${hint}`;
  throw new ModelError(message, {cause: reason});
}

/** Named after the user, because others may write beside it. */
function temporaryFolder(): string {
  return join(tmpdir(), `parlance-cache-${process.getuid?.() ?? 'user'}`);
}

/** @throws when another user made the folder: what lies in it cannot be trusted */
async function makeOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, {mode: 0o700}).catch(() => {});
  const stats = await lstat(folder);
  const isOwn = stats.isDirectory() && (process.getuid === undefined || stats.uid === process.getuid());
  if (!isOwn) throw new Error(`${folder} belongs to another user`);
}
