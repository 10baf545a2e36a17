/**
 * A safetensors file opened for reading: its header as checked tensors, and their bytes. Every length and offset is held
 * against the file before anything is read or allocated.
 */
import {type FileHandle, open} from 'node:fs/promises';
import {ModelError} from '../../errors.ts';
import {readFault} from '../../util/file-fault.ts';
import {parseJsonObject} from '../../util/read-json.ts';

/** Bytes of one element of each type that can be read. */
const elementBytes = {F32: 4, F16: 2, BF16: 2, U8: 1} as const;

export type SafetensorsType = keyof typeof elementBytes;

export interface SafetensorsTensor {
  name: string;
  type: SafetensorsType;
  /** Outermost first, as in the file: `[rows, columns]`. */
  shape: readonly number[];
  /** Position in the file, in bytes. */
  offset: number;
  numBytes: number;
}

const lengthBytes = 8;
/** The format's own limit. */
const maxHeaderBytes = 100_000_000;

export class SafetensorsFile {
  readonly path: string;
  readonly tensors: ReadonlyMap<string, SafetensorsTensor>;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle, tensors: ReadonlyMap<string, SafetensorsTensor>) {
    this.path = path;
    this.#handle = handle;
    this.tensors = tensors;
  }

  /** @throws ModelError when the file is missing, damaged, cut off or holds types that cannot be read */
  static async open(path: string): Promise<SafetensorsFile> {
    const handle = await openFile(path);
    try {
      return new SafetensorsFile(path, handle, await readTensors(handle, path));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async read(tensor: SafetensorsTensor): Promise<Uint8Array> {
    return readExactly(this.#handle, this.path, tensor.offset, tensor.numBytes);
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    throw new ModelError(`${path} cannot be read: ${readFault(cause)}`, {cause});
  }
}

async function readTensors(handle: FileHandle, path: string): Promise<Map<string, SafetensorsTensor>> {
  const fileBytes = (await handle.stat()).size;
  if (fileBytes < lengthBytes) throw new ModelError(`${path} is no safetensors file: it has only ${fileBytes} bytes.`);
  const lengthField = Buffer.from(await readExactly(handle, path, 0, lengthBytes));
  const headerBytes = Number(lengthField.readBigUInt64LE(0));
  if (headerBytes > maxHeaderBytes || lengthBytes + headerBytes > fileBytes) {
    throw new ModelError(
      `${path} is cut off or no safetensors file: its header should have ${headerBytes} bytes, the file has ${fileBytes}.`,
    );
  }
  const text = Buffer.from(await readExactly(handle, path, lengthBytes, headerBytes)).toString('utf8');
  const dataOffset = lengthBytes + headerBytes;
  const entries = Object.entries(parseJsonObject(text, `The header of ${path}`)).filter(
    ([name]) => name !== '__metadata__',
  );
  return new Map(entries.map(([name, entry]) => [name, toTensor(name, entry, {dataOffset, fileBytes, path})]));
}

interface Place {
  dataOffset: number;
  fileBytes: number;
  path: string;
}

function toTensor(name: string, entry: unknown, {dataOffset, fileBytes, path}: Place): SafetensorsTensor {
  const {dtype, shape, data_offsets: offsets} = (entry ?? {}) as Record<string, unknown>;
  const type = readType(dtype, name, path);
  const isPlaced = isSizes(offsets) && offsets.length === 2;
  if (!isSizes(shape) || !isPlaced) {
    throw new ModelError(`${path}: tensor "${name}" has no usable shape and data_offsets in the header.`);
  }
  const [start, end] = offsets as [number, number];
  const numBytes = shape.reduce((product, size) => product * size, elementBytes[type]);
  if (end - start !== numBytes) {
    throw new ModelError(
      `${path}: tensor "${name}" of shape [${shape.join(', ')}] and type ${type} needs ${numBytes} bytes, but the header gives it ${end - start}.`,
    );
  }
  if (dataOffset + end > fileBytes) {
    throw new ModelError(
      `${path} is cut off: tensor "${name}" ends at byte ${dataOffset + end}, the file has ${fileBytes}.`,
    );
  }
  return {name, type, shape, offset: dataOffset + start, numBytes};
}

function readType(dtype: unknown, name: string, path: string): SafetensorsType {
  if (typeof dtype === 'string' && Object.hasOwn(elementBytes, dtype)) return dtype as SafetensorsType;
  throw new ModelError(
    `${path}: tensor "${name}" is of type ${JSON.stringify(dtype)}, which is not supported. ` +
      `Supported types: ${Object.keys(elementBytes).join(', ')}.`,
  );
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && (size as number) >= 0);
}

async function readExactly(handle: FileHandle, path: string, position: number, numBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(numBytes);
  let done = 0;
  while (done < numBytes) {
    const {bytesRead} = await handle.read(bytes, done, numBytes - done, position + done);
    if (bytesRead === 0) throw new ModelError(`${path} ended at byte ${position + done} while it was read.`);
    done += bytesRead;
  }
  return bytes;
}
