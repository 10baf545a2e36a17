/** Graphs in the Transformers.js layout give the recorded logits, and those that cannot run say why. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {largestDifference, loadForTest} from '../support/run-model.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';

interface Golden {
  prompts: {id: string; tokens: number[]; positions: number[]; logits: number[][]}[];
}

const graph = (model: string, name: string) => path.join(sharedFolder, 'models-tiny', model, 'onnx', `${name}.onnx`);

describe.skipIf(!hasSharedData)('exported graphs', () => {
  // Quantized graphs round activations, and round them otherwise in chunks of another length.
  test.each([
    ['llama-onnx', 'model', 1e-3],
    ['qwen3-onnx', 'model', 1e-3],
    ['llama-onnx', 'model_fp16', 5e-2],
    ['qwen3-onnx', 'model_fp16', 5e-2],
    ['llama-onnx', 'model_q4', 1],
    ['qwen3-onnx', 'model_q4', 1],
    ['llama-onnx', 'model_q4f16', 1],
    ['qwen3-onnx', 'model_q4f16', 1],
    ['llama-onnx-classic', 'model', 1e-3],
    ['llama-onnx-classic', 'model_q4', 1],
    ['llama-onnx-classic', 'model_quantized', 1],
  ])('%s %s', async (model, name, tolerance) => {
    const file = graph(model, name);
    const golden: Golden = JSON.parse(readFileSync(file.replace(/onnx$/, 'golden.json'), 'utf8'));
    const {runner} = await loadForTest(file, {maxModelLen: 256});
    try {
      for (const {id, tokens, positions, logits} of golden.prompts) {
        const half = tokens.slice(0, tokens.length >> 1);
        if (half.length > 0) {
          await runner.execute({decodes: [], prefills: [{row: 1, start: 0, tokenIds: half, numLogits: 0}]});
        }
        const rest = {row: 1, start: half.length, tokenIds: tokens.slice(half.length), numLogits: 1};
        const last = await runner.execute({decodes: [], prefills: [rest]});
        expect(positions.at(-1)).toBe(tokens.length - 1);
        expect(largestDifference(last, logits.at(-1) as number[]), id).toBeLessThan(tolerance);
      }
    } finally {
      runner.close();
    }
  });

  test('a budget holds twice the tokens of a cache in float16', async () => {
    const budget = {kvCacheBytes: 2 ** 18, maxNumSeqs: 64};
    const [whole, half] = [
      await loadForTest(graph('llama-onnx', 'model'), budget),
      await loadForTest(graph('llama-onnx', 'model_fp16'), budget),
    ];
    whole.runner.close();
    half.runner.close();
    expect(half.info.kvCacheBytesPerToken).toBe(whole.info.kvCacheBytesPerToken / 2);
    for (const {info} of [whole, half])
      expect(info.kvCacheTokens).toBe(Math.floor(2 ** 18 / info.kvCacheBytesPerToken));
  });

  test.each([
    ['llama-onnx', 'model', 1e-3],
    ['llama-onnx', 'model_fp16', 5e-2],
    ['llama-onnx-classic', 'model', 1e-3],
  ])('rows of a batch of different lengths give what each gives alone: %s %s', async (model, name, tolerance) => {
    const file = graph(model, name);
    const {prompts}: Golden = JSON.parse(readFileSync(file.replace(/onnx$/, 'golden.json'), 'utf8'));
    const {runner} = await loadForTest(file, {maxModelLen: 256});
    try {
      const rows = prompts.filter(({tokens}) => tokens.length > 1);
      for (const [row, {tokens}] of rows.entries()) {
        const prefill = {row, start: 0, tokenIds: tokens.slice(0, -1), numLogits: 0};
        await runner.execute({decodes: [], prefills: [prefill]});
      }
      const decodes = rows.map(({tokens}, row) => ({
        row,
        start: tokens.length - 1,
        tokenIds: tokens.slice(-1),
        numLogits: 1,
      }));
      const logits = await runner.execute({decodes, prefills: []});
      for (const [row, prompt] of rows.entries()) {
        const part = logits.subarray(row * runner.vocabSize, (row + 1) * runner.vocabSize);
        expect(largestDifference(part, prompt.logits.at(-1) as number[]), prompt.id).toBeLessThan(tolerance);
      }
    } finally {
      runner.close();
    }
  });

  test.each([['qwen3-onnx-fused-qk-norm', 'model_q4f16', 'on the CPU']])(
    '%s %s says why it cannot run',
    async (model, name, message) => {
      await expect(loadForTest(graph(model, name), {maxModelLen: 256})).rejects.toThrow(message);
    },
  );
});
