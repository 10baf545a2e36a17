/** Where the entry file of the engine process is, built or in the sources, and how node must be called for it. */
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {assertInvariant} from '../../util/assert.ts';

export interface EngineEntry {
  modulePath: string;
  /** Arguments of node itself. */
  execArgv: string[];
}

/** Seen from the sources, and from a chunk of the built package at any depth. */
const sourcePlace = '../engine-process.ts';
const builtPlaces = ['./engine-process.js', '../engine-process.js', '../../engine-process.js'];

/** @param fromUrl address of this module, in its source or built form */
export function findEngineEntry(fromUrl: string = import.meta.url): EngineEntry {
  const places = fromUrl.endsWith('.ts') ? [sourcePlace] : builtPlaces;
  const modulePath = places.map((place) => fileURLToPath(new URL(place, fromUrl))).find((path) => existsSync(path));
  assertInvariant(modulePath !== undefined, `the engine's entry file is one of ${places.join(', ')} from ${fromUrl}`);
  return engineEntryOf(modulePath);
}

/** TypeScript runs through tsx, which only a checkout of the sources has. */
export function engineEntryOf(modulePath: string): EngineEntry {
  if (!modulePath.endsWith('.ts')) return {modulePath, execArgv: []};
  const tsxPath = createRequire(modulePath).resolve('tsx');
  return {modulePath, execArgv: ['--import', pathToFileURL(tsxPath).href]};
}
