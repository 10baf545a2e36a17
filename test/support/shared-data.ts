/** Golden files of the folder beside the repository. Suites that need them are skipped where it is absent. */
import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

export const sharedFolder = join(import.meta.dirname, '../../../shared');

export const hasSharedData = existsSync(join(sharedFolder, 'golden'));

export function readGoldenLines<T>(name: string): T[] {
  return readGoldenTexts(name).map((line) => JSON.parse(line) as T);
}

/** The lines as they stand in the file, for readers that keep the kinds of numbers. */
export function readGoldenTexts(name: string): string[] {
  const text = readFileSync(join(sharedFolder, 'golden', name), 'utf8');
  return text.split('\n').filter((line) => line !== '');
}
