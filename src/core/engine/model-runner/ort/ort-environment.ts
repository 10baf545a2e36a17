/**
 * The one environment of the library in this process, with what every tensor and session needs: the function table and
 * the description of ordinary memory.
 */
import type {Handle, OrtApi} from './ort-api.ts';

/** Severity of the library's own log on stderr: 0 verbose … 4 fatal. */
const logSeverityError = 3;
const arenaAllocator = 1;
const defaultMemory = 0;

export class OrtEnvironment {
  readonly api: OrtApi;
  readonly handle: Handle;
  /** Describes memory of the CPU; owned by this object. */
  readonly cpuMemory: Handle;
  #isClosed = false;

  constructor(api: OrtApi) {
    this.api = api;
    this.handle = api.create('CreateEnv', logSeverityError, 'parlance');
    this.cpuMemory = api.create('CreateCpuMemoryInfo', arenaAllocator, defaultMemory);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.api.release('ReleaseMemoryInfo', this.cpuMemory);
    this.api.release('ReleaseEnv', this.handle);
  }
}
