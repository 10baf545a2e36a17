/**
 * ONNX Runtime's C API as JavaScript functions, through koffi. `OrtGetApiBase()` leads to a table of function pointers
 * in a fixed order that only grows; the entries used here are listed as data. Every function but the Release ones
 * returns a status object, null for success: `check` turns it into an error. The classes in `ort-session.ts` and
 * `ort-tensor.ts` are what the rest of the engine sees.
 */
import koffi, {type LibraryHandle} from 'koffi';
import {GenerationError, ModelError} from '../../../errors.ts';

/** A native handle. Zero and null never stand for an object. */
export type Handle = bigint;

/** Version of the function table that is asked for; every later library has it too. */
const apiVersion = 23;

/**
 * Stack of a call on a worker thread. Compiling shaders takes more than a megabyte; koffi's own default is an eighth of
 * one, and running out of it ends the process.
 */
const asyncStackBytes = 8 * 2 ** 20;

/** Position in `OrtApi` and parameter types. `out` is a pointer that receives a handle. */
const functionTable = {
  CreateEnv: [3, 'int', 'str', 'out'],
  CreateSession: [7, 'ptr', 'path', 'ptr', 'out'],
  CreateSessionFromArray: [8, 'ptr', 'ptr', 'size_t', 'ptr', 'out'],
  Run: [9, 'ptr', 'ptr', 'ptr', 'ptr', 'size_t', 'ptr', 'size_t', 'ptr'],
  CreateSessionOptions: [10, 'out'],
  SetSessionLogSeverityLevel: [22, 'ptr', 'int'],
  SetSessionGraphOptimizationLevel: [23, 'ptr', 'int'],
  SetIntraOpNumThreads: [24, 'ptr', 'int'],
  SessionGetInputCount: [30, 'ptr', 'outSize'],
  SessionGetOutputCount: [31, 'ptr', 'outSize'],
  SessionGetInputTypeInfo: [33, 'ptr', 'size_t', 'out'],
  SessionGetOutputTypeInfo: [34, 'ptr', 'size_t', 'out'],
  SessionGetInputName: [36, 'ptr', 'size_t', 'ptr', 'out'],
  SessionGetOutputName: [37, 'ptr', 'size_t', 'ptr', 'out'],
  CreateTensorAsOrtValue: [48, 'ptr', 'ptr', 'size_t', 'int', 'out'],
  CreateTensorWithDataAsOrtValue: [49, 'ptr', 'ptr', 'size_t', 'ptr', 'size_t', 'int', 'out'],
  GetTensorMutableData: [51, 'ptr', 'out'],
  CreateMemoryInfo: [68, 'str', 'int', 'int', 'int', 'out'],
  CastTypeInfoToTensorInfo: [55, 'ptr', 'out'],
  GetTensorElementType: [60, 'ptr', 'outInt'],
  GetDimensionsCount: [61, 'ptr', 'outSize'],
  GetDimensions: [62, 'ptr', 'ptr', 'size_t'],
  CreateCpuMemoryInfo: [69, 'int', 'int', 'out'],
  AllocatorFree: [76, 'ptr', 'ptr'],
  GetAllocatorWithDefaultOptions: [78, 'out'],
  AddSessionConfigEntry: [130, 'ptr', 'str', 'str'],
  CreateAllocator: [131, 'ptr', 'ptr', 'out'],
  SessionOptionsAppendExecutionProvider_CUDA_V2: [204, 'ptr', 'ptr'],
  CreateCUDAProviderOptions: [205, 'out'],
  UpdateCUDAProviderOptions: [206, 'ptr', 'strings', 'strings', 'size_t'],
  SessionOptionsAppendExecutionProvider: [216, 'ptr', 'str', 'strings', 'strings', 'size_t'],
  GetEpDevices: [303, 'ptr', 'out', 'outSize'],
} as const satisfies Record<string, readonly [number, ...string[]]>;

/** Position in `OrtApi` of the functions that free a handle and return nothing. */
const releaseTable = {
  ReleaseEnv: 92,
  ReleaseStatus: 93,
  ReleaseMemoryInfo: 94,
  ReleaseSession: 95,
  ReleaseValue: 96,
  ReleaseTypeInfo: 98,
  ReleaseSessionOptions: 100,
  ReleaseAllocator: 132,
  ReleaseCUDAProviderOptions: 208,
} as const;

/** Position in `OrtApi`, result and parameter types of the functions that cannot fail. */
const getterTable = {
  GetKeyValuePairs: [298, 'void', 'ptr', 'out', 'out', 'outSize'],
  HardwareDevice_Type: [307, 'int', 'ptr'],
  HardwareDevice_VendorId: [308, 'uint32_t', 'ptr'],
  HardwareDevice_Vendor: [309, 'str', 'ptr'],
  HardwareDevice_DeviceId: [310, 'uint32_t', 'ptr'],
  HardwareDevice_Metadata: [311, 'void*', 'ptr'],
  EpDevice_Device: [316, 'void*', 'ptr'],
} as const satisfies Record<string, readonly [number, string, ...string[]]>;

const numTableEntries =
  Math.max(...[...Object.values(functionTable), ...Object.values(getterTable)].map(([index]) => index)) + 1;

/** Paths are UTF-16 on Windows, UTF-8 elsewhere. */
const pathType = process.platform === 'win32' ? 'str16' : 'str';

type FunctionName = keyof typeof functionTable;
type ReleaseName = keyof typeof releaseTable;
type GetterName = keyof typeof getterTable;
type KoffiType = Parameters<typeof koffi.out>[0];
type NativeFunction = ((...args: unknown[]) => unknown) & {async: (...args: unknown[]) => void};

/** The loaded library. Loading the same file twice gives the same native library. */
export class OrtApi {
  readonly version: string;
  readonly #functions: Record<FunctionName, NativeFunction>;
  readonly #releases: Record<ReleaseName, NativeFunction>;
  readonly #getters: Record<GetterName, NativeFunction>;
  readonly #getErrorMessage: NativeFunction;
  /** The library is unloaded when nothing refers to its handle any more, while its functions may still be called. */
  readonly library: unknown;

  /**
   * @param libraryPath the shared library, see `findOrtLibrary`
   * @throws ModelError when the file cannot be loaded or is too old for this API version
   */
  constructor(libraryPath: string) {
    // Can be set only before the first library is loaded.
    if (koffi.config().async_stack_size !== asyncStackBytes) koffi.config({async_stack_size: asyncStackBytes});
    const base = loadApiBase(libraryPath);
    this.library = base.library;
    this.version = base.version;
    const table = koffi.decode(base.api, koffi.array('void*', numTableEntries)) as unknown[];
    this.#functions = mapValues(functionTable, ([index, ...types]) =>
      bind(table[index], 'void*', types.map(parameterType)),
    );
    this.#releases = mapValues(releaseTable, (index) => bind(table[index], 'void', ['void*']));
    this.#getters = mapValues(getterTable, ([index, result, ...types]) =>
      bind(table[index], result, types.map(parameterType)),
    );
    this.#getErrorMessage = bind(table[2], 'str', ['void*']);
  }

  /** Calls a function whose last parameter receives a handle, and returns that handle. */
  create(name: FunctionName, ...args: unknown[]): Handle {
    const result: [Handle | null] = [null];
    this.call(name, ...args, result);
    return result[0] as Handle;
  }

  /** @throws GenerationError with the library's own text */
  call(name: FunctionName, ...args: unknown[]): void {
    this.#check(this.#functions[name](...args));
  }

  /** The same on a worker thread: the event loop goes on meanwhile. Memory behind the arguments must stay alive. */
  callAsync(name: FunctionName, ...args: unknown[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#functions[name].async(...args, (error: unknown, status: unknown) => {
        try {
          if (error) throw error;
          this.#check(status);
          resolve();
        } catch (cause) {
          reject(cause);
        }
      });
    });
  }

  /** Calls a function that cannot fail. */
  get(name: GetterName, ...args: unknown[]): unknown {
    return this.#getters[name](...args);
  }

  release(name: ReleaseName, handle: Handle): void {
    this.#releases[name](handle);
  }

  #check(status: unknown): void {
    if (!status) return;
    const message = this.#getErrorMessage(status) as string;
    this.#releases.ReleaseStatus(status);
    throw new GenerationError(`ONNX Runtime: ${message}`);
  }
}

function loadApiBase(libraryPath: string): {library: unknown; version: string; api: unknown} {
  const library = openLibrary(libraryPath);
  const getApiBase = library.func('OrtGetApiBase', 'void*', []) as unknown as NativeFunction;
  const [getApi, getVersion] = koffi.decode(getApiBase(), koffi.array('void*', 2)) as unknown[];
  const version = bind(getVersion, 'str', [])() as string;
  const api = bind(getApi, 'void*', ['uint32_t'])(apiVersion);
  if (!api) {
    throw new ModelError(
      `ONNX Runtime ${version} is too old: it has no API version ${apiVersion}. Install onnxruntime-node 1.23 or later.`,
    );
  }
  return {library, version, api};
}

function openLibrary(libraryPath: string): LibraryHandle {
  try {
    return koffi.load(libraryPath);
  } catch (cause) {
    throw new ModelError(`Cannot load ONNX Runtime from ${libraryPath}: ${(cause as Error).message}`, {cause});
  }
}

function bind(pointer: unknown, result: string, parameters: KoffiType[]): NativeFunction {
  return koffi.decode(pointer, koffi.proto(result, parameters)) as NativeFunction;
}

function parameterType(type: string): KoffiType {
  switch (type) {
    case 'ptr':
      return 'void*';
    case 'out':
      return koffi.out(koffi.pointer('void*'));
    case 'outSize':
      return koffi.out(koffi.pointer('size_t'));
    case 'outInt':
      return koffi.out(koffi.pointer('int'));
    case 'path':
      return pathType;
    case 'strings':
      return 'const char **';
    default:
      return type;
  }
}

function mapValues<Key extends string, In, Out>(
  record: Readonly<Record<Key, In>>,
  map: (value: In) => Out,
): Record<Key, Out> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value as In)])) as Record<Key, Out>;
}
