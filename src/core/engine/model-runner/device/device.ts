/** The devices besides the CPU, as data: the provider that computes there, its memory, and what it can and cannot do. */
import {ModelError} from '../../../errors.ts';
import type {ModelFacts} from '../builder/build-model.ts';
import type {KvMemory, KvShape, KvType} from '../kv-memory.ts';
import {DeviceMemory} from '../ort/device-memory.ts';
import type {OrtEnvironment} from '../ort/ort-environment.ts';
import type {OrtProvider, OrtSession} from '../ort/ort-session.ts';
import {DeviceKvArena} from './device-kv-arena.ts';
import {KvCopier} from './kv-copier.ts';

export type GpuName = 'webgpu' | 'cuda';

export interface GpuDevice {
  name: GpuName;
  provider: OrtProvider;
  /** As the provider calls it. */
  memoryName: string;
  /** Numbers in which its attention computes, the preferred ones first. */
  types: readonly KvType[];
  /** Its attention bounds scores where the model wants that; without, the answers of such a model would be wrong. */
  hasSoftCap: boolean;
}

export const gpuDevices: Readonly<Record<GpuName, GpuDevice>> = {
  webgpu: {
    name: 'webgpu',
    provider: {name: 'WebGPU', options: {}},
    memoryName: 'WebGPU_Buf',
    types: ['float16', 'float32'],
    hasSoftCap: false,
  },
  cuda: {
    name: 'cuda',
    provider: {name: 'CUDA', options: {device_id: '0', arena_extend_strategy: 'kSameAsRequested'}},
    memoryName: 'Cuda',
    types: ['float16'],
    hasSoftCap: true,
  },
};

/** Why a device cannot compute a model; null = it can. */
export function obstacleOf({name, hasSoftCap}: GpuDevice, {architecture, needsSoftCap}: ModelFacts): string | null {
  if (!needsSoftCap || hasSoftCap) return null;
  return `${name} computes no attention with a soft cap, which ${architecture} models need`;
}

/**
 * The cache on a device, for a session that computes there.
 * @throws ModelError when the graph's cache is of a type that the device's attention does not take
 */
export function deviceKvMemory(
  environment: OrtEnvironment,
  session: OrtSession,
  {name, provider, memoryName, types}: GpuDevice,
  shape: KvShape,
): KvMemory {
  const declared = session.describe('Input', 'past_key_values.0.key').type;
  const type = types.find((each) => each === declared);
  if (!type) throw new ModelError(`${name} computes in ${types.join(' or ')}, but this model in ${declared}`);
  const buffers = {numBuffers: 2 * shape.numLayers, headSize: shape.headSize, type};
  const copier = new KvCopier(environment, provider, buffers);
  return new DeviceKvArena(new DeviceMemory(environment, session, memoryName), copier, shape, type);
}
