/**
 * Faults that people reported of engines on ONNX Runtime (cases PR-engine-01, -03, -05, public reports), on ours with tiny
 * models: the runtime itself, no double.
 */
import {copyFileSync, mkdirSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import type {ModelRunner} from '../../src/core/engine/model-runner/model-runner.ts';
import {largestDifference, loadForTest, temporaryCacheForEach} from '../support/run-model.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';

const tiny = path.join(sharedFolder, 'models-tiny');
const llama = path.join(tiny, 'llama', 'gguf', 'llama-Q4_0.gguf');
const temporary = temporaryCacheForEach();

async function logitsOf(runner: ModelRunner, tokenIds: readonly number[], row = 0): Promise<Float32Array> {
  const chunk = {row, start: 0, tokenIds: Int32Array.from(tokenIds), numLogits: 1};
  return (await runner.execute({decodes: [], prefills: [chunk]})).slice();
}

describe.skipIf(!hasSharedData)('the engine', () => {
  describe('PR-engine-03: weights in a file beside the graph', () => {
    /** A copy of a model whose graph has its weights elsewhere. */
    function copyModel(): string {
      const folder = path.join(temporary.folder, 'model');
      mkdirSync(path.join(folder, 'onnx'), {recursive: true});
      for (const name of ['config.json', 'onnx/model_q4.onnx', 'onnx/model_q4.onnx_data'])
        copyFileSync(path.join(tiny, 'qwen3-onnx', name), path.join(folder, name));
      return folder;
    }

    test('are found from any folder, by both kinds of path', async () => {
      const file = path.join(copyModel(), 'onnx', 'model_q4.onnx');
      for (const given of [file, path.relative(process.cwd(), file)]) {
        const {runner} = await loadForTest(given, {maxModelLen: 64});
        expect(Number.isFinite((await logitsOf(runner, [1, 2, 3]))[0])).toBe(true);
        runner.close();
      }
    });

    test.each([
      ['does not exist', null],
      ['is cut off', 'short'],
    ])('are named where the file %s', async (what, content) => {
      const folder = copyModel();
      const data = path.join(folder, 'onnx', 'model_q4.onnx_data');
      rmSync(data);
      if (content !== null) writeFileSync(data, content);
      const loading = loadForTest(path.join(folder, 'onnx', 'model_q4.onnx'), {maxModelLen: 64});
      await expect(loading).rejects.toThrow(`model_q4.onnx_data beside it, and that file ${what}.`);
    });
  });

  test('PR-engine-01: prompts of unequal length at once give what each gives alone', async () => {
    const {runner} = await loadForTest(llama, {maxModelLen: 256});
    try {
      const prompts = [5, 50, 200].map((length) => Array.from({length}, (_, index) => (index * 7 + length) % 500));
      const alone: Float32Array[] = [];
      for (const prompt of prompts) alone.push(await logitsOf(runner, prompt));
      const prefills = prompts.map((prompt, row) => ({row, start: 0, tokenIds: Int32Array.from(prompt), numLogits: 1}));
      const together = await runner.execute({decodes: [], prefills});
      for (const [row, expected] of alone.entries()) {
        const part = together.subarray(row * runner.vocabSize, (row + 1) * runner.vocabSize);
        expect(largestDifference(part, expected), `prompt ${row}`).toBeLessThan(1e-3);
      }
    } finally {
      runner.close();
    }
  });

  test('PR-engine-05: starts again after a stop, and twice at once', async () => {
    const prompt = [1, 2, 3, 4];
    const first = await loadForTest(llama, {maxModelLen: 64});
    const expected = await logitsOf(first.runner, prompt);
    first.runner.close();
    const [one, two] = await Promise.all([1, 2].map(() => loadForTest(llama, {maxModelLen: 64})));
    const both = await Promise.all([one!, two!].map(({runner}) => logitsOf(runner, prompt)));
    for (const logits of both) expect(logits).toEqual(expected);
    one!.runner.close();
    expect(await logitsOf(two!.runner, prompt)).toEqual(expected);
    two!.runner.close();
  });
});
