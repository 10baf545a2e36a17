/**
 * The cache of a device against the cache of the CPU, on the CPU: its provider also gives memory that the library
 * allocates, so rows, stage and copies run as on a device. Both get the same random prompts, decodes and moves of rows.
 */
import path from 'node:path';
import fc from 'fast-check';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {builtModel} from '../../src/core/engine/model-runner/builder/build-model.ts';
import {modelFileName} from '../../src/core/engine/model-runner/builder/write-model.ts';
import {deviceKvMemory, gpuDevices} from '../../src/core/engine/model-runner/device/device.ts';
import {KvArena} from '../../src/core/engine/model-runner/kv-arena.ts';
import type {ModelBatch} from '../../src/core/engine/model-runner/model-runner.ts';
import {OnnxModelRunner} from '../../src/core/engine/model-runner/onnx-model-runner.ts';
import {OrtApi} from '../../src/core/engine/model-runner/ort/ort-api.ts';
import {OrtEnvironment} from '../../src/core/engine/model-runner/ort/ort-environment.ts';
import {findOrtLibrary} from '../../src/core/engine/model-runner/ort/ort-library.ts';
import {OrtSession} from '../../src/core/engine/model-runner/ort/ort-session.ts';
import {largestDifference, temporaryFolder} from '../support/run-model.ts';
import {hasSharedData, sharedFolder} from '../support/shared-data.ts';

const numRows = 4;
const capacity = 64;
const vocabSize = 512;
const maxChunkTokens = 8;
/** Prompts in other chunks go through kernels with other last bits. */
const tolerance = 1e-3;

/** The CPU, treated as a device. */
const cpuAsDevice = {...gpuDevices.webgpu, provider: {name: 'CPU', options: {}}, memoryName: 'Cpu'};

const row = fc.nat(numRows - 1);
const token = fc.nat(vocabSize - 1);
const action = fc.oneof(
  fc.record({
    type: fc.constant('prompt' as const),
    row,
    keep: fc.nat(12),
    tokenIds: fc.array(token, {minLength: 2, maxLength: 20}),
  }),
  fc.record({type: fc.constant('decode' as const), count: fc.integer({min: 1, max: numRows}), tokenId: token}),
  fc.record({type: fc.constant('release' as const), row, keep: fc.nat(12)}),
  fc.record({type: fc.constant('copy' as const), from: row, to: row}),
  fc.record({type: fc.constant('swap' as const), from: row, to: row}),
);

async function openRunner(folder: string, isDevice: boolean): Promise<OnnxModelRunner> {
  const environment = new OrtEnvironment(new OrtApi(findOrtLibrary()));
  const provider = isDevice ? cpuAsDevice.provider : null;
  const session = new OrtSession(environment, path.join(folder, modelFileName), {numThreads: 1, provider});
  const kv = {numLayers: 3, numKvHeads: 2, headSize: 32, numRows, capacity};
  const memory = isDevice ? deviceKvMemory(environment, session, cpuAsDevice, kv) : new KvArena(environment, kv);
  const options = {kv, memory, vocabSize, maxLogitRows: numRows, ...(isDevice && {maxChunkTokens})};
  return new OnnxModelRunner(environment, session, options);
}

describe.skipIf(!hasSharedData)('a cache on a device', () => {
  const cache = temporaryFolder();
  let runners: OnnxModelRunner[] = [];

  beforeAll(async () => {
    const {folder} = await builtModel(path.join(sharedFolder, 'models-tiny/llama'), {
      weightMapping: 'exact',
      activationPrecision: 'float32',
      floatType: 'float32',
      isForCpu: false,
      quantization: 'none',
      cacheFolder: cache.folder,
      onProgress: () => {},
    });
    runners = [await openRunner(folder, false), await openRunner(folder, true)];
  });
  afterAll(() => {
    for (const runner of runners) runner.close();
    cache[Symbol.dispose]();
  });

  /** Runs the batch on both and compares. */
  async function execute(batch: ModelBatch): Promise<void> {
    const [cpu, device] = runners as [OnnxModelRunner, OnnxModelRunner];
    const expected = Float32Array.from(await cpu.execute(batch));
    expect(largestDifference(await device.execute(batch), expected)).toBeLessThan(tolerance);
  }

  test('a row that decoded where the stage held other tokens is continued as a prompt', async () => {
    const prompt = (start: number, tokenIds: number[]) => ({row: 0, start, tokenIds, numLogits: 1});
    await execute({decodes: [], prefills: [prompt(0, [1, 2, 3, 4, 5, 6])]});
    await execute({decodes: [prompt(3, [99])], prefills: []});
    await execute({decodes: [], prefills: [prompt(4, [7, 8])]});
  });

  test('decodes rows from the first one on, and takes as much for a token', () => {
    expect(runners.map(({isGatheredAtFirstRow}) => isGatheredAtFirstRow)).toEqual([false, true]);
    expect(runners[1]?.bytesPerToken).toBe(runners[0]?.bytesPerToken);
  });

  test('gives the same logits whatever was moved before', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, {minLength: 1, maxLength: 25}), async (actions) => {
        /** Tokens in each row. */
        const lengths = new Array<number>(numRows).fill(0);
        for (const step of actions) {
          if (step.type === 'prompt') {
            const start = Math.min(step.keep, lengths[step.row] as number);
            lengths[step.row] = start + step.tokenIds.length;
            await execute({decodes: [], prefills: [{row: step.row, start, tokenIds: step.tokenIds, numLogits: 2}]});
          } else if (step.type === 'decode') {
            const rows = lengths.slice(0, step.count);
            if (rows.some((length) => length === 0 || length >= capacity)) continue;
            const chunkOf = (start: number, index: number) => ({
              row: index,
              start,
              tokenIds: [step.tokenId],
              numLogits: 1,
            });
            await execute({decodes: rows.map(chunkOf), prefills: []});
            for (const index of rows.keys()) lengths[index] = (lengths[index] as number) + 1;
          } else if (step.type === 'release') {
            lengths[step.row] = Math.min(step.keep, lengths[step.row] as number);
            for (const runner of runners) runner.releaseRow(step.row, lengths[step.row] as number);
          } else if (step.type === 'copy') {
            for (const runner of runners) runner.copyRow(step.from, step.to, lengths[step.from] as number);
            lengths[step.to] = lengths[step.from] as number;
          } else {
            const [a, b] = [lengths[step.from] as number, lengths[step.to] as number];
            if (step.from !== step.to) for (const runner of runners) runner.swapRows(step.from, a, step.to, b);
            [lengths[step.from], lengths[step.to]] = [b, a];
          }
        }
      }),
      {numRuns: 150, seed: 11},
    );
  });
});
