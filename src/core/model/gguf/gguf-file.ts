/**
 * A GGUF file, or several parts of one, opened for reading: typed access to its metadata and to the raw blocks of its
 * tensors. Headers are parsed by `@huggingface/gguf`; every length and offset is checked against the file before anything
 * is read or allocated.
 */
import {type FileHandle, open, stat} from 'node:fs/promises';
import {GGMLQuantizationType, gguf} from '@huggingface/gguf';
import {ModelError} from '../../errors.ts';
import {readFault} from '../../util/file-fault.ts';
import {type GgmlType, ggmlTypeOf, supportedGgmlTypes} from './ggml-types.ts';
import {ggufPartsOf} from './gguf-parts.ts';

export interface GgufTensor {
  name: string;
  type: GgmlType;
  /** Innermost first, as in the file: `[columns, rows]`. */
  shape: readonly number[];
  /** Which of the file's parts has it, from 0. */
  part: number;
  /** Position in the part, in bytes. */
  offset: number;
  numBytes: number;
}

export class GgufFile {
  /** Of the first part. */
  readonly path: string;
  /** All parts, in order. */
  readonly paths: readonly string[];
  readonly numBytes: number;
  readonly architecture: string;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  readonly #metadata: Readonly<Record<string, unknown>>;
  readonly #handles: readonly FileHandle[];

  private constructor(headers: readonly Header[], handles: readonly FileHandle[]) {
    const [first] = headers as [Header];
    this.path = first.path;
    this.paths = headers.map(({path}) => path);
    this.numBytes = headers.reduce((sum, {numBytes}) => sum + numBytes, 0);
    this.#metadata = first.metadata;
    this.#handles = handles;
    this.architecture = this.text('general.architecture');
    this.tensors = new Map(
      headers.flatMap((header, part) => header.tensors.map((info) => [info.name, toTensor(info, header, part)])),
    );
    this.#checkParts(headers);
  }

  /**
   * @param path a file; with a name such as `x-00001-of-00003.gguf` one of the parts, the others beside it
   * @throws ModelError when one is missing, no GGUF file, cut off or holds types that cannot be read
   */
  static async open(path: string): Promise<GgufFile> {
    const paths = await ggufPartsOf(path);
    const headers: Header[] = [];
    for (const part of paths) headers.push(await readHeader(part));
    const handles: FileHandle[] = [];
    try {
      for (const part of paths) handles.push(await open(part, 'r'));
      return new GgufFile(headers, handles);
    } catch (error) {
      await Promise.all(handles.map((handle) => handle.close()));
      throw error;
    }
  }

  /** Names of files can be changed; what each says of itself must agree. */
  #checkParts(headers: readonly Header[]): void {
    const numParts = this.optionalInteger('split.count') ?? 1;
    if (Math.max(numParts, 1) !== headers.length) {
      throw new ModelError(
        `${this.path} is one part of ${numParts}, but its name says ${headers.length}. ` +
          'Parts need the names that llama-gguf-split gave them: name-00001-of-00002.gguf and so on.',
      );
    }
    for (const [part, {path, metadata}] of headers.entries()) {
      const no = metadata['split.no'];
      if (headers.length > 1 && Number(no) !== part)
        throw new ModelError(`${path} says that it is part ${Number(no) + 1}, not ${part + 1}.`);
    }
    const numTensors = this.optionalInteger('split.tensors.count');
    if (headers.length > 1 && numTensors !== null && numTensors !== this.tensors.size) {
      throw new ModelError(
        `${this.path} and its other parts have ${this.tensors.size} tensors, but ${numTensors} belong to the model. Are they parts of one model?`,
      );
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
    const handle = this.#handles[tensor.part] as FileHandle;
    const bytes = new Uint8Array(tensor.numBytes);
    let done = 0;
    while (done < bytes.length) {
      const {bytesRead} = await handle.read(bytes, done, bytes.length - done, tensor.offset + done);
      if (bytesRead === 0)
        throw new ModelError(`${this.paths[tensor.part]} ended while tensor "${tensor.name}" was read.`);
      done += bytesRead;
    }
    return bytes;
  }

  async close(): Promise<void> {
    await Promise.all(this.#handles.map((handle) => handle.close()));
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

/** Of one file. */
interface Header {
  path: string;
  numBytes: number;
  metadata: Readonly<Record<string, unknown>>;
  tensors: readonly TensorHeader[];
  dataOffset: number;
}

async function fileSize(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (cause) {
    throw new ModelError(`${path} cannot be read: ${readFault(cause)}`, {cause});
  }
}

async function readHeader(path: string): Promise<Header> {
  const numBytes = await fileSize(path);
  const header = await parseHeader(path);
  // A first part may have metadata only.
  if (header.dataOffset > numBytes && header.tensors.length > 0) {
    throw new ModelError(`${path} is cut off: its header ends at byte ${header.dataOffset}, the file has ${numBytes}.`);
  }
  return {...header, path, numBytes};
}

async function parseHeader(path: string): Promise<Omit<Header, 'path' | 'numBytes'>> {
  try {
    const {metadata, tensorInfos, tensorDataOffset, littleEndian} = await gguf(path, {allowLocalFile: true});
    if (!littleEndian) throw new Error('big-endian files are not supported');
    // The package types every known key of every architecture; a file may hold anything, so each read is checked.
    const values = metadata as unknown as Record<string, unknown>;
    return {metadata: values, tensors: tensorInfos, dataOffset: Number(tensorDataOffset)};
  } catch (cause) {
    throw new ModelError(
      `${path} is not a readable GGUF file: ${(cause as Error).message}. Is the download complete?`,
      {
        cause,
      },
    );
  }
}

function toTensor(info: TensorHeader, {path, dataOffset, numBytes: fileBytes}: Header, part: number): GgufTensor {
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
  return {name: info.name, type, shape, part, offset, numBytes};
}
