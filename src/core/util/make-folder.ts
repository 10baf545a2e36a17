/** Makes a folder and the ones above it, without Node's recursive way, which never ends where the kernel answers oddly. */
import {mkdir, stat} from 'node:fs/promises';
import {dirname} from 'node:path';

/** @throws the file system's error when the folder can be neither found nor made */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (await isFolder(folder)) return;
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || (await isFolder(parent))) throw error;
    await makeFolder(parent);
    await makeFolder(folder);
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}
