/** Entry files of threads. Node gives the hooks of tsx to processes only, so a thread of the sources asks for them itself. */
import {pathToFileURL} from 'node:url';
import type {EntryFile} from './entry-file.ts';

/** What `new Worker()` takes for an entry file, built or in the sources. */
export function threadEntryOf({modulePath}: EntryFile): URL {
  if (!modulePath.endsWith('.ts')) return pathToFileURL(modulePath);
  const tsxUrl = import.meta.resolve('tsx/esm/api');
  const lines = [
    `import {register} from ${JSON.stringify(tsxUrl)};`,
    'register();',
    `await import(${JSON.stringify(pathToFileURL(modulePath).href)});`,
  ];
  return new URL(`data:text/javascript,${encodeURIComponent(lines.join('\n'))}`);
}
