/** Makes a folder and the ones above it, without Node's recursive way, which never ends where the kernel answers oddly. */
import {mkdir, stat} from 'node:fs/promises';
import {dirname} from 'node:path';

/**
 * Others may make the same folders at the same time.
 * @throws the file system's error when the folder can be neither found nor made
 */
export async function makeFolder(folder: string): Promise<void> {
  if (await isMade(folder)) return;
  const parent = dirname(folder);
  if (!(await isFolder(parent))) await makeFolder(parent);
  if (!(await isMade(folder))) await mkdir(folder);
}

/** @returns false when the folder above is missing */
async function isMade(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (await isFolder(folder)) return true;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(folder) !== folder) return false;
    throw error;
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
