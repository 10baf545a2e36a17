/** Fake models by name, for engines in this process and in a child: the name is the configured model path. */
import {setTimeout as delay} from 'node:timers/promises';
import type {ModelLoader} from '../../src/core/engine/engine-host.ts';
import {ModelError} from '../../src/core/errors.ts';
import {type FakeModelOptions, FakeModelRunner} from './fake-model-runner.ts';

/** A sequence with this token gives NaN. */
export const poisonTokenId = 13;

const size = {vocabSize: 64, numRows: 8, rowCapacity: 4096};

const models = {
  plain: () => ({}),
  /** Every forward pass takes a moment, so that there is a middle of a sequence. */
  paced: () => ({beforeExecute: () => delay(1)}),
  poisoned: () => ({
    changeLogits: (logits, tokenIds) => {
      if (tokenIds.includes(poisonTokenId)) logits.fill(Number.NaN);
    },
  }),
  failing: () => {
    let numPasses = 0;
    return {
      beforeExecute: () => {
        if (++numPasses > 3) throw new Error('the forward pass failed');
      },
    };
  },
  /** Is never loaded. */
  endless: () => new Promise<FakeModelOptions>(() => {}),
  stuck: () => ({beforeExecute: () => new Promise<void>(() => {})}),
  missing: () => {
    throw new ModelError('No model at /nowhere.');
  },
  crashing: () => {
    process.stderr.write('about to crash\n');
    process.kill(process.pid, 'SIGKILL');
    return {};
  },
} satisfies Record<string, () => FakeModelOptions | Promise<FakeModelOptions>>;

export type FakeModelName = keyof typeof models;

export const loadFakeModel: ModelLoader = async (config, onProgress) => {
  onProgress({stage: 'build', fraction: 0.5, detail: config.modelPath});
  const runner = new FakeModelRunner({...size, ...(await models[config.modelPath as FakeModelName]())});
  onProgress({stage: 'build', fraction: 1, detail: config.modelPath});
  return {
    runner,
    info: {
      architecture: 'fake',
      vocabSize: size.vocabSize,
      maxModelLen: 4096,
      maxNumSeqs: config.maxNumSeqs,
      maxNumBatchedTokens: config.maxNumBatchedTokens,
      kvCacheTokens: config.kvCacheBytes === null ? 32_768 : config.kvCacheBytes / runner.bytesPerToken,
      kvCacheBytesPerToken: runner.bytesPerToken,
      weightBytes: 0,
      device: 'cpu',
      numThreads: 1,
      runtimeVersion: 'none',
      loadMs: {build: 0, load: 0, warmUp: 0},
      builtFromCache: false,
    },
  };
};
