/** Where this package is installed; the embedded model lies there. Works from the sources and from the built files. */
import {existsSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {assertInvariant} from './assert.ts';

/** @returns the nearest folder above this file that holds a `package.json` */
export function findPackageRoot(start = dirname(fileURLToPath(import.meta.url))): string {
  if (existsSync(join(start, 'package.json'))) return start;
  const parent = dirname(start);
  assertInvariant(parent !== start, 'the program lies inside its package');
  return findPackageRoot(parent);
}
