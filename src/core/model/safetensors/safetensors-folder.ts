/** All tensors of a Hugging Face folder: one `model.safetensors`, or shards that an index file lists. */
import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {ModelError} from '../../errors.ts';
import {readJsonObject} from '../../util/read-json.ts';
import {SafetensorsFile, type SafetensorsTensor} from './safetensors-file.ts';

const singleName = 'model.safetensors';
const indexName = 'model.safetensors.index.json';

/** @returns true when the folder's file names are those of a model in safetensors */
export function hasSafetensors(names: readonly string[]): boolean {
  return names.includes(singleName) || names.includes(indexName);
}

/**
 * @returns absolute paths of the weight files
 * @throws ModelError when a shard is missing
 */
export async function weightFilesOf(folder: string): Promise<string[]> {
  const names = new Set(await readdir(folder));
  if (!names.has(indexName)) return [join(folder, singleName)];
  const index = await readJsonObject(join(folder, indexName));
  const weightMap = index?.weight_map;
  if (typeof weightMap !== 'object' || weightMap === null) {
    throw new ModelError(`${join(folder, indexName)} has no weight_map.`);
  }
  const shards = [...new Set(Object.values(weightMap))].sort();
  // Only names of files in this folder: an index must not lead elsewhere.
  const missing = shards.filter((shard) => typeof shard !== 'string' || !names.has(shard));
  if (shards.length === 0 || missing.length > 0) {
    throw new ModelError(
      `${join(folder, indexName)} names files that are not in the folder: ${missing.slice(0, 3).map(String).join(', ')}. Is the download complete?`,
    );
  }
  return shards.map((shard) => join(folder, shard as string));
}

export class SafetensorsFolder {
  readonly path: string;
  readonly #files: readonly SafetensorsFile[];
  readonly #fileOf = new Map<SafetensorsTensor, SafetensorsFile>();

  private constructor(path: string, files: readonly SafetensorsFile[]) {
    this.path = path;
    this.#files = files;
    for (const file of files) for (const tensor of file.tensors.values()) this.#fileOf.set(tensor, file);
  }

  /** @throws ModelError when a file is missing, damaged or cut off */
  static async open(folder: string): Promise<SafetensorsFolder> {
    const files: SafetensorsFile[] = [];
    try {
      for (const path of await weightFilesOf(folder)) files.push(await SafetensorsFile.open(path));
      return new SafetensorsFolder(folder, files);
    } catch (error) {
      await Promise.all(files.map((file) => file.close()));
      throw error;
    }
  }

  get tensors(): SafetensorsTensor[] {
    return [...this.#fileOf.keys()];
  }

  read(tensor: SafetensorsTensor): Promise<Uint8Array> {
    const file = this.#fileOf.get(tensor);
    if (!file) throw new ModelError(`${this.path} has no tensor "${tensor.name}".`);
    return file.read(tensor);
  }

  async close(): Promise<void> {
    await Promise.all(this.#files.map((file) => file.close()));
  }
}
