/** Where the entry file of another process is, built or in the sources, and how node must be called for it. */
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {assertInvariant} from './assert.ts';

export interface EntryFile {
  modulePath: string;
  /** Arguments of node itself. */
  execArgv: string[];
}

export interface EntryPlaces {
  /** Address of the module that asks, in its source or built form. */
  fromUrl: string;
  /** The source, seen from there. */
  source: string;
  /** Name of the built file at the top of `dist`. */
  builtName: string;
}

/** A chunk of the built package may lie in a folder of any of these depths. */
const depths = ['./', '../', '../../'];

export function findEntryFile({fromUrl, source, builtName}: EntryPlaces): EntryFile {
  const places = fromUrl.endsWith('.ts') ? [source] : depths.map((depth) => depth + builtName);
  const modulePath = places.map((place) => fileURLToPath(new URL(place, fromUrl))).find((path) => existsSync(path));
  assertInvariant(modulePath !== undefined, `the entry file is one of ${places.join(', ')} from ${fromUrl}`);
  return entryFileOf(modulePath);
}

/** TypeScript runs through tsx, which only a checkout of the sources has. */
export function entryFileOf(modulePath: string): EntryFile {
  if (!modulePath.endsWith('.ts')) return {modulePath, execArgv: []};
  const tsxPath = createRequire(modulePath).resolve('tsx');
  return {modulePath, execArgv: ['--import', pathToFileURL(tsxPath).href]};
}
