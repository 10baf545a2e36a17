/**
 * How much KV cache there is: rows, tokens per row and tokens in all, from the options and the memory at hand. A row may
 * grow to the longest sequence, but all rows together only to the budget; pages are taken when they are first written.
 */
import type {EngineConfig} from '../../config/engine-config.ts';
import {ModelError} from '../../errors.ts';
import {availableMemoryBytes} from './available-memory.ts';
import type {ModelFacts} from './builder/build-model.ts';
import {kvBytesPerToken} from './kv-memory.ts';

export interface KvPlan {
  numRows: number;
  /** Longest sequence in tokens = capacity of a row. */
  maxModelLen: number;
  /** Tokens that all rows together may hold. */
  kvCacheTokens: number;
}

/** Part of the free memory that the cache may take when nothing is said. */
const defaultShare = 0.4;
/** Rows reserve addresses for their whole capacity; this bounds them to a multiple of the budget. */
const maxReservation = 8;
const shortestUsefulLength = 16;

/**
 * @param weightBytes memory that the weights will take
 * @throws ModelError when `--max-model-len` is too short, longer than the model allows or does not fit into the budget
 */
export function planKvCache(
  config: Pick<EngineConfig, 'maxModelLen' | 'maxNumSeqs' | 'kvCacheBytes'>,
  facts: Pick<ModelFacts, 'numLayers' | 'numKvHeads' | 'headSize' | 'contextLength'>,
  weightBytes: number,
  freeBytes: number = availableMemoryBytes(),
): KvPlan {
  const bytesPerToken = kvBytesPerToken(facts);
  const budgetBytes = config.kvCacheBytes ?? Math.floor(Math.max(0, freeBytes - weightBytes) * defaultShare);
  const budgetTokens = Math.floor(budgetBytes / bytesPerToken);
  const maxModelLen = chooseLength(config.maxModelLen, facts.contextLength, budgetTokens, bytesPerToken);
  const numRows = Math.max(1, Math.min(config.maxNumSeqs, Math.floor((budgetTokens * maxReservation) / maxModelLen)));
  return {numRows, maxModelLen, kvCacheTokens: Math.min(budgetTokens, numRows * maxModelLen)};
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
  const mebibytes = (tokens: number) => `${((tokens * bytesPerToken) / 2 ** 20).toFixed(0)} MiB`;
  return new ModelError(
    `One sequence of ${length} tokens needs ${mebibytes(length)} of KV cache, but the budget is ${mebibytes(budgetTokens)} (${budgetTokens} tokens). ` +
      `Give --max-model-len ${budgetTokens} or less, or raise --kv-cache-memory-bytes.`,
  );
}
