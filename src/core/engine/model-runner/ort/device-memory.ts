/**
 * Memory on the device that a session computes on. Tensors are allocated there once and bound as input and output of runs;
 * nothing of them is copied to this side. A tensor can be seen in other dimensions over the same memory.
 */
import type {Handle} from './ort-api.ts';
import type {OrtEnvironment} from './ort-environment.ts';
import type {OrtSession} from './ort-session.ts';
import {type ElementType, elementBytes, OrtTensor} from './ort-tensor.ts';

/** Of memory infos in the C API. */
const deviceAllocator = 0;
const firstDevice = 0;
const defaultMemory = 0;

export class DeviceMemory {
  readonly #environment: OrtEnvironment;
  readonly #info: Handle;
  readonly #allocator: Handle;

  /** @param memoryName what the provider calls its memory, e.g. `WebGPU_Buf` */
  constructor(environment: OrtEnvironment, session: OrtSession, memoryName: string) {
    this.#environment = environment;
    this.#info = environment.api.create('CreateMemoryInfo', memoryName, deviceAllocator, firstDevice, defaultMemory);
    try {
      this.#allocator = session.createAllocator(this.#info);
    } catch (cause) {
      environment.api.release('ReleaseMemoryInfo', this.#info);
      throw cause;
    }
  }

  /** A tensor with memory of its own; release it before this object is closed. */
  allocate(type: ElementType, dims: readonly number[]): OrtTensor {
    return OrtTensor.allocate(this.#environment, this.#allocator, type, dims);
  }

  /** The beginning of a tensor's memory in other dimensions. The tensor must outlive it. */
  view(tensor: OrtTensor, type: ElementType, dims: readonly number[]): OrtTensor {
    const numBytes = elementBytes[type] * dims.reduce((product, size) => product * size, 1);
    return OrtTensor.at(this.#environment, tensor.address, tensor, type, numBytes, dims, this.#info);
  }

  close(): void {
    this.#environment.api.release('ReleaseAllocator', this.#allocator);
    this.#environment.api.release('ReleaseMemoryInfo', this.#info);
  }
}
