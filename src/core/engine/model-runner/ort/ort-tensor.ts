/**
 * Tensors over memory of ours: the library reads and writes the caller's bytes in place and owns none of them. That is
 * what lets a KV cache be input and output of the same run.
 */
import koffi from 'koffi';
import type {Handle} from './ort-api.ts';
import type {OrtEnvironment} from './ort-environment.ts';

/** Numbers of the element types in the C API. */
export const elementTypes = {float32: 1, uint8: 2, int32: 6, int64: 7, float16: 10} as const;
export type ElementType = keyof typeof elementTypes;

export const elementBytes: Readonly<Record<ElementType, number>> = {
  float32: 4,
  uint8: 1,
  int32: 4,
  int64: 8,
  float16: 2,
};

type TensorData = Float32Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array;

const elementTypeOf = (data: TensorData): ElementType => {
  if (data instanceof Float32Array) return 'float32';
  if (data instanceof Int32Array) return 'int32';
  if (data instanceof Uint16Array) return 'float16';
  return data instanceof BigInt64Array ? 'int64' : 'uint8';
};

/** Address of the first byte of a typed array. It stays valid as long as the array is referenced. */
export function addressOf(data: TensorData): bigint {
  return koffi.address(data);
}

export class OrtTensor {
  readonly handle: Handle;
  readonly #environment: OrtEnvironment;
  /** Keeps the memory referenced while the tensor lives. */
  readonly memory: unknown;

  private constructor(environment: OrtEnvironment, memory: unknown, handle: Handle) {
    this.#environment = environment;
    this.memory = memory;
    this.handle = handle;
  }

  /** A tensor over a whole typed array; the product of `dims` is its length. */
  static over(environment: OrtEnvironment, data: TensorData, dims: readonly number[]): OrtTensor {
    return OrtTensor.at(environment, addressOf(data), data, elementTypeOf(data), data.byteLength, dims);
  }

  /**
   * A tensor over a part of some memory.
   * @param memory what keeps the address valid; referenced as long as the tensor
   * @param memoryInfo the kind of memory; the CPU's by default
   */
  static at(
    environment: OrtEnvironment,
    address: bigint,
    memory: unknown,
    type: ElementType,
    numBytes: number,
    dims: readonly number[],
    memoryInfo: Handle = environment.cpuMemory,
  ): OrtTensor {
    const handle = environment.api.create(
      'CreateTensorWithDataAsOrtValue',
      memoryInfo,
      address,
      numBytes,
      BigInt64Array.from(dims, BigInt),
      dims.length,
      elementTypes[type],
    );
    return new OrtTensor(environment, memory, handle);
  }

  /** A tensor with memory of its own from an allocator of the library. */
  static allocate(
    environment: OrtEnvironment,
    allocator: Handle,
    type: ElementType,
    dims: readonly number[],
  ): OrtTensor {
    const shape = BigInt64Array.from(dims, BigInt);
    const handle = environment.api.create('CreateTensorAsOrtValue', allocator, shape, dims.length, elementTypes[type]);
    return new OrtTensor(environment, null, handle);
  }

  /** Where the library keeps the content; on some devices the handle of a buffer instead of an address. */
  get address(): Handle {
    return this.#environment.api.create('GetTensorMutableData', this.handle);
  }

  /** Frees the native handle, and the memory when the library allocated it. */
  release(): void {
    this.#environment.api.release('ReleaseValue', this.handle);
  }
}
