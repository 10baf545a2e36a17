/**
 * Files of a model come from strangers. Whatever is wrong with them, loading ends with an error that is meant for a person,
 * or with a model: never with a fault of ours, a hang or memory that the file has only promised.
 */
import {readdirSync, readFileSync} from 'node:fs';
import {copyFile, mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {loadGenerationConfig} from '../../src/core/config/generation-config.ts';
import {ServingError} from '../../src/core/errors.ts';
import {loadModelConfig} from '../../src/core/model/model-config.ts';
import {resolveModel} from '../../src/core/model/resolve-model.ts';
import {loadTokenizer} from '../../src/core/model/tokenizer.ts';
import {findChatTemplates} from '../../src/core/renderer/find-chat-template.ts';
import {loadForTest, temporaryFolder} from '../support/run-model.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';

const model = join(sharedFolder, 'models-tiny', 'llama');
const textFiles = ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'];
const mostMs = 5000;
const mostBytes = 700_000_000;

const hostileValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    'x',
    '__proto__',
    'constructor',
    [],
    {},
    [[1]],
    {a: {b: null}},
    'é'.repeat(300),
  ),
  fc.constantFrom(-1, 0, 1, 2, 7, 33, 0.5, 65_536, 1e308, -1e9, 2 ** 31, 2 ** 40, 2 ** 53, 1e-320),
);

/** Where to go in a JSON document, and what to put there; `undefined` takes the entry away. */
const jsonChange = fc.record({
  path: fc.array(fc.nat(), {minLength: 1, maxLength: 5}),
  value: fc.option(hostileValue, {nil: undefined, freq: 6}),
});
type JsonChange = typeof jsonChange extends fc.Arbitrary<infer T> ? T : never;

const byteChange = fc.oneof(
  fc.record({kind: fc.constant('set' as const), at: fc.nat(), value: fc.nat(255)}),
  fc.record({kind: fc.constant('cut' as const), at: fc.nat(), value: fc.constant(0)}),
  fc.record({
    kind: fc.constant('length' as const),
    at: fc.nat(),
    value: fc.constantFrom(0, 1, 8, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 53 - 1, 100_000_000),
  }),
);
type ByteChange = typeof byteChange extends fc.Arbitrary<infer T> ? T : never;

function changeJson(root: unknown, {path, value}: JsonChange): void {
  let holder = root as Record<string, unknown>;
  for (const [depth, step] of path.entries()) {
    const keys = Object.keys(holder);
    if (keys.length === 0) return;
    const key = keys[step % keys.length] as string;
    const inner = holder[key];
    const isLast = depth === path.length - 1 || typeof inner !== 'object' || inner === null;
    if (!isLast) holder = inner as Record<string, unknown>;
    else if (value === undefined) delete holder[key];
    else holder[key] = structuredClone(value);
    if (isLast) return;
  }
}

/** @param reach changes happen within so many bytes of the beginning */
function changeBytes(bytes: Buffer, {kind, at, value}: ByteChange, reach: number): Buffer {
  const place = at % Math.min(reach, Math.max(1, bytes.length));
  if (kind === 'cut') return bytes.subarray(0, place);
  if (kind === 'set' && bytes.length > 0) bytes[place] = value;
  if (kind === 'length' && place + 8 <= bytes.length) bytes.writeBigUInt64LE(BigInt(value), place);
  return bytes;
}

/** Loads a folder or file as `serve` does, text side first. */
async function load(path: string, cache: string, withWeights: boolean): Promise<void> {
  const files = await resolveModel(path);
  await findChatTemplates(files, null);
  await loadModelConfig(files.configPath);
  const {generationConfigPath: modelFile} = files;
  await loadGenerationConfig({mode: 'auto', modelFile, override: null, modelEosTokenIds: []});
  const tokenizer = await loadTokenizer(files);
  await tokenizer.encode('a word <|im_end|>', {addSpecialTokens: true});
  if (!withWeights) return;
  const {runner} = await loadForTest(files.weightsPath, {modelCacheDir: cache, maxModelLen: 64});
  runner.close();
}

async function expectDecentEnd(path: string, folder: string, withWeights: boolean): Promise<void> {
  const startMs = performance.now();
  const startBytes = process.memoryUsage().rss;
  await load(path, join(folder, 'cache'), withWeights).catch((error: unknown) => {
    expect(error).toBeInstanceOf(ServingError);
    expect((error as Error).message.length).toBeGreaterThan(20);
  });
  expect(performance.now() - startMs).toBeLessThan(mostMs);
  expect(process.memoryUsage().rss - startBytes).toBeLessThan(mostBytes);
}

async function copyModel(folder: string, names: readonly string[]): Promise<string> {
  const target = join(folder, 'model');
  await mkdir(target);
  for (const name of names) await copyFile(join(model, name), join(target, name));
  return target;
}

describe.skipIf(!hasSharedData)('files of strangers', () => {
  it.each([
    ['config.json', 25],
    ['generation_config.json', 25],
    ['tokenizer_config.json', 25],
    ['tokenizer.json', 25],
  ])(
    '%s with values that are none',
    async (name, numRuns) => {
      const content = JSON.parse(readFileSync(join(model, name), 'utf8'));
      const property = fc.asyncProperty(fc.array(jsonChange, {minLength: 1, maxLength: 3}), async (changes) => {
        using place = temporaryFolder();
        const target = await copyModel(place.folder, [...textFiles, 'model.safetensors']);
        const changed = structuredClone(content);
        for (const change of changes) changeJson(changed, change);
        await writeFile(join(target, name), JSON.stringify(changed));
        await expectDecentEnd(target, place.folder, name === 'config.json');
      });
      await fc.assert(property, {numRuns});
    },
    120_000,
  );

  it('headers of safetensors', async () => {
    const bytes = readFileSync(join(model, 'model.safetensors'));
    const headerEnd = 8 + Number(bytes.readBigUInt64LE(0));
    const property = fc.asyncProperty(
      fc.array(byteChange, {minLength: 1, maxLength: 3}),
      fc.constantFrom(8, headerEnd),
      async (changes, reach) => {
        using place = temporaryFolder();
        const target = await copyModel(place.folder, textFiles);
        const changed = changes.reduce<Buffer>((all, change) => changeBytes(all, change, reach), Buffer.from(bytes));
        await writeFile(join(target, 'model.safetensors'), changed);
        await expectDecentEnd(target, place.folder, true);
      },
    );
    await fc.assert(property, {numRuns: 30});
  }, 120_000);

  it('headers and metadata of GGUF files', async () => {
    const names = readdirSync(join(model, 'gguf')).filter((name) => name.endsWith('.gguf'));
    const property = fc.asyncProperty(
      fc.constantFrom(...names),
      fc.array(byteChange, {minLength: 1, maxLength: 3}),
      fc.constantFrom(64, 1500, 20_000),
      async (name, changes, reach) => {
        using place = temporaryFolder();
        const bytes = readFileSync(join(model, 'gguf', name));
        const path = join(place.folder, name);
        await writeFile(
          path,
          changes.reduce<Buffer>((all, change) => changeBytes(all, change, reach), bytes),
        );
        await expectDecentEnd(path, place.folder, true);
      },
    );
    await fc.assert(property, {numRuns: 30});
  }, 120_000);
});
