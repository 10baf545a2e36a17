import {copyFileSync, readFileSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {ModelError} from '../../../../../src/core/errors.ts';
import {GgufFile} from '../../../../../src/core/model/gguf/gguf-file.ts';
import {embeddedModelFolder} from '../../../../support/embedded-model.ts';
import {temporaryFolderForEach} from '../../../../support/run-model.ts';
import {hasSharedData, sharedFolder} from '../../../../support/shared-data.ts';

const embedded = path.join(embeddedModelFolder, 'SmolLM2-135M-Instruct.Q4_1.gguf');
const temporary = temporaryFolderForEach();

test('metadata and tensors of the embedded model', async () => {
  const file = await GgufFile.open(embedded);
  try {
    expect(file.architecture).toBe('llama');
    expect(file.integer('llama.block_count')).toBe(30);
    expect(file.optionalText('llama.rope.scaling.type')).toBeNull();
    expect(file.tensors.size).toBe(272);
    const norm = file.tensor('output_norm.weight');
    expect(norm).toMatchObject({shape: [576], numBytes: 576 * 4, type: {name: 'F32'}});
    expect((await file.readTensor(norm)).length).toBe(norm.numBytes);
  } finally {
    await file.close();
  }
});

test('missing keys, wrong kinds and missing tensors are named', async () => {
  const file = await GgufFile.open(embedded);
  try {
    expect(() => file.integer('llama.no_such_key')).toThrow('lacks the metadata key "llama.no_such_key"');
    expect(() => file.integer('general.name')).toThrow('must be a number');
    expect(() => file.integer('llama.attention.layer_norm_rms_epsilon')).toThrow('must be a whole number');
    expect(() => file.text('llama.block_count')).toThrow('must be a text');
    expect(() => file.tensor('blk.99.attn_q.weight')).toThrow('has no tensor "blk.99.attn_q.weight"');
  } finally {
    await file.close();
  }
});

test('a file that is missing, of another kind or cut off', async () => {
  await expect(GgufFile.open(path.join(temporary.folder, 'none.gguf'))).rejects.toThrow(
    'none.gguf cannot be read: it does not exist',
  );
  const text = path.join(temporary.folder, 'text.gguf');
  writeFileSync(text, 'no model at all, just some words');
  await expect(GgufFile.open(text)).rejects.toThrow('is not a readable GGUF file');
  const cut = path.join(temporary.folder, 'cut.gguf');
  copyFileSync(embedded, cut);
  truncateSync(cut, 5_000_000);
  await expect(GgufFile.open(cut)).rejects.toThrow(/is cut off: tensor ".+" ends at byte \d+, the file has 5000000/);
  await expect(GgufFile.open(cut)).rejects.toThrow(ModelError);
  for (const numBytes of [1_000_000, 5000, 30]) {
    truncateSync(cut, numBytes);
    await expect(GgufFile.open(cut)).rejects.toThrow(/is cut off: its header ends/);
  }
});

test.skipIf(!hasSharedData)('a block type that cannot be read is named together with those that can', async () => {
  const bytes = readFileSync(path.join(sharedFolder, 'models-tiny', 'llama', 'gguf', 'llama-Q4_0.gguf'));
  const name = Buffer.from('output_norm.weight');
  // Behind the name: number of dimensions, one dimension, then the type.
  bytes.writeUInt32LE(36, bytes.indexOf(name) + name.length + 4 + 8);
  const file = path.join(temporary.folder, 'other-type.gguf');
  writeFileSync(file, bytes);
  await expect(GgufFile.open(file)).rejects.toThrow(
    /is of type 36, which is not supported\. Supported types: F32, F16, Q4_0/,
  );
});
