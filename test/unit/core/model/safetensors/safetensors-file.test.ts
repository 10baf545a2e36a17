import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {ModelError} from '../../../../../src/core/errors.ts';
import {SafetensorsFile} from '../../../../../src/core/model/safetensors/safetensors-file.ts';
import {SafetensorsFolder} from '../../../../../src/core/model/safetensors/safetensors-folder.ts';
import {Random} from '../../../../../src/core/sampling/random.ts';
import {temporaryFolder} from '../../../../support/run-model.ts';
import {hasSharedData, sharedFolder} from '../../../../support/shared-data.ts';

let temporary: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  temporary = temporaryFolder();
  file = path.join(temporary.folder, 'model.safetensors');
});
afterEach(() => temporary[Symbol.dispose]());

/** A file with this header in front of `numDataBytes` zeros. */
function write(header: unknown, numDataBytes: number, headerBytes?: bigint): void {
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(headerBytes ?? BigInt(text.length));
  writeFileSync(file, Buffer.concat([length, text, Buffer.alloc(numDataBytes)]));
}

const tensor = (changes: object = {}) => ({a: {dtype: 'F32', shape: [2, 3], data_offsets: [0, 24], ...changes}});

test('tensors and their bytes', async () => {
  write({__metadata__: {format: 'pt'}, ...tensor()}, 24);
  const opened = await SafetensorsFile.open(file);
  try {
    const [only] = [...opened.tensors.values()];
    expect(only).toMatchObject({name: 'a', type: 'F32', shape: [2, 3], numBytes: 24});
    expect(await opened.read(only!)).toEqual(new Uint8Array(24));
  } finally {
    await opened.close();
  }
});

test.each([
  ['a type that cannot be read', tensor({dtype: 'F8_E4M3'}), 24, 'is of type "F8_E4M3"'],
  ['a shape that is none', tensor({shape: [-1]}), 24, 'no usable shape'],
  ['offsets that are none', tensor({data_offsets: [0, 1e300]}), 24, 'no usable shape'],
  ['offsets that do not fit the shape', tensor({data_offsets: [0, 20]}), 24, 'needs 24 bytes'],
  ['a shape larger than any file', tensor({shape: [2 ** 40, 2 ** 40]}), 24, 'needs'],
  ['data that ends early', tensor(), 20, 'is cut off: tensor "a"'],
  ['a header that is a list', [], 0, 'must hold a JSON object'],
  ['an entry that is nothing', {a: null}, 0, 'is of type undefined'],
])('%s', async (_name, header, numBytes, message) => {
  write(header, numBytes);
  await expect(SafetensorsFile.open(file)).rejects.toThrow(message);
  await expect(SafetensorsFile.open(file)).rejects.toThrow(ModelError);
});

test.each([2n ** 63n, 99_000_000n, 1000n])('a header length of %s beyond the file', async (length) => {
  write(tensor(), 24, length);
  await expect(SafetensorsFile.open(file)).rejects.toThrow('is cut off or no safetensors file');
});

test('an index must name files of its folder', async () => {
  const index = path.join(temporary.folder, 'model.safetensors.index.json');
  writeFileSync(index, JSON.stringify({weight_map: {a: '../elsewhere.safetensors'}}));
  await expect(SafetensorsFolder.open(temporary.folder)).rejects.toThrow('names files that are not in the folder');
  writeFileSync(index, '{}');
  await expect(SafetensorsFolder.open(temporary.folder)).rejects.toThrow('has no weight_map');
});

test.skipIf(!hasSharedData)('changed bytes end in a ModelError or in a file that can be read', async () => {
  const original = readFileSync(path.join(sharedFolder, 'models-tiny', 'llama', 'model.safetensors'));
  const source = Random.fromSeed(7n);
  const random = () => source.nextUniform();
  for (let round = 0; round < 200; round++) {
    const bytes = Buffer.from(original.subarray(0, random() < 0.2 ? Math.floor(random() * 4000) : original.length));
    for (let change = 0; change < 4; change++)
      bytes[Math.floor(random() * Math.min(4000, bytes.length))] = random() * 256;
    writeFileSync(file, bytes);
    const opened = await SafetensorsFile.open(file).catch((error: unknown) => error);
    if (opened instanceof SafetensorsFile) await opened.close();
    else expect(opened).toBeInstanceOf(ModelError);
  }
});
