/** Tells when one of several files has changed. Editors write a file in several steps, so changes are gathered a moment. */
import {watch as watchFile} from 'node:fs';
import {basename, dirname, resolve} from 'node:path';

/** Changes within this time are one. */
const settleMs = 80;

/**
 * Calls back after each change until the signal is aborted. The folders are watched, because editors replace files.
 * @param paths files that exist
 */
export async function watchFiles(
  paths: readonly string[],
  onChange: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const files = paths.map((path) => resolve(path));
  await new Promise<void>((finish) => {
    let timer: NodeJS.Timeout | null = null;
    const changed = () => {
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => void onChange(), settleMs);
    };
    for (const folder of new Set(files.map((file) => dirname(file)))) {
      const names = new Set(files.filter((file) => dirname(file) === folder).map((file) => basename(file)));
      watchFile(folder, {signal}, (_event, name) => {
        if (name !== null && names.has(name)) changed();
      });
    }
    signal.addEventListener('abort', () => finish(), {once: true});
  });
}
