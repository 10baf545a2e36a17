/**
 * How much KV cache there is: rows, tokens per row and tokens in all, from the options and the memory at hand. A row may
 * grow to the longest sequence, but all rows together only to the budget; pages are taken when they are first written.
 */
import type {EngineConfig} from '../../config/engine-config.ts';
import {ModelError} from '../../errors.ts';
import {availableMemoryBytes, totalMemoryBytes} from './available-memory.ts';
import type {ModelFacts} from './builder/build-model.ts';
import {type KvType, kvBytesPerToken} from './kv-memory.ts';

export interface KvPlan {
  numRows: number;
  /** Longest sequence in tokens = capacity of a row. */
  maxModelLen: number;
  /** Tokens that all rows together may hold. */
  kvCacheTokens: number;
}

export interface CacheKind {
  type: KvType;
  /** Every row takes its whole memory at the start, as on a device, instead of page by page. */
  isTakenAtOnce: boolean;
}

/** Part of the free memory that the cache may take when nothing is said. */
const defaultShare = 0.4;
/** Rows reserve addresses for their whole capacity; this bounds them to a multiple of the budget. */
const maxReservation = 8;
const shortestUsefulLength = 16;
/** Unit in which the cache is counted, see `kv-cache/kv-cache-manager.ts`. */
const blockTokens = 16;

type PlanOptions = Pick<
  EngineConfig,
  'maxModelLen' | 'maxNumSeqs' | 'kvCacheBytes' | 'gpuMemoryUtilization' | 'numGpuBlocksOverride'
>;

/** What the machine has for this process. */
export interface MemoryFacts {
  freeBytes: number;
  totalBytes: number;
}

/** As it is now: to be taken before the weights are loaded. */
export function memoryFacts(): MemoryFacts {
  return {freeBytes: availableMemoryBytes(), totalBytes: totalMemoryBytes()};
}

/** @throws ModelError with the numbers */
export function requireRoomForWeights(weightBytes: number, {freeBytes}: MemoryFacts): void {
  if (weightBytes > freeBytes) throw weightsDoNotFit(weightBytes, freeBytes);
}

/**
 * @param weightBytes memory that the weights will take
 * @param memory as it is without them
 * @throws ModelError when `--max-model-len` is too short, longer than the model allows or does not fit into the budget
 */
export function planKvCache(
  config: PlanOptions,
  facts: Pick<ModelFacts, 'numLayers' | 'numKvHeads' | 'headSize' | 'contextLength'>,
  weightBytes: number,
  memory: MemoryFacts,
  {type, isTakenAtOnce}: CacheKind = {type: 'float32', isTakenAtOnce: false},
): KvPlan {
  const bytesPerToken = kvBytesPerToken(facts, type);
  requireRoomForWeights(weightBytes, memory);
  const budgetTokens =
    config.numGpuBlocksOverride === null
      ? Math.floor(budgetBytes(config, weightBytes, memory) / bytesPerToken)
      : config.numGpuBlocksOverride * blockTokens;
  const maxModelLen = chooseLength(config.maxModelLen, facts.contextLength, budgetTokens, bytesPerToken);
  const reservedTokens = budgetTokens * (isTakenAtOnce ? 1 : maxReservation);
  const numRows = Math.max(1, Math.min(config.maxNumSeqs, Math.floor(reservedTokens / maxModelLen)));
  return {numRows, maxModelLen, kvCacheTokens: Math.min(budgetTokens, numRows * maxModelLen)};
}

/** As stated in bytes, as a part of all memory, or a part of what is left. */
function budgetBytes(
  {kvCacheBytes, gpuMemoryUtilization}: PlanOptions,
  weightBytes: number,
  {freeBytes, totalBytes}: MemoryFacts,
): number {
  if (kvCacheBytes !== null) return kvCacheBytes;
  if (gpuMemoryUtilization === null) return Math.floor((freeBytes - weightBytes) * defaultShare);
  const wantedBytes = gpuMemoryUtilization * totalBytes;
  if (wantedBytes > freeBytes) {
    throw new ModelError(
      `--gpu-memory-utilization ${gpuMemoryUtilization} asks for ${inMebibytes(wantedBytes)} of ${inMebibytes(totalBytes)}, but only ${inMebibytes(freeBytes)} are free. ` +
        `Give at most ${(Math.floor((freeBytes / totalBytes) * 100) / 100).toFixed(2)}, or end what else uses memory.`,
    );
  }
  if (wantedBytes <= weightBytes) {
    throw new ModelError(
      `--gpu-memory-utilization ${gpuMemoryUtilization} is ${inMebibytes(wantedBytes)}, and the weights alone take ${inMebibytes(weightBytes)}. Raise it.`,
    );
  }
  return Math.floor(wantedBytes - weightBytes);
}

function weightsDoNotFit(weightBytes: number, freeBytes: number): ModelError {
  return new ModelError(
    `The weights take ${inMebibytes(weightBytes)}, but only ${inMebibytes(freeBytes)} of memory are free. ` +
      'Take a smaller quantization (a GGUF file with fewer bits, or --quantization int8 or int4 for a folder with safetensors), or free memory.',
  );
}

function chooseLength(
  wanted: number | null,
  contextLength: number,
  budgetTokens: number,
  bytesPerToken: number,
): number {
  if (wanted !== null && wanted > contextLength) {
    throw new ModelError(
      `--max-model-len ${wanted} is longer than the model's ${contextLength} positions. Give at most ${contextLength}.`,
    );
  }
  const shortest = Math.min(shortestUsefulLength, contextLength);
  if (wanted !== null && wanted < shortest) {
    throw new ModelError(`--max-model-len ${wanted} is too short to be of use. Give at least ${shortest}.`);
  }
  if (budgetTokens < shortest) throw noRoom(budgetTokens, shortest, bytesPerToken);
  const length = wanted ?? Math.min(contextLength, budgetTokens);
  if (length > budgetTokens) throw tooSmall(length, budgetTokens, bytesPerToken);
  return length;
}

function noRoom(budgetTokens: number, shortest: number, bytesPerToken: number): ModelError {
  return new ModelError(
    `The KV cache has room for ${budgetTokens} tokens, but a sequence needs room for at least ${shortest}: ` +
      `${shortest * bytesPerToken} bytes. Raise --kv-cache-memory-bytes, or free memory.`,
  );
}

function tooSmall(length: number, budgetTokens: number, bytesPerToken: number): ModelError {
  const mebibytes = (tokens: number) => inMebibytes(tokens * bytesPerToken);
  return new ModelError(
    `One sequence of ${length} tokens needs ${mebibytes(length)} of KV cache, but the budget is ${mebibytes(budgetTokens)} (${budgetTokens} tokens). ` +
      `Give --max-model-len ${budgetTokens} or less, or raise --kv-cache-memory-bytes.`,
  );
}

function inMebibytes(numBytes: number): string {
  return `${(numBytes / 2 ** 20).toFixed(0)} MiB`;
}
