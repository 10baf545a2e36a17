/**
 * Graphs of halves, as devices compute them, on the CPU, whose library also knows halves: the recorded logits come out
 * within what 11 bits of precision allow.
 */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {builtModel} from '../../src/core/engine/model-runner/builder/build-model.ts';
import {modelFileName} from '../../src/core/engine/model-runner/builder/write-model.ts';
import {KvArena} from '../../src/core/engine/model-runner/kv-arena.ts';
import {OnnxModelRunner} from '../../src/core/engine/model-runner/onnx-model-runner.ts';
import {OrtApi} from '../../src/core/engine/model-runner/ort/ort-api.ts';
import {OrtEnvironment} from '../../src/core/engine/model-runner/ort/ort-environment.ts';
import {findOrtLibrary} from '../../src/core/engine/model-runner/ort/ort-library.ts';
import {OrtSession} from '../../src/core/engine/model-runner/ort/ort-session.ts';
import {largestDifference, temporaryFolder} from '../support/run-model.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';

interface Golden {
  prompts: {id: string; tokens: number[]; logits: number[][]}[];
}

/** Of fp16 weights and activations, as recorded beside the models: 1.7e-2 to 2.4e-2. */
const tolerance = 5e-2;
const models = path.join(sharedFolder, 'models-tiny');

async function openHalves(weightsPath: string, cacheFolder: string) {
  const built = await builtModel(weightsPath, {
    weightMapping: 'exact',
    activationPrecision: 'float32',
    floatType: 'float16',
    isForCpu: false,
    quantization: 'none',
    cacheFolder,
    onProgress: () => {},
  });
  const {numLayers, numKvHeads, headSize, vocabSize} = built.facts;
  const environment = new OrtEnvironment(new OrtApi(findOrtLibrary()));
  const session = new OrtSession(environment, path.join(built.folder, modelFileName), {numThreads: 1});
  const {type} = session.describe('Input', 'past_key_values.0.key');
  const kv = {numLayers, numKvHeads, headSize, numRows: 2, capacity: 256};
  const memory = new KvArena(environment, kv, type === 'float16' ? type : 'float32');
  const runner = new OnnxModelRunner(environment, session, {kv, memory, vocabSize, maxLogitRows: 2});
  return {runner, type};
}

describe.skipIf(!hasSharedData)('graphs of halves', () => {
  test.each([
    ['llama', 'golden.json', 'float16'],
    ['qwen2', 'golden.json', 'float16'],
    ['qwen3', 'golden.json', 'float16'],
    ['granite', 'golden.json', 'float16'],
    ['qwen3_moe', 'golden.json', 'float16'],
    ['llama/gguf/llama-Q4_0.gguf', null, 'float16'],
    ['llama/gguf/llama-Q4_1.gguf', null, 'float16'],
    ['llama/gguf/llama-Q8_0.gguf', null, 'float16'],
    // Its stream grows beyond what halves hold.
    ['gemma2', 'golden.json', 'float32'],
  ])('%s', async (model, goldenName, expectedType) => {
    using cache = temporaryFolder();
    const weights = path.join(models, model);
    const goldenPath = goldenName ? path.join(weights, goldenName) : weights.replace(/gguf$/, 'golden.json');
    const golden: Golden = JSON.parse(readFileSync(goldenPath, 'utf8'));
    const {runner, type} = await openHalves(weights, cache.folder);
    try {
      expect(type).toBe(expectedType);
      for (const {id, tokens, logits} of golden.prompts) {
        const prefill = {row: 1, start: 0, tokenIds: tokens, numLogits: 1};
        const last = await runner.execute({decodes: [], prefills: [prefill]});
        expect(largestDifference(last, logits.at(-1) as number[]), id).toBeLessThan(tolerance);
      }
    } finally {
      runner.close();
    }
  });
});
