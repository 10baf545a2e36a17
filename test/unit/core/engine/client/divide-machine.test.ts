import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {divideMachine, weightFileBytes} from '../../../../../src/core/engine/client/divide-machine.ts';
import {ModelError} from '../../../../../src/core/errors.ts';
import {fakeEngineConfig} from '../../../../support/fake-engine-config.ts';
import {createTemporaryFolder} from '../../../../support/temporary-folder.ts';

const MiB = 2 ** 20;
const facts = {freeBytes: 1000 * MiB, weightBytes: 100 * MiB, numThreads: 8};

describe('divideMachine', () => {
  it('divides threads, and the memory beside the weights', () => {
    const share = divideMachine(fakeEngineConfig('plain'), 4, facts);
    expect(share.threads).toBe(2);
    expect(share.kvCacheBytes).toBe(60 * MiB);
  });

  it('gives every engine a thread', () => {
    expect(divideMachine(fakeEngineConfig('plain'), 4, {...facts, numThreads: 2}).threads).toBe(1);
  });

  it('leaves what was asked for to each engine', () => {
    const share = divideMachine(fakeEngineConfig('plain', {threads: 3, kvCacheBytes: 50 * MiB}), 2, facts);
    expect(share).toMatchObject({threads: 3, kvCacheBytes: 50 * MiB});
  });

  it('refuses with numbers what does not fit, and says what would', () => {
    const divide = () => divideMachine(fakeEngineConfig('plain', {kvCacheBytes: 300 * MiB}), 4, facts);
    expect(divide).toThrow(ModelError);
    expect(divide).toThrow(
      '4 engines need 1600 MiB (each 100 MiB of weights and 300 MiB of KV cache), but only 1000 MiB of memory are free. Give --data-parallel-size 2 or less',
    );
    expect(() => divideMachine(fakeEngineConfig('plain'), 12, facts)).toThrow(/12 engines need 1212 MiB/);
  });
});

describe('weightFileBytes', () => {
  it('is the size of a file, or of the weights in a folder', async () => {
    const folder = await createTemporaryFolder();
    const write = (name: string, numBytes: number) => writeFileSync(join(folder, name), new Uint8Array(numBytes));
    write('model-00001-of-00002.safetensors', 30);
    write('model-00002-of-00002.safetensors', 12);
    write('tokenizer.json', 1000);
    expect(weightFileBytes(folder)).toBe(42);
    expect(weightFileBytes(join(folder, 'tokenizer.json'))).toBe(1000);
  });
});
