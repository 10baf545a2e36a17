/** What a device is to the native library: the provider that computes on it and the name of its memory. */
import type {KvMemory, KvShape, KvType} from '../kv-memory.ts';
import {DeviceMemory} from '../ort/device-memory.ts';
import type {OrtEnvironment} from '../ort/ort-environment.ts';
import type {OrtProvider, OrtSession} from '../ort/ort-session.ts';
import {DeviceKvArena} from './device-kv-arena.ts';
import {KvCopier} from './kv-copier.ts';

export type DeviceName = 'cpu' | 'webgpu' | 'cuda';

export interface GpuDevice {
  name: Exclude<DeviceName, 'cpu'>;
  provider: OrtProvider;
  /** As the provider calls it. */
  memoryName: string;
}

export const webgpu: GpuDevice = {
  name: 'webgpu',
  provider: {name: 'WebGPU', options: {}},
  memoryName: 'WebGPU_Buf',
};

/** The cache on a device, for a session that computes there. */
export function deviceKvMemory(
  environment: OrtEnvironment,
  session: OrtSession,
  {provider, memoryName}: GpuDevice,
  shape: KvShape,
  type: KvType,
): KvMemory {
  const buffers = {numBuffers: 2 * shape.numLayers, headSize: shape.headSize, type};
  const copier = new KvCopier(environment, provider, buffers);
  return new DeviceKvArena(new DeviceMemory(environment, session, memoryName), copier, shape, type);
}
