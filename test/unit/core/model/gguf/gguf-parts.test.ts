/** GGUF models in parts are read as one model; what is missing or does not belong together is named. */
import {mkdirSync, readFileSync, renameSync, rmSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {GgufFile} from '../../../../../src/core/model/gguf/gguf-file.ts';
import {ggufPartsOf, parsePartName, wholePath} from '../../../../../src/core/model/gguf/gguf-parts.ts';
import {resolveModel} from '../../../../../src/core/model/resolve-model.ts';
import {largestDifference, loadForTest, temporaryCacheForEach} from '../../../../support/run-model.ts';
import {hasSharedData, sharedFolder} from '../../../../support/shared-data.ts';
import {splitGguf} from '../../../../support/split-gguf.ts';

const temporary = temporaryCacheForEach();

test.each([
  ['a/b-00002-of-00003.gguf', {stem: 'a/b', part: 2, numParts: 3}],
  ['b-00004-of-00003.gguf', null],
  ['b-00000-of-00003.gguf', null],
  ['b-1-of-3.gguf', null],
  ['b-00001-of-00003.safetensors', null],
  ['b.gguf', null],
])('%s as the name of a part', (name, parsed) => {
  expect(parsePartName(name)).toEqual(parsed);
});

test('any part stands for the first', async () => {
  expect(wholePath('x/y-00002-of-00002.gguf')).toBe('x/y-00001-of-00002.gguf');
  expect(wholePath('x/y.gguf')).toBe('x/y.gguf');
  expect(await ggufPartsOf('/nowhere/y.gguf')).toEqual(['/nowhere/y.gguf']);
  await expect(ggufPartsOf('/nowhere/y-00001-of-00009.gguf')).rejects.toThrow(
    '/nowhere lacks y-00001-of-00009.gguf, y-00002-of-00009.gguf, y-00003-of-00009.gguf, …',
  );
});

describe.skipIf(!hasSharedData)('a model in parts', () => {
  const gguf = path.join(sharedFolder, 'models-tiny', 'qwen2', 'gguf', 'qwen2-Q4_0.gguf');

  test('is found by a part and by its folder, beside a projector of pictures', async () => {
    const [first = '', , third = ''] = await splitGguf(gguf, temporary.folder, 'tiny', 3);
    const folder = path.join(temporary.folder, 'model');
    mkdirSync(folder);
    for (const part of [first, third]) expect((await resolveModel(part)).weightsPath).toBe(first);
    await splitGguf(gguf, folder, 'tiny', 2);
    await splitGguf(gguf, folder, 'mmproj-tiny', 1);
    const files = await resolveModel(folder);
    expect(path.basename(files.weightsPath)).toBe('tiny-00001-of-00002.gguf');
  });

  test('has the tensors of the whole file and gives the recorded logits', async () => {
    const [first = ''] = await splitGguf(gguf, temporary.folder, 'tiny', 3);
    const [whole, parts] = [await GgufFile.open(gguf), await GgufFile.open(first)];
    try {
      expect(parts.paths).toHaveLength(3);
      expect([...parts.tensors.keys()]).toEqual([...whole.tensors.keys()]);
      expect(new Set([...parts.tensors.values()].map(({part}) => part))).toEqual(new Set([0, 1, 2]));
    } finally {
      await Promise.all([whole.close(), parts.close()]);
    }
    const {prompts} = JSON.parse(readFileSync(gguf.replace(/gguf$/, 'golden.json'), 'utf8'));
    const {tokens, logits} = prompts[1];
    const options = {modelCacheDir: temporary.folder, activationPrecision: 'float32', maxModelLen: 256} as const;
    const {runner} = await loadForTest(first, options);
    try {
      const made = await runner.execute({decodes: [], prefills: [{row: 0, start: 0, tokenIds: tokens, numLogits: 1}]});
      expect(largestDifference(made, logits.at(-1))).toBeLessThan(1e-3);
    } finally {
      runner.close();
    }
  });

  test('a missing part is named', async () => {
    const [first = '', second = ''] = await splitGguf(gguf, temporary.folder, 'tiny', 2);
    rmSync(second);
    await expect(GgufFile.open(first)).rejects.toThrow('lacks tiny-00002-of-00002.gguf');
  });

  test('files that are no parts of one model are refused', async () => {
    const [first = ''] = await splitGguf(gguf, temporary.folder, 'a', 2, () => ({tensors: 999}));
    await expect(GgufFile.open(first)).rejects.toThrow(/have \d+ tensors, but 999 belong to the model/);
    const [second = ''] = await splitGguf(gguf, temporary.folder, 'b', 2, () => ({no: 0}));
    await expect(GgufFile.open(second)).rejects.toThrow('b-00002-of-00002.gguf says that it is part 1, not 2');
    const [third = ''] = await splitGguf(gguf, temporary.folder, 'c', 2);
    const renamed = path.join(temporary.folder, 'c.gguf');
    renameSync(third, renamed);
    await expect(GgufFile.open(renamed)).rejects.toThrow('is one part of 2, but its name says 1');
  });
});
