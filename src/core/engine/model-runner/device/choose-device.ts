/**
 * Which device computes, and why. A device that was asked for is tried and refused with what was found; `auto` takes a
 * graphics processor that has memory of its own (or Apple's) and computes rightly when tried, else the CPU.
 */
import type {EngineConfig} from '../../../config/engine-config.ts';
import {UnsupportedError} from '../../../errors.ts';
import type {KvType} from '../kv-memory.ts';
import type {OrtApi} from '../ort/ort-api.ts';
import {OrtEnvironment} from '../ort/ort-environment.ts';
import {missingCudaLibraries} from './cuda-libraries.ts';
import {type GpuDevice, type GpuName, gpuDevices} from './device.ts';
import {describeGpu, type HardwareGpu, hardwareGpus, nvidiaVendorId} from './hardware-gpus.ts';
import {longestRightChunk} from './probe-attention.ts';

export interface ChosenDevice {
  /** Null = the CPU. */
  gpu: GpuDevice | null;
  /** Numbers of the graph and the cache. */
  type: KvType;
  /** Longest part of a prompt that the device computes rightly in one run. */
  maxChunkTokens: number;
  /** For the log. */
  reason: string;
}

type DeviceWish = Pick<EngineConfig, 'device' | 'activationPrecision' | 'speculativeConfig'>;

/** What is known of this machine; a parameter, so that tests can make up machines. */
export interface Machine {
  gpus: readonly HardwareGpu[];
  isApple: boolean;
  /** Why a device cannot even be tried; null = it can. */
  obstacle: (name: GpuName) => string | null;
  /** @returns longest right chunk, 0 = wrong numbers @throws Error of the library */
  attempt: (gpu: GpuDevice, type: KvType) => Promise<number>;
}

type Attempt = {type: KvType; maxChunkTokens: number} | {failure: string};

/** Preferred order of `auto`. */
const preference: readonly GpuName[] = ['cuda', 'webgpu'];

/** Causes that the library words for its own developers. */
const failures: readonly {pattern: RegExp; text: string}[] = [
  {
    pattern: /Failed to get a WebGPU adapter/,
    text: 'no adapter was found; on Linux it needs libvulkan.so.1 and the Vulkan driver of the graphics processor',
  },
  {
    pattern: /lib(cu|nv)\w+\.so[.\d]*: cannot open/,
    text: 'the libraries of CUDA 12 and cuDNN 9 were not found; add their folders to LD_LIBRARY_PATH',
  },
  {pattern: /CUDA failure|no CUDA-capable device/, text: 'no usable NVIDIA device or driver'},
];

/** @throws UnsupportedError when the device that was asked for cannot be used */
export async function deviceFor(
  api: OrtApi,
  libraryPath: string,
  {device, activationPrecision, speculativeConfig}: DeviceWish,
): Promise<ChosenDevice> {
  if (device === 'cpu') return cpuBecause('asked for');
  if (device === 'auto' && speculativeConfig !== null) return cpuBecause('drafts are checked there only');
  const environment = new OrtEnvironment(api);
  try {
    const type = activationPrecision === 'float32' ? 'float32' : null;
    return await chooseDevice(device, thisMachine(environment, libraryPath), type);
  } finally {
    environment.close();
  }
}

export function cpuBecause(reason: string): ChosenDevice {
  return {gpu: null, type: 'float32', maxChunkTokens: Number.POSITIVE_INFINITY, reason};
}

/**
 * @param type the only numbers that will do; null = the device's preferred ones
 * @throws UnsupportedError when the device that was asked for cannot be used
 */
export async function chooseDevice(
  wish: Exclude<EngineConfig['device'], 'cpu'>,
  machine: Machine,
  type: KvType | null = null,
): Promise<ChosenDevice> {
  if (wish === 'auto') return chooseFreely(machine, type);
  const gpu = gpuDevices[wish];
  const result = await tryDevice(gpu, machine, type);
  if ('failure' in result) throw refusal(gpu.name, result.failure, machine.gpus);
  return {gpu, ...result, reason: 'asked for'};
}

function thisMachine(environment: OrtEnvironment, libraryPath: string): Machine {
  return {
    gpus: hardwareGpus(environment),
    isApple: process.platform === 'darwin' && process.arch === 'arm64',
    obstacle: (name) => (name === 'cuda' ? missingCudaLibraries(libraryPath) : null),
    attempt: (gpu, type) => longestRightChunk(environment, gpu.provider, type),
  };
}

async function chooseFreely(machine: Machine, type: KvType | null): Promise<ChosenDevice> {
  const {gpus, isApple} = machine;
  if (gpus.length === 0 && !isApple) return cpuBecause('no graphics processor was found');
  const worthwhile = gpus.filter(({isDiscrete}) => isDiscrete || isApple);
  const found = gpus.map(describeGpu).join(', ');
  if (worthwhile.length === 0 && !isApple) {
    return cpuBecause(`${found} was found, but is rarely faster; --device webgpu uses it`);
  }
  const hasNvidia = gpus.some(({vendorId}) => vendorId === nvidiaVendorId);
  const reasons: string[] = [];
  for (const name of preference) {
    if (name === 'cuda' && !hasNvidia) continue;
    const gpu = gpuDevices[name];
    const result = await tryDevice(gpu, machine, type);
    if (!('failure' in result)) return {gpu, ...result, reason: `${found || 'Apple GPU'} was found`};
    reasons.push(`${name}: ${result.failure}`);
  }
  return cpuBecause(`${found} was found, but cannot be used (${reasons.join('; ')})`);
}

async function tryDevice(gpu: GpuDevice, {obstacle, attempt}: Machine, wanted: KvType | null): Promise<Attempt> {
  const missing = obstacle(gpu.name);
  if (missing !== null) return {failure: missing};
  let failure = `it computes in ${gpu.types.join(' or ')} only`;
  for (const type of gpu.types.filter((each) => wanted === null || each === wanted)) {
    try {
      const maxChunkTokens = await attempt(gpu, type);
      if (maxChunkTokens > 0) return {type, maxChunkTokens};
      failure = `its driver computes attention wrongly in ${type}`;
    } catch (error) {
      failure = explain((error as Error).message);
    }
  }
  return {failure};
}

function explain(message: string): string {
  return failures.find(({pattern}) => pattern.test(message))?.text ?? message.replace(/\s+/g, ' ').trim();
}

function refusal(name: GpuName, failure: string, gpus: readonly HardwareGpu[]): UnsupportedError {
  const found = gpus.length === 0 ? 'no graphics processor' : gpus.map(describeGpu).join(', ');
  return new UnsupportedError(
    `--device ${name} cannot be used: ${failure}. Found: ${found}. --device cpu always works.`,
  );
}
