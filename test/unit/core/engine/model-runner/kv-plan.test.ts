import {describe, expect, test} from 'vitest';
import {planKvCache} from '../../../../../src/core/engine/model-runner/kv-plan.ts';

/** 1 kB a token. */
const facts = {numLayers: 4, numKvHeads: 1, headSize: 32, contextLength: 4096};
const options = {
  maxModelLen: null,
  maxNumSeqs: 8,
  kvCacheBytes: null,
  gpuMemoryUtilization: null,
  numGpuBlocksOverride: null,
};
const memory = (freeBytes: number, totalBytes = 2 ** 40) => ({freeBytes, totalBytes});
const mebibyte = 2 ** 20;

describe('the KV cache', () => {
  test('holds every row at full length when the memory is there', () => {
    expect(planKvCache(options, facts, 0, memory(2 ** 40))).toEqual({
      numRows: 8,
      maxModelLen: 4096,
      kvCacheTokens: 8 * 4096,
    });
  });

  test('takes a part of the memory that the weights leave', () => {
    const {kvCacheTokens} = planKvCache(options, facts, 10 * mebibyte, memory(30 * mebibyte));
    expect(kvCacheTokens).toBe(Math.floor((20 * mebibyte * 0.4) / 1024));
  });

  test('has at least one row, and no more rows than make sense for the budget', () => {
    const small = planKvCache({...options, maxNumSeqs: 1000, kvCacheBytes: 4 * mebibyte}, facts, 0, memory(0));
    expect(small).toEqual({numRows: 8, maxModelLen: 4096, kvCacheTokens: 4096});
  });

  test('is shorter than the model allows when the memory is short and no length is asked for', () => {
    expect(planKvCache({...options, kvCacheBytes: mebibyte}, facts, 0, memory(0))).toMatchObject({
      maxModelLen: 1024,
      kvCacheTokens: 1024,
    });
  });

  test('refuses a length that does not fit, with the numbers and the flags', () => {
    expect(() => planKvCache({...options, maxModelLen: 2048, kvCacheBytes: mebibyte}, facts, 0, memory(0))).toThrow(
      'One sequence of 2048 tokens needs 2 MiB of KV cache, but the budget is 1 MiB (1024 tokens). ' +
        'Give --max-model-len 1024 or less, or raise --kv-cache-memory-bytes.',
    );
  });

  test('refuses a length beyond the positions of the model', () => {
    expect(() => planKvCache({...options, maxModelLen: 5000}, facts, 0, memory(2 ** 40))).toThrow(
      "longer than the model's 4096 positions",
    );
  });

  test('refuses a length in which no prompt fits, whatever memory there is', () => {
    expect(() => planKvCache({...options, maxModelLen: 8}, facts, 0, memory(2 ** 40))).toThrow(
      '--max-model-len 8 is too short to be of use. Give at least 16.',
    );
    expect(planKvCache({...options, maxModelLen: 16}, facts, 0, memory(2 ** 40)).maxModelLen).toBe(16);
  });

  test('refuses to run in no memory at all, with the least that would do', () => {
    const message = /^The KV cache has room for 0 tokens, but a sequence needs room for at least 16: 16384 bytes\./;
    expect(() => planKvCache(options, facts, mebibyte, memory(mebibyte))).toThrow(message);
    expect(() => planKvCache({...options, kvCacheBytes: 10}, facts, 0, memory(2 ** 40))).toThrow(message);
  });

  test('is a part of all memory, less the weights', () => {
    const plan = planKvCache(
      {...options, gpuMemoryUtilization: 0.5},
      facts,
      6 * mebibyte,
      memory(20 * mebibyte, 16 * mebibyte),
    );
    expect(plan.kvCacheTokens).toBe(2048);
    const stated = {...options, gpuMemoryUtilization: 0.5, kvCacheBytes: mebibyte};
    expect(planKvCache(stated, facts, 0, memory(20 * mebibyte, 16 * mebibyte)).kvCacheTokens).toBe(1024);
  });

  test('has as many blocks as are asked for', () => {
    expect(planKvCache({...options, numGpuBlocksOverride: 100}, facts, 0, memory(0))).toMatchObject({
      maxModelLen: 1600,
      kvCacheTokens: 1600,
    });
  });

  test('refuses a part of memory that is not free, or that the weights take', () => {
    const wanted = {...options, gpuMemoryUtilization: 0.9};
    expect(() => planKvCache(wanted, facts, 0, memory(50 * mebibyte, 100 * mebibyte))).toThrow(
      '--gpu-memory-utilization 0.9 asks for 90 MiB of 100 MiB, but only 50 MiB are free. Give at most 0.50,',
    );
    expect(() =>
      planKvCache({...options, gpuMemoryUtilization: 0.1}, facts, 20 * mebibyte, memory(50 * mebibyte, 100 * mebibyte)),
    ).toThrow('is 10 MiB, and the weights alone take 20 MiB. Raise it.');
  });

  test('refuses weights that do not fit, and says what is smaller', () => {
    expect(() => planKvCache(options, facts, 3 * mebibyte, memory(2 * mebibyte))).toThrow(
      /^The weights take 3 MiB, but only 2 MiB of memory are free\. .*--quantization int8 or int4/,
    );
  });
});
