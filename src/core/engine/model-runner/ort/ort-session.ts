/** A loaded model graph. `run` takes tensors for all inputs and all outputs, so that nothing is allocated or copied. */
import koffi from 'koffi';
import type {Handle} from './ort-api.ts';
import type {OrtEnvironment} from './ort-environment.ts';
import {type ElementType, elementTypes, type OrtTensor} from './ort-tensor.ts';

/** Levels of graph optimization in the C API. */
const optimizeAll = 99;
/** Severity of the library's log. */
const fatalOnly = 4;

/** This provider has functions of its own in the C API. */
const cudaName = 'CUDA';

/** What computes instead of the CPU, by the library's name for it. */
export interface OrtProvider {
  name: string;
  options: Readonly<Record<string, string>>;
}

export interface OrtSessionOptions {
  /** Threads of one run, the calling one included. */
  numThreads: number;
  /** Further settings by the names of the library, e.g. `session.intra_op.allow_spinning`. */
  configEntries?: Record<string, string>;
  /** Absent or null = the CPU. */
  provider?: OrtProvider | null;
  /** The library keeps errors of this session from stderr, because they are expected. */
  isQuiet?: boolean;
}

/** What the graph says of an input or output. */
export interface OrtValueInfo {
  /** Null = a type that nothing here uses. */
  type: ElementType | null;
  /** -1 for sizes that are open. */
  dims: readonly number[];
}

export class OrtSession {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  readonly #environment: OrtEnvironment;
  readonly #handle: Handle;
  readonly #inputNameList: NativeStrings;
  readonly #outputNameList: NativeStrings;
  #isClosed = false;

  /**
   * @param model path or content of a graph
   * @throws GenerationError when the graph cannot be loaded
   */
  constructor(environment: OrtEnvironment, model: string | Uint8Array, options: OrtSessionOptions) {
    this.#environment = environment;
    this.#handle = createSession(environment, model, options);
    this.inputNames = this.#readNames('Input');
    this.outputNames = this.#readNames('Output');
    this.#inputNameList = new NativeStrings(this.inputNames);
    this.#outputNameList = new NativeStrings(this.outputNames);
  }

  /**
   * Runs the graph on a worker thread.
   * @param inputs,outputs one tensor per name, in the order of `inputNames` and `outputNames`; the same tensor may be
   *   input and output. All of them must stay alive until the promise settles.
   */
  async run(inputs: readonly OrtTensor[], outputs: readonly OrtTensor[]): Promise<void> {
    const inputHandles = handlesOf(inputs);
    const outputHandles = handlesOf(outputs);
    await this.#environment.api.callAsync(
      'Run',
      this.#handle,
      null,
      this.#inputNameList.pointers,
      inputHandles,
      inputHandles.length,
      this.#outputNameList.pointers,
      outputHandles.length,
      outputHandles,
    );
  }

  /** The allocator of this session for memory of a kind; whoever asks for it releases it. */
  createAllocator(memory: Handle): Handle {
    return this.#environment.api.create('CreateAllocator', this.#handle, memory);
  }

  /** @throws GenerationError when the graph has no such input or output */
  describe(side: 'Input' | 'Output', name: string): OrtValueInfo {
    const {api} = this.#environment;
    const index = (side === 'Input' ? this.inputNames : this.outputNames).indexOf(name);
    const info = api.create(`SessionGet${side}TypeInfo`, this.#handle, index);
    try {
      const tensor = api.create('CastTypeInfoToTensorInfo', info);
      const type: [number] = [0];
      api.call('GetTensorElementType', tensor, type);
      const count: [number | bigint] = [0];
      api.call('GetDimensionsCount', tensor, count);
      const dims = new BigInt64Array(Number(count[0]));
      if (dims.length > 0) api.call('GetDimensions', tensor, dims, dims.length);
      return {type: elementTypeNumbered(type[0]), dims: Array.from(dims, Number)};
    } finally {
      api.release('ReleaseTypeInfo', info);
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#environment.api.release('ReleaseSession', this.#handle);
  }

  #readNames(side: 'Input' | 'Output'): string[] {
    const {api} = this.#environment;
    const count: [number | bigint] = [0];
    api.call(`SessionGet${side}Count`, this.#handle, count);
    const allocator = api.create('GetAllocatorWithDefaultOptions');
    return Array.from({length: Number(count[0])}, (_, index) => {
      const pointer = api.create(`SessionGet${side}Name`, this.#handle, index, allocator);
      const name = koffi.decode(pointer, 'char', -1) as string;
      api.call('AllocatorFree', allocator, pointer);
      return name;
    });
  }
}

function elementTypeNumbered(number: number): ElementType | null {
  const names = Object.keys(elementTypes) as ElementType[];
  return names.find((name) => elementTypes[name] === number) ?? null;
}

function createSession(environment: OrtEnvironment, model: string | Uint8Array, options: OrtSessionOptions): Handle {
  const {api} = environment;
  const settings = api.create('CreateSessionOptions');
  try {
    api.call('SetIntraOpNumThreads', settings, options.numThreads);
    api.call('SetSessionGraphOptimizationLevel', settings, optimizeAll);
    for (const [key, value] of Object.entries(options.configEntries ?? {})) {
      api.call('AddSessionConfigEntry', settings, key, value);
    }
    if (options.isQuiet) api.call('SetSessionLogSeverityLevel', settings, fatalOnly);
    if (options.provider) appendProvider(environment, settings, options.provider);
    if (typeof model === 'string') return api.create('CreateSession', environment.handle, model, settings);
    return api.create('CreateSessionFromArray', environment.handle, model, model.length, settings);
  } finally {
    api.release('ReleaseSessionOptions', settings);
  }
}

function appendProvider({api}: OrtEnvironment, settings: Handle, {name, options}: OrtProvider): void {
  const [keys, values] = [Object.keys(options), Object.values(options)];
  if (name !== cudaName) {
    api.call('SessionOptionsAppendExecutionProvider', settings, name, keys, values, keys.length);
    return;
  }
  const cudaOptions = api.create('CreateCUDAProviderOptions');
  try {
    api.call('UpdateCUDAProviderOptions', cudaOptions, keys, values, keys.length);
    api.call('SessionOptionsAppendExecutionProvider_CUDA_V2', settings, cudaOptions);
  } finally {
    api.release('ReleaseCUDAProviderOptions', cudaOptions);
  }
}

function handlesOf(tensors: readonly OrtTensor[]): BigUint64Array {
  return BigUint64Array.from(tensors, (tensor) => tensor.handle);
}

/** C strings that stay in memory, so that a run converts none. */
class NativeStrings {
  readonly pointers: BigUint64Array;
  readonly #buffers: Buffer[];

  constructor(strings: readonly string[]) {
    this.#buffers = strings.map((text) => Buffer.from(`${text}\0`, 'utf8'));
    this.pointers = BigUint64Array.from(this.#buffers, (buffer) => koffi.address(buffer));
  }
}
