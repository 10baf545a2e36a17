/** Splits a GGUF file into parts as `llama-gguf-split` does: metadata in the first, every part with its own tensors. */
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {gguf} from '@huggingface/gguf';

const alignment = 32;
const kinds = {uint16: 2, int32: 5} as const;

/**
 * @param change what the metadata of a part says instead of the truth
 * @returns paths of the parts, `<folder>/<stem>-00001-of-0000N.gguf` and so on
 */
export async function splitGguf(
  file: string,
  folder: string,
  stem: string,
  numParts: number,
  change: (part: number) => {no?: number; count?: number; tensors?: number} = () => ({}),
): Promise<string[]> {
  const bytes = readFileSync(file);
  const {tensorInfos, tensorDataOffset} = await gguf(file, {allowLocalFile: true});
  const dataStart = Number(tensorDataOffset);
  const firstName = withLength(tensorInfos[0]?.name ?? '');
  const metadata = {count: Number(bytes.readBigUInt64LE(16)), bytes: bytes.subarray(24, bytes.indexOf(firstName))};
  const starts = tensorInfos.map(({offset}) => dataStart + Number(offset));
  const tensors = tensorInfos.map(({name, shape, dtype}, index) => ({
    name,
    shape,
    dtype,
    data: bytes.subarray(
      starts[index],
      starts.filter((start) => start > (starts[index] as number)).sort((a, b) => a - b)[0],
    ),
  }));
  return Array.from({length: numParts}, (_, part) => {
    const {no = part, count = numParts, tensors: total = tensors.length} = change(part);
    const split = [
      keyValue('split.no', kinds.uint16, no),
      keyValue('split.count', kinds.uint16, count),
      keyValue('split.tensors.count', kinds.int32, total),
    ];
    const own = tensors.filter((_tensor, index) => Math.floor((index * numParts) / tensors.length) === part);
    const infos: Buffer[] = [];
    let offset = 0;
    for (const {name, shape, dtype, data} of own) {
      infos.push(withLength(name), uint32(shape.length), ...shape.map(uint64), uint32(dtype), uint64(BigInt(offset)));
      offset += padded(data.length);
    }
    const keys = part === 0 ? [metadata.bytes, ...split] : split;
    const numKeys = split.length + (part === 0 ? metadata.count : 0);
    const head = Buffer.concat([
      bytes.subarray(0, 8),
      uint64(BigInt(own.length)),
      uint64(BigInt(numKeys)),
      ...keys,
      ...infos,
    ]);
    const name = `${stem}-${numbered(part + 1)}-of-${numbered(numParts)}.gguf`;
    const target = path.join(folder, name);
    writeFileSync(target, Buffer.concat([head, ...own.map(({data}) => data)].map(pad)));
    return target;
  });
}

function keyValue(key: string, kind: number, value: number): Buffer {
  const bytes = Buffer.alloc(kind === kinds.uint16 ? 2 : 4);
  bytes.writeUIntLE(value, 0, bytes.length);
  return Buffer.concat([withLength(key), uint32(kind), bytes]);
}

function withLength(text: string): Buffer {
  return Buffer.concat([uint64(BigInt(Buffer.byteLength(text))), Buffer.from(text)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function pad(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(padded(bytes.length) - bytes.length)]);
}

function padded(length: number): number {
  return Math.ceil(length / alignment) * alignment;
}

function numbered(value: number): string {
  return String(value).padStart(5, '0');
}
