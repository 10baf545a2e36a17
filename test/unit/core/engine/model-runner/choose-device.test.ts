/** Which device computes on machines of all kinds, and the words for why. */
import {describe, expect, test} from 'vitest';
import {chooseDevice, type Machine} from '../../../../../src/core/engine/model-runner/device/choose-device.ts';
import {missingCudaLibraries} from '../../../../../src/core/engine/model-runner/device/cuda-libraries.ts';
import type {GpuName} from '../../../../../src/core/engine/model-runner/device/device.ts';
import {UnsupportedError} from '../../../../../src/core/errors.ts';

const nvidia = {vendor: 'NVIDIA', vendorId: 0x10de, deviceId: 0x2684, isDiscrete: true};
const integrated = {vendor: 'Intel', vendorId: 0x8086, deviceId: 0x46a6, isDiscrete: false};
const noHalves = 'Program Cast requires f16 but the device does not support it.';

/** @param attempts longest right chunk by device and type; a text is the error of the library */
function machine(gpus: Machine['gpus'], attempts: Record<string, number | string> = {}, more: Partial<Machine> = {}) {
  const tried: string[] = [];
  const made: Machine = {
    gpus,
    isApple: false,
    obstacle: () => null,
    attempt: async ({name}, type) => {
      tried.push(`${name} ${type}`);
      const result = attempts[`${name} ${type}`] ?? 'Failed to get a WebGPU adapter: No supported adapters';
      if (typeof result === 'string') throw new Error(result);
      return result;
    },
    ...more,
  };
  return {made, tried};
}

const withoutCuda = {obstacle: (name: GpuName) => (name === 'cuda' ? 'the provider is not installed' : null)};

describe('auto', () => {
  test('takes the CPU without a graphics processor and tries nothing', async () => {
    const {made, tried} = machine([]);
    expect(await chooseDevice('auto', made)).toMatchObject({gpu: null, reason: 'no graphics processor was found'});
    expect(tried).toEqual([]);
  });

  test('leaves a graphics processor without memory of its own alone, and says how to use it', async () => {
    const {made, tried} = machine([integrated], {'webgpu float16': 999});
    const {gpu, reason} = await chooseDevice('auto', made);
    expect(gpu).toBeNull();
    expect(reason).toBe(
      'Intel 0x46a6 (memory shared with the processor) was found, but is rarely faster; --device webgpu uses it',
    );
    expect(tried).toEqual([]);
  });

  test('prefers CUDA for NVIDIA', async () => {
    const {made} = machine([integrated, nvidia], {'cuda float16': 999, 'webgpu float16': 999});
    const {gpu, type} = await chooseDevice('auto', made);
    expect([gpu?.name, type]).toEqual(['cuda', 'float16']);
  });

  test('goes on to WebGPU where CUDA is not installed, and to float32 where halves are not known', async () => {
    const {made, tried} = machine([nvidia], {'webgpu float16': noHalves, 'webgpu float32': 31}, withoutCuda);
    const {gpu, type, maxChunkTokens} = await chooseDevice('auto', made);
    expect([gpu?.name, type, maxChunkTokens]).toEqual(['webgpu', 'float32', 31]);
    expect(tried).toEqual(['webgpu float16', 'webgpu float32']);
  });

  test('PR-engine-07: takes the CPU when nothing can be used, with all reasons', async () => {
    const {made} = machine([nvidia], {'webgpu float16': 0, 'webgpu float32': 0}, withoutCuda);
    const {gpu, reason} = await chooseDevice('auto', made);
    expect(gpu).toBeNull();
    expect(reason).toContain(
      'cuda: the provider is not installed; webgpu: its driver computes attention wrongly in float32',
    );
  });

  test('takes the graphics processor of an Apple chip', async () => {
    const {made} = machine([], {'webgpu float16': 999}, {isApple: true});
    expect((await chooseDevice('auto', made)).gpu?.name).toBe('webgpu');
  });
});

describe('a device that was asked for', () => {
  test('is used also where auto would not', async () => {
    const {made} = machine([integrated], {'webgpu float16': 999});
    expect(await chooseDevice('webgpu', made)).toMatchObject({type: 'float16', reason: 'asked for'});
  });

  test('computes in float32 when nothing else will do', async () => {
    const {made, tried} = machine([integrated], {'webgpu float32': 999});
    expect((await chooseDevice('webgpu', made, 'float32')).type).toBe('float32');
    expect(tried).toEqual(['webgpu float32']);
    await expect(chooseDevice('cuda', made, 'float32')).rejects.toThrow('it computes in float16 only');
  });

  test.each([
    [
      'webgpu',
      'Failed to get a WebGPU adapter: No supported adapters',
      'no adapter was found; on Linux it needs libvulkan.so.1',
    ],
    [
      'cuda',
      'libcublasLt.so.12: cannot open shared object file',
      'the libraries of CUDA 12 and cuDNN 9 were not found',
    ],
    ['cuda', 'CUDA failure 35: CUDA driver version is insufficient', 'no usable NVIDIA device or driver'],
  ] as const)('PR-engine-07: %s that fails with "%s" is refused with the cause', async (wish, message, cause) => {
    const {made} = machine([], {'cuda float16': message, 'webgpu float16': message, 'webgpu float32': message});
    const refused = chooseDevice(wish, made);
    await expect(refused).rejects.toThrow(UnsupportedError);
    await expect(refused).rejects.toThrow(`--device ${wish} cannot be used: ${cause}`);
    await expect(refused).rejects.toThrow('Found: no graphics processor');
  });
});

describe('the libraries of CUDA', () => {
  const main = '/x/libonnxruntime.so.1';

  test('must lie beside the main library', () => {
    const all = ['/x/libonnxruntime_providers_shared.so', '/x/libonnxruntime_providers_cuda.so'];
    expect(missingCudaLibraries(main, 'linux/x64', (file) => all.includes(file))).toBeNull();
    expect(missingCudaLibraries(main, 'linux/x64', (file) => file === all[0])).toMatch(
      /^libonnxruntime_providers_cuda.so not found in \/x; install with: .*npm rebuild onnxruntime-node/,
    );
  });

  test('exist for one platform', () => {
    expect(missingCudaLibraries(main, 'darwin/arm64', () => true)).toContain('linux/x64 only, this is darwin/arm64');
  });
});
