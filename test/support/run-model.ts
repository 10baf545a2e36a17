/** Runs a model file through the real runner, for tests of builder and runner. */
import {mkdtempSync, rmSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {afterEach, beforeEach, vi} from 'vitest';
import {type EngineConfig, engineOptionsSchema} from '../../src/core/config/engine-config.ts';
import {type LoadedModel, loadModel} from '../../src/core/engine/model-runner/load-model.ts';

/** A folder for built models that vanishes with the test. */
export function temporaryFolder(): {folder: string; [Symbol.dispose](): void} {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parlance-test-'));
  return {folder, [Symbol.dispose]: () => rmSync(folder, {recursive: true, force: true})};
}

/** One for each test of a file, with `folder` as the one of the running test. */
export function temporaryFolderForEach(): {readonly folder: string} {
  let current: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    current = temporaryFolder();
  });
  afterEach(() => current[Symbol.dispose]());
  return {
    get folder() {
      return current.folder;
    },
  };
}

/** One for each test of a file, where built models are kept, too. */
export function temporaryCacheForEach(): {readonly folder: string} {
  const temporary = temporaryFolderForEach();
  beforeEach(() => void vi.stubEnv('XDG_CACHE_HOME', temporary.folder));
  afterEach(() => void vi.unstubAllEnvs());
  return temporary;
}

export function loadForTest(modelPath: string, options: Partial<EngineConfig>): Promise<LoadedModel> {
  const config = {...engineOptionsSchema.parse({threads: 1, maxNumSeqs: 4}), ...options, modelPath};
  return loadModel(config, () => {});
}

export function argmax(values: ArrayLike<number>): number {
  let best = 0;
  for (let index = 1; index < values.length; index++) {
    if ((values[index] as number) > (values[best] as number)) best = index;
  }
  return best;
}

/** @returns the largest absolute difference */
export function largestDifference(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let largest = 0;
  for (let index = 0; index < expected.length; index++) {
    largest = Math.max(largest, Math.abs((actual[index] as number) - (expected[index] as number)));
  }
  return largest;
}
