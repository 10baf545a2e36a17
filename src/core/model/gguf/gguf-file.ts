/**
 * A GGUF file opened for reading: typed access to its metadata and to the raw blocks of its tensors. The header is parsed
 * by `@huggingface/gguf`; every length and offset is checked against the file before anything is read or allocated.
 */
import {type FileHandle, open, stat} from 'node:fs/promises';
import {GGMLQuantizationType, gguf} from '@huggingface/gguf';
import {ModelError} from '../../errors.ts';
import {type GgmlType, ggmlTypeOf, supportedGgmlTypes} from './ggml-types.ts';

export interface GgufTensor {
  name: string;
  type: GgmlType;
  /** Innermost first, as in the file: `[columns, rows]`. */
  shape: readonly number[];
  /** Position in the file, in bytes. */
  offset: number;
  numBytes: number;
}

export class GgufFile {
  readonly path: string;
  readonly numBytes: number;
  readonly architecture: string;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  readonly #metadata: Readonly<Record<string, unknown>>;
  readonly #handle: FileHandle;

  private constructor(path: string, numBytes: number, header: Header, handle: FileHandle) {
    this.path = path;
    this.numBytes = numBytes;
    this.#metadata = header.metadata;
    this.#handle = handle;
    this.architecture = this.text('general.architecture');
    this.tensors = new Map(
      header.tensors.map((info) => [info.name, toTensor(info, header.dataOffset, numBytes, path)]),
    );
  }

  /** @throws ModelError when the file is missing, no GGUF file, cut off or holds types that cannot be read */
  static async open(path: string): Promise<GgufFile> {
    const numBytes = await fileSize(path);
    const header = await readHeader(path);
    if (header.dataOffset > numBytes) {
      throw new ModelError(
        `${path} is cut off: its header ends at byte ${header.dataOffset}, the file has ${numBytes}.`,
      );
    }
    const handle = await open(path, 'r');
    try {
      return new GgufFile(path, numBytes, header, handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** A whole number of the metadata. @throws ModelError when it is missing or no whole number >= 0 */
  integer(key: string): number {
    const value = this.optionalInteger(key);
    if (value === null) throw this.#missing(key);
    return value;
  }

  optionalInteger(key: string): number | null {
    const value = this.optionalNumber(key);
    if (value !== null && !(Number.isSafeInteger(value) && value >= 0)) throw this.#wrong(key, 'a whole number');
    return value;
  }

  optionalNumber(key: string): number | null {
    const value = this.#metadata[key];
    if (value === undefined) return null;
    if (typeof value === 'bigint') return Number(value);
    if (typeof value !== 'number' || !Number.isFinite(value)) throw this.#wrong(key, 'a number');
    return value;
  }

  text(key: string): string {
    const value = this.optionalText(key);
    if (value === null) throw this.#missing(key);
    return value;
  }

  optionalText(key: string): string | null {
    const value = this.#metadata[key];
    if (value === undefined) return null;
    if (typeof value !== 'string') throw this.#wrong(key, 'a text');
    return value;
  }

  optionalBoolean(key: string): boolean | null {
    const value = this.#metadata[key];
    if (value === undefined) return null;
    if (typeof value !== 'boolean') throw this.#wrong(key, 'true or false');
    return value;
  }

  optionalTexts(key: string): readonly string[] | null {
    return this.#optionalList(key, 'texts', (entry): entry is string => typeof entry === 'string');
  }

  optionalNumbers(key: string): readonly number[] | null {
    return this.#optionalList(key, 'numbers', (entry): entry is number => typeof entry === 'number');
  }

  #optionalList<T>(key: string, kind: string, isOfKind: (entry: unknown) => entry is T): readonly T[] | null {
    const value = this.#metadata[key];
    if (value === undefined) return null;
    if (Array.isArray(value) && value.every(isOfKind)) return value;
    throw new ModelError(`${this.path}: metadata key "${key}" must be a list of ${kind}.`);
  }

  /** @throws ModelError when the file has no such tensor */
  tensor(name: string): GgufTensor {
    const tensor = this.tensors.get(name);
    if (!tensor)
      throw new ModelError(
        `${this.path} has no tensor "${name}", which this architecture (${this.architecture}) needs.`,
      );
    return tensor;
  }

  /** @returns the raw blocks of a tensor */
  async readTensor(tensor: GgufTensor): Promise<Uint8Array> {
    const bytes = new Uint8Array(tensor.numBytes);
    let done = 0;
    while (done < bytes.length) {
      const {bytesRead} = await this.#handle.read(bytes, done, bytes.length - done, tensor.offset + done);
      if (bytesRead === 0) throw new ModelError(`${this.path} ended while tensor "${tensor.name}" was read.`);
      done += bytesRead;
    }
    return bytes;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  #missing(key: string): ModelError {
    return new ModelError(`${this.path} lacks the metadata key "${key}".`);
  }

  #wrong(key: string, wanted: string): ModelError {
    return new ModelError(
      `${this.path}: metadata key "${key}" must be ${wanted}, not ${JSON.stringify(this.#metadata[key])}.`,
    );
  }
}

interface TensorHeader {
  name: string;
  shape: readonly bigint[];
  dtype: number;
  offset: bigint;
}

interface Header {
  metadata: Readonly<Record<string, unknown>>;
  tensors: readonly TensorHeader[];
  dataOffset: number;
}

async function fileSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (cause) {
    throw new ModelError(`Cannot read ${path}: ${(cause as Error).message}`, {cause});
  }
}

async function readHeader(path: string): Promise<Header> {
  try {
    const {metadata, tensorInfos, tensorDataOffset, littleEndian} = await gguf(path, {allowLocalFile: true});
    if (!littleEndian) throw new Error('big-endian files are not supported');
    // The package types every known key of every architecture; a file may hold anything, so each read is checked.
    const values = metadata as unknown as Record<string, unknown>;
    return {metadata: values, tensors: tensorInfos, dataOffset: Number(tensorDataOffset)};
  } catch (cause) {
    throw new ModelError(`${path} is not a readable GGUF file: ${(cause as Error).message}`, {cause});
  }
}

function toTensor(info: TensorHeader, dataOffset: number, fileBytes: number, path: string): GgufTensor {
  const type = ggmlTypeOf(info.dtype);
  if (!type) {
    throw new ModelError(
      `${path}: tensor "${info.name}" is of type ${GGMLQuantizationType[info.dtype] ?? info.dtype}, which is not supported. ` +
        `Supported types: ${supportedGgmlTypes.join(', ')}.`,
    );
  }
  const shape = info.shape.map(Number);
  const numWeights = shape.reduce((product, size) => product * size, 1);
  const numBytes = (numWeights / type.blockSize) * type.blockBytes;
  const offset = dataOffset + Number(info.offset);
  if (shape.length === 0 || (shape[0] as number) % type.blockSize !== 0 || !Number.isSafeInteger(numBytes)) {
    throw new ModelError(
      `${path}: tensor "${info.name}" has the impossible shape [${shape.join(', ')}] for type ${type.name}.`,
    );
  }
  if (offset + numBytes > fileBytes) {
    throw new ModelError(
      `${path} is cut off: tensor "${info.name}" ends at byte ${offset + numBytes}, the file has ${fileBytes}.`,
    );
  }
  return {name: info.name, type, shape, offset, numBytes};
}
