/** The real runner on the embedded model: rows can be moved, copied and released without changing what follows. */
import {readdirSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import type {LoadedModel} from '../../../../../src/core/engine/model-runner/load-model.ts';
import {OrtApi} from '../../../../../src/core/engine/model-runner/ort/ort-api.ts';
import {OrtEnvironment} from '../../../../../src/core/engine/model-runner/ort/ort-environment.ts';
import {findOrtLibrary} from '../../../../../src/core/engine/model-runner/ort/ort-library.ts';
import {OrtSession} from '../../../../../src/core/engine/model-runner/ort/ort-session.ts';
import {chunkLength} from '../../../../../src/core/engine/scheduler/chunk-length.ts';
import {GenerationError, ModelError} from '../../../../../src/core/errors.ts';
import {embeddedModelFolder} from '../../../../support/embedded-model.ts';
import {argmax, largestDifference, loadForTest, temporaryFolder} from '../../../../support/run-model.ts';

const modelPath = path.join(embeddedModelFolder, 'SmolLM2-135M-Instruct.Q4_1.gguf');
/** "What is the capital of France?" in the model's chat form. */
const prompt = [1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198];
let model: LoadedModel;

beforeAll(async () => {
  const speculativeConfig = {method: 'ngram' as const, num_speculative_tokens: 3};
  model = await loadForTest(modelPath, {maxModelLen: 512, maxNumSeqs: 4, speculativeConfig});
}, 120_000);
afterAll(() => model?.runner.close());

async function prefill(row: number, tokenIds: number[]): Promise<void> {
  await model.runner.execute({decodes: [], prefills: [{row, start: 0, tokenIds, numLogits: 0}]});
}

/** Logits after one more token in a row that holds the first `start` ones. */
async function next(row: number, start: number, tokenId: number): Promise<Float32Array> {
  return Float32Array.from(
    await model.runner.execute({decodes: [{row, start, tokenIds: [tokenId], numLogits: 1}], prefills: []}),
  );
}

test('says what was loaded', () => {
  expect(model.info).toMatchObject({
    architecture: 'llama',
    vocabSize: 49_152,
    maxModelLen: 512,
    maxNumSeqs: 4,
    device: 'cpu',
  });
  expect(model.info.kvCacheTokens).toBe(4 * 512);
  expect(model.info.kvCacheBytesPerToken).toBe(46_080);
  expect(model.info.runtimeVersion).toMatch(/^1\./);
});

test('rows keep their content when they are swapped, copied and released around', async () => {
  const {runner} = model;
  const length = prompt.length - 1;
  const last = prompt.at(-1) as number;
  await prefill(0, prompt.slice(0, -1));
  const expected = await next(0, length, last);
  await prefill(0, prompt.slice(0, -1));
  await prefill(3, [5, 6, 7, 8]);
  const other = await next(3, 4, 9);

  runner.swapRows(0, length, 3, 4);
  expect(largestDifference(await next(3, length, last), expected)).toBe(0);
  expect(largestDifference(await next(0, 4, 9), other)).toBe(0);

  runner.copyRow(3, 1, length);
  runner.releaseRow(3, 0);
  runner.releaseRow(1, 64);
  expect(largestDifference(await next(1, length, last), expected)).toBe(0);

  runner.copyRow(1, 2, length);
  const cleared = await next(3, length, last);
  expect(largestDifference(cleared, expected)).toBeGreaterThan(0.1);
  expect(argmax(await next(2, length, last))).toBe(argmax(expected));
});

test('logits of decoding rows come first, then those of the prompts that want them', async () => {
  const {runner} = model;
  await prefill(1, prompt.slice(0, -1));
  await prefill(2, prompt.slice(0, 7));
  const chunk = (row: number, wantsLogits: boolean) => ({
    row,
    start: 0,
    tokenIds: prompt,
    numLogits: Number(wantsLogits),
  });
  const logits = await runner.execute({
    decodes: [
      {row: 1, start: prompt.length - 1, tokenIds: prompt.slice(-1), numLogits: 1},
      {row: 2, start: 7, tokenIds: prompt.slice(7, 8), numLogits: 1},
    ],
    prefills: [chunk(0, false), chunk(3, true)],
  });
  expect(logits.length).toBe(3 * runner.vocabSize);
  const row = (index: number) => logits.slice(index * runner.vocabSize, (index + 1) * runner.vocabSize);
  expect(argmax(row(0))).toBe(argmax(row(2)));
  expect(argmax(row(1))).not.toBe(argmax(row(0)));
});

test('logits of many positions of a prompt are those of its beginnings, bit for bit', async () => {
  const {runner} = model;
  const tokenIds = Array.from({length: 64}, (_, index) => (index * index * 37 + index * 11) % 49_000);
  const compute = async (length: number, numLogits: number) =>
    Float32Array.from(
      await runner.execute({
        decodes: [],
        prefills: [{row: 2, start: 0, tokenIds: tokenIds.slice(0, length), numLogits}],
      }),
    );
  const all = await compute(64, runner.maxExtraLogits);
  expect(all.length).toBe(64 * runner.vocabSize);
  for (const length of [64, 32, 7]) {
    const row = all.subarray((length - 1) * runner.vocabSize, length * runner.vocabSize);
    expect(largestDifference(row, await compute(length, 1))).toBe(0);
  }
});

test('a prompt gives the same bits in whatever chunks the scheduler cuts it', async () => {
  const {runner} = model;
  const tokens = Array.from({length: 200}, (_, index) => (index * index * 31 + index * 17) % 49_000);
  const computeIn = async (budget: number) => {
    let logits = new Float32Array();
    for (let start = 0; start < tokens.length; ) {
      const length = chunkLength(tokens.length - start, budget, true);
      const tokenIds = tokens.slice(start, start + length);
      start += length;
      const prefills = [{row: 2, start: start - length, tokenIds, numLogits: Number(start === tokens.length)}];
      logits = Float32Array.from(await runner.execute({decodes: [], prefills}));
    }
    return logits;
  };
  const whole = await computeIn(1000);
  for (const budget of [5, 33, 66, 129, 199])
    expect(largestDifference(await computeIn(budget), whole), `${budget}`).toBe(0);
});

test('a row gives the same bits alone and in company', async () => {
  const {runner} = model;
  const rows = [0, 1, 2, 3];
  const lengths = rows.map((row) => 9 + 5 * row);
  for (const row of rows)
    await prefill(
      row,
      Array.from({length: lengths[row] as number}, (_, index) => 100 * row + index),
    );
  const alone = [];
  for (const row of rows) alone.push(await next(row, lengths[row] as number, 500 + row));
  const decodes = rows.map((row) => ({row, start: lengths[row] as number, tokenIds: [500 + row], numLogits: 1}));
  const together = await runner.execute({decodes, prefills: []});
  for (const row of rows) {
    const part = together.subarray(row * runner.vocabSize, (row + 1) * runner.vocabSize);
    expect(largestDifference(part, alone[row] as Float32Array)).toBe(0);
  }
});

test('drafts have the bits of decoding them one by one, whatever the others draft', async () => {
  const {runner} = model;
  const lengths = [40, 9, 65, 16];
  const drafts = [[500, 7, 81, 9], [501], [502, 11, 13], [503, 17]];
  const fill = async () => {
    for (const [row, length] of lengths.entries()) {
      await prefill(
        row,
        Array.from({length}, (_, index) => 100 * row + 3 * index),
      );
    }
  };
  await fill();
  const expected: Float32Array[] = [];
  for (const [row, tokenIds] of drafts.entries()) {
    for (const [index, tokenId] of tokenIds.entries()) expected.push(await next(row, lengths[row]! + index, tokenId));
  }
  await fill();
  const logits = await runner.execute({
    decodes: drafts.map((tokenIds, row) => ({row, start: lengths[row]!, tokenIds, numLogits: tokenIds.length})),
    prefills: [],
  });
  expect(logits.length).toBe(expected.length * runner.vocabSize);
  for (const [index, row] of expected.entries()) {
    const actual = logits.slice(index * runner.vocabSize, (index + 1) * runner.vocabSize);
    expect(largestDifference(actual, row), `${index}`).toBe(0);
  }
  // What drafts wrote serves later tokens as well.
  expect(largestDifference(await next(0, lengths[0]! + 3, 9), expected[3]!)).toBe(0);
});

test('the event loop goes on during a step', async () => {
  let numTicks = 0;
  const timer = setInterval(() => numTicks++, 1);
  await model.runner.execute({
    decodes: [],
    prefills: [{row: 0, start: 0, tokenIds: new Int32Array(256), numLogits: 0}],
  });
  clearInterval(timer);
  expect(numTicks).toBeGreaterThan(3);
});

test('failures of the library are errors of ours', () => {
  const environment = new OrtEnvironment(new OrtApi(findOrtLibrary()));
  try {
    expect(() => new OrtSession(environment, '/no/such/model.onnx', {numThreads: 1})).toThrow(GenerationError);
    expect(() => new OrtApi('/no/such/library.so')).toThrow(ModelError);
  } finally {
    environment.close();
    environment.close();
  }
});

test('a damaged cache is named, with the way out', async () => {
  using temporary = temporaryFolder();
  const options = {modelCacheDir: temporary.folder, maxModelLen: 64, maxNumSeqs: 1};
  (await loadForTest(modelPath, options)).runner.close();
  const folder = path.join(temporary.folder, 'models');
  const built = readdirSync(folder).find((name) => !name.endsWith('.sha256')) as string;
  const file = path.join(folder, built, 'model.onnx');
  writeFileSync(file, Buffer.alloc(statSync(file).size, 0xff));
  await expect(loadForTest(modelPath, options)).rejects.toThrow(`without the folder ${path.join(folder, built)} it`);
}, 60_000);
