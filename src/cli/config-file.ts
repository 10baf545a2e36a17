/**
 * Reads the file of `--config`: YAML with flat keys named as the flags. Each entry keeps its line, so that a mistake
 * can be found. The YAML package is loaded only when there is a file.
 */
import {readFile} from 'node:fs/promises';
import {basename} from 'node:path';
import {UsageError} from '../core/errors.ts';
import {readFault} from '../core/util/file-fault.ts';
import type {ConfigEntry} from './normalize-argv.ts';

/** @throws UsageError when the file cannot be read or is no map */
export async function readConfigFile(path: string): Promise<ConfigEntry[]> {
  if (!/\.ya?ml$/i.test(path)) throw new UsageError(`--config ${path} has to be a .yaml or .yml file`);
  return parseConfig(await readText(path), basename(path));
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`--config ${path} cannot be read: ${readFault(error)}`, {cause: error});
  }
}

async function parseConfig(text: string, name: string): Promise<ConfigEntry[]> {
  const {isMap, isScalar, LineCounter, parseDocument} = await import('yaml');
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {lineCounter, prettyErrors: false});
  const place = (offset: number) => `${name}:${lineCounter.linePos(offset).line}`;
  const [error] = document.errors;
  if (error) throw new UsageError(`${place(error.pos[0])} is no valid YAML: ${error.message}`);
  if (document.contents === null) return [];
  if (!isMap(document.contents)) throw new UsageError(`${name} has to be a map of flag names to values`);
  return document.contents.items.map(({key, value}) => {
    const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    const plain = (value as {toJS(target: unknown): unknown} | null)?.toJS(document) ?? null;
    return {key: String(key), value: plain, place: place(offset)};
  });
}
