/** Writes and rewrites safetensors files. */
import {readFileSync} from 'node:fs';

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/**
 * @param file a safetensors file
 * @param rename name of a tensor in the result
 * @param extra names of further tensors, one number each
 * @returns bytes of the file with other names
 */
export function renamedTensors(file: string, rename: (name: string) => string, extra: readonly string[]): Buffer {
  const bytes = readFileSync(file);
  const headerEnd = 8 + Number(bytes.readBigUInt64LE(0));
  const {__metadata__: _, ...entries} = JSON.parse(bytes.toString('utf8', 8, headerEnd)) as Record<string, Entry>;
  const data = bytes.subarray(headerEnd);
  const added = extra.map((name, index): [string, Entry] => {
    const start = data.length + 4 * index;
    return [name, {dtype: 'F32', shape: [1], data_offsets: [start, start + 4]}];
  });
  const renamed = Object.entries(entries).map(([name, entry]): [string, Entry] => [rename(name), entry]);
  const header = Buffer.from(JSON.stringify(Object.fromEntries([...renamed, ...added])));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, data, Buffer.alloc(4 * extra.length)]);
}
