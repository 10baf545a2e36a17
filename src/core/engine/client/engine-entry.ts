/** Where the entry file of the engine process is, built or in the sources, and how node must be called for it. */
import {type EntryFile, entryFileOf, findEntryFile} from '../../util/entry-file.ts';

export type EngineEntry = EntryFile;

/** @param fromUrl address of this module, in its source or built form */
export function findEngineEntry(fromUrl: string = import.meta.url): EngineEntry {
  return findEntryFile({fromUrl, source: '../engine-process.ts', builtName: 'engine-process.js'});
}

export const engineEntryOf = entryFileOf;
