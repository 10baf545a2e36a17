/**
 * GGUF models in parts, as `llama-gguf-split` writes them: `name-00001-of-00003.gguf` and so on, side by side. Any part
 * stands for the model; its weights are found through the first.
 */
import {stat} from 'node:fs/promises';
import {basename, dirname} from 'node:path';
import {ModelError} from '../../errors.ts';

export interface PartName {
  /** What stands before the number. */
  stem: string;
  /** From 1. */
  part: number;
  numParts: number;
}

const digits = 5;

/** @returns null for a name that is not of a part */
export function parsePartName(path: string): PartName | null {
  const [, stem, part, numParts] = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/is.exec(path) ?? [];
  if (stem === undefined) return null;
  const name = {stem, part: Number(part), numParts: Number(numParts)};
  return name.part >= 1 && name.part <= name.numParts ? name : null;
}

/** @returns the names of all parts, in order */
export function partNames({stem, numParts}: PartName): string[] {
  const padded = (value: number) => String(value).padStart(digits, '0');
  return Array.from({length: numParts}, (_, index) => `${stem}-${padded(index + 1)}-of-${padded(numParts)}.gguf`);
}

/** The path that stands for the whole model: the first part, or the file itself. */
export function wholePath(path: string): string {
  const name = parsePartName(path);
  return name === null ? path : (partNames(name)[0] as string);
}

/**
 * @returns the files of a GGUF model, the first part first
 * @throws ModelError when a part is not beside the others
 */
export async function ggufPartsOf(path: string): Promise<string[]> {
  const name = parsePartName(path);
  if (name === null) return [path];
  const paths = partNames(name);
  const missing: string[] = [];
  for (const part of paths) if ((await stat(part).catch(() => null)) === null) missing.push(basename(part));
  if (missing.length > 0) throw missingParts(path, dirname(path), missing);
  return paths;
}

/** @param place where they were looked for */
export function missingParts(path: string, place: string, missing: readonly string[]): ModelError {
  const some = `${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', …' : ''}`;
  return new ModelError(`${path} is one part of several, and ${place} lacks ${some}. Is the download complete?`);
}
