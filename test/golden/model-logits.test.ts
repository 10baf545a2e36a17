/**
 * Tiny models of every architecture and block type give the recorded logits: computed at once, in chunks, token by token
 * and as a row of a batch. Activations are exact here; the fast path has looser bounds.
 */
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {ModelRunner} from '../../src/core/engine/model-runner/model-runner.ts';
import {argmax, largestDifference, loadForTest, temporaryFolder} from '../support/run-model.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';

interface Golden {
  prompts: {
    id: string;
    tokens: number[];
    positions: number[];
    logits: number[][];
    greedy: number[];
    greedy_margin: number[];
  }[];
}

const tolerance = 1e-3;
const looseTolerance = 1;
const modelsFolder = path.join(sharedFolder, 'models-tiny');

/** A recorded file and what it is the recording of. */
interface Recording {
  name: string;
  modelPath: string;
  goldenPath: string;
  /** Weights are quantized, so that rounded activations make a difference. */
  isQuantized: boolean;
}

function ggufRecordings(model: string): Recording[] {
  const folder = path.join(modelsFolder, model, 'gguf');
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.gguf'));
  return files.map((file) => ({
    name: path.basename(file, '.gguf'),
    modelPath: path.join(folder, file),
    goldenPath: path.join(folder, file.replace(/gguf$/, 'golden.json')),
    isQuantized: !/F16|BF16|F32/.test(file),
  }));
}

/** The Hugging Face folder that the GGUF files were made of. */
function folderRecordings(model: string): Recording[] {
  const modelPath = path.join(modelsFolder, model);
  const goldenPath = path.join(modelPath, 'golden.json');
  return existsSync(goldenPath) ? [{name: model, modelPath, goldenPath, isQuantized: false}] : [];
}

const recordings = hasSharedData
  ? readdirSync(modelsFolder).flatMap((model) => [...folderRecordings(model), ...ggufRecordings(model)])
  : [];

/** Logits after the last of `tokens`, computed in chunks of the given length. */
async function prefill(runner: ModelRunner, row: number, tokens: number[], chunk: number): Promise<Float32Array> {
  let logits = new Float32Array();
  for (let start = 0; start < tokens.length; start += chunk) {
    const tokenIds = tokens.slice(start, start + chunk);
    const isLast = start + chunk >= tokens.length;
    logits = (await runner.execute({
      decodes: [],
      prefills: [{row, start, tokenIds, numLogits: Number(isLast)}],
    })) as Float32Array<ArrayBuffer>;
  }
  return logits;
}

async function greedy(runner: ModelRunner, row: number, tokens: number[], numTokens: number): Promise<number[]> {
  let logits = await prefill(runner, row, tokens, tokens.length);
  const made = [argmax(logits)];
  while (made.length < numTokens) {
    const start = tokens.length + made.length - 1;
    logits = (await runner.execute({
      decodes: [{row, start, tokenIds: [made.at(-1) as number], numLogits: 1}],
      prefills: [],
    })) as Float32Array<ArrayBuffer>;
    made.push(argmax(logits));
  }
  return made;
}

/** After a step whose best two logits are this close, another arithmetic may go another way. */
function comparable(margins: number[]): number {
  const close = margins.findIndex((margin) => margin < 2 * tolerance);
  return close === -1 ? margins.length : close;
}

describe.skipIf(!hasSharedData).each(recordings)('$name', ({modelPath, goldenPath, isQuantized}) => {
  const cache = temporaryFolder();
  let runner: ModelRunner;
  let golden: Golden;

  beforeAll(async () => {
    golden = JSON.parse(readFileSync(goldenPath, 'utf8'));
    const options = {modelCacheDir: cache.folder, activationPrecision: 'float32' as const, maxModelLen: 256};
    runner = (await loadForTest(modelPath, options)).runner;
  });
  afterAll(() => {
    runner?.close();
    cache[Symbol.dispose]();
  });

  test.each([1000, 32, 7, 1])('logits of prompts in chunks of %i', async (chunk) => {
    for (const prompt of golden.prompts) {
      for (const [index, position] of prompt.positions.entries()) {
        if (chunk === 1 && position > 40) continue;
        const logits = await prefill(runner, 1, prompt.tokens.slice(0, position + 1), chunk);
        expect(largestDifference(logits, prompt.logits[index] as number[]), `${prompt.id} at ${position}`).toBeLessThan(
          tolerance,
        );
      }
    }
  });

  test('greedy tokens', async () => {
    for (const prompt of golden.prompts) {
      const made = await greedy(runner, 2, prompt.tokens, prompt.greedy.length);
      const numComparable = comparable(prompt.greedy_margin);
      expect(made.slice(0, numComparable)).toEqual(prompt.greedy.slice(0, numComparable));
    }
  });

  test('rows of one batch give what each gives alone', async () => {
    const alone: Float32Array[] = [];
    for (const prompt of golden.prompts) {
      const logits = await prefill(runner, 0, prompt.tokens, 1000);
      alone.push(Float32Array.from(logits));
    }
    const rows = golden.prompts.filter((prompt) => prompt.tokens.length > 1);
    for (const [row, prompt] of rows.entries()) await prefill(runner, row, prompt.tokens.slice(0, -1), 1000);
    const logits = await runner.execute({
      prefills: [],
      decodes: rows.map((prompt, row) => ({
        row,
        start: prompt.tokens.length - 1,
        tokenIds: prompt.tokens.slice(-1),
        numLogits: 1,
      })),
    });
    for (const [row, prompt] of rows.entries()) {
      const part = logits.subarray(row * runner.vocabSize, (row + 1) * runner.vocabSize);
      expect(largestDifference(part, alone[golden.prompts.indexOf(prompt)] as Float32Array)).toBeLessThan(tolerance);
    }
  });

  test.runIf(isQuantized)('rounded activations stay near', async () => {
    const options = {modelCacheDir: cache.folder, activationPrecision: 'int8' as const, maxModelLen: 256};
    const {runner: fast} = await loadForTest(modelPath, options);
    try {
      for (const prompt of golden.prompts) {
        const logits = await prefill(fast, 0, prompt.tokens, 64);
        expect(largestDifference(logits, prompt.logits.at(-1) as number[])).toBeLessThan(looseTolerance);
      }
    } finally {
      fast.close();
    }
  });
});
