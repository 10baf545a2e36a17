import {mkdirSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import {afterEach, beforeEach, describe, expect, test} from 'vitest';
import {cachedModel} from '../../../../../src/core/engine/model-runner/builder/model-cache.ts';
import {temporaryFolder} from '../../../../support/run-model.ts';

let temporary: ReturnType<typeof temporaryFolder>;
let source: string;
let cache: string;
let numBuilds: number;

beforeEach(() => {
  temporary = temporaryFolder();
  source = path.join(temporary.folder, 'source.gguf');
  cache = path.join(temporary.folder, 'cache');
  numBuilds = 0;
  writeFileSync(source, 'weights');
});
afterEach(() => temporary[Symbol.dispose]());

async function build(folder: string) {
  numBuilds++;
  await writeFile(path.join(folder, 'data.bin'), 'built');
  return {facts: {number: numBuilds}, files: {'data.bin': 5}};
}

const folders = () =>
  readdirSync(path.join(cache, 'models'), {withFileTypes: true}).filter((entry) => entry.isDirectory());

describe('a built model', () => {
  test('is found again', async () => {
    const first = await cachedModel([source], {}, cache, build);
    const second = await cachedModel([source], {}, cache, build);
    expect(first).toMatchObject({wasBuilt: true, facts: {number: 1}, numBytes: 5});
    expect(second).toEqual({...first, wasBuilt: false});
  });

  test('is another one for other options or another content', async () => {
    const first = await cachedModel([source], {mapping: 'exact'}, cache, build);
    const second = await cachedModel([source], {mapping: 'rounded'}, cache, build);
    writeFileSync(source, 'WEIGHTS');
    utimesSync(source, 1, 1);
    const third = await cachedModel([source], {mapping: 'exact'}, cache, build);
    expect(new Set([first.folder, second.folder, third.folder]).size).toBe(3);
  });

  test('is built again when a file of it is damaged', async () => {
    const {folder} = await cachedModel([source], {}, cache, build);
    truncateSync(path.join(folder, 'data.bin'), 2);
    expect(await cachedModel([source], {}, cache, build)).toMatchObject({wasBuilt: true, facts: {number: 2}});
    expect(await cachedModel([source], {}, cache, build)).toMatchObject({wasBuilt: false, facts: {number: 2}});
  });

  test('does not depend on notes about it, which a cache that can only be read does not take', async () => {
    await cachedModel([source], {}, cache, build);
    const models = path.join(cache, 'models');
    const note = readdirSync(models).find((name) => name.endsWith('.sha256'))!;
    rmSync(path.join(models, note));
    mkdirSync(path.join(models, note, 'in the way'), {recursive: true});
    expect(await cachedModel([source], {}, cache, build)).toMatchObject({wasBuilt: false});
  });

  test('takes the place of drafts that killed builders left, not of those of others', async () => {
    await cachedModel([source], {}, cache, build);
    const models = path.join(cache, 'models');
    const leave = (name: string, minutesAgo: number) => {
      const draft = path.join(models, name);
      mkdirSync(draft);
      writeFileSync(path.join(draft, 'data.bin'), 'half');
      const seconds = Date.now() / 1000 - minutesAgo * 60;
      for (const file of [path.join(draft, 'data.bin'), draft]) utimesSync(file, seconds, seconds);
    };
    leave('a.building-999999999-00', 60);
    leave('b.building-999999999-00', 1);
    leave(`c.building-${process.pid}-00`, 60);
    await cachedModel([source], {other: true}, cache, build);
    const drafts = folders()
      .map(({name}) => name)
      .filter((name) => name.includes('.building-'));
    expect(drafts.sort()).toEqual(['b.building-999999999-00', `c.building-${process.pid}-00`]);
  });

  test('is not seen before it is complete, and a failed build leaves nothing', async () => {
    await expect(
      cachedModel([source], {}, cache, async (folder) => {
        await build(folder);
        throw new Error('no power');
      }),
    ).rejects.toThrow('no power');
    expect(folders()).toEqual([]);
    expect(await cachedModel([source], {}, cache, build)).toMatchObject({wasBuilt: true});
  });

  test('built twice at the same time ends as one whole folder', async () => {
    const models = await Promise.all([1, 2, 3].map(() => cachedModel([source], {}, cache, build)));
    expect(new Set(models.map((model) => model.folder)).size).toBe(1);
    expect(folders()).toHaveLength(1);
    expect(await cachedModel([source], {}, cache, build)).toMatchObject({wasBuilt: false});
  });
});

test('a chosen folder that cannot be written is an error that names the flag', async () => {
  const file = path.join(temporary.folder, 'file');
  writeFileSync(file, '');
  await expect(cachedModel([source], {}, file, build)).rejects.toThrow(
    /Cannot write the model cache .*--model-cache-dir/,
  );
});

test('a system error while building names the folder', async () => {
  const failing = async (folder: string) => {
    mkdirSync(path.join(folder, 'a', 'b'));
    return build(folder);
  };
  await expect(cachedModel([source], {}, cache, failing)).rejects.toThrow(/Cannot build the model in/);
});
