/**
 * What each of several engines on one machine gets: threads and memory for keys and values. Refuses, with numbers, what
 * the memory cannot hold, before anything is loaded.
 */
import {readdirSync, statSync} from 'node:fs';
import path from 'node:path';
import type {EngineConfig} from '../../config/engine-config.ts';
import {ModelError} from '../../errors.ts';
import {availableMemoryBytes, totalMemoryBytes} from '../model-runner/available-memory.ts';
import {defaultThreads} from '../model-runner/default-threads.ts';

export interface MachineFacts {
  freeBytes: number;
  /** Of one copy of the model. */
  weightBytes: number;
  /** That the machine has for forward passes. */
  numThreads: number;
}

/** Part of the memory beside the weights that all caches together may take when nothing is said. */
const cacheShare = 0.4;
/** A smaller one is not worth a start. */
const leastCacheBytes = 2 ** 20;

const weightFile = /\.(gguf|safetensors|onnx|onnx_data\w*)$/i;

/** @throws ModelError when the memory does not suffice for so many engines */
export function divideMachine(
  config: EngineConfig,
  numEngines: number,
  facts: MachineFacts = machineFacts(config),
): EngineConfig {
  return {
    ...config,
    threads: config.threads ?? Math.max(1, Math.floor(facts.numThreads / numEngines)),
    kvCacheBytes: cacheBytesOfEach(config, numEngines, facts),
  };
}

function machineFacts({modelPath}: EngineConfig): MachineFacts {
  return {
    freeBytes: availableMemoryBytes(),
    weightBytes: weightFileBytes(modelPath),
    numThreads: defaultThreads(),
  };
}

/** Size of the weights as they lie on the disk: a file, or all files of a folder. */
export function weightFileBytes(modelPath: string): number {
  const stats = statSync(modelPath);
  if (!stats.isDirectory()) return stats.size;
  const names = readdirSync(modelPath).filter((name) => weightFile.test(name));
  return names.reduce((sum, name) => sum + statSync(path.join(modelPath, name)).size, 0);
}

function cacheBytesOfEach(config: EngineConfig, numEngines: number, facts: MachineFacts): number {
  const {kvCacheBytes, gpuMemoryUtilization} = config;
  const {freeBytes, weightBytes} = facts;
  const leftBytes = freeBytes - numEngines * weightBytes;
  const shareBytes =
    gpuMemoryUtilization === null
      ? leftBytes * cacheShare
      : gpuMemoryUtilization * totalMemoryBytes() - numEngines * weightBytes;
  const wanted = kvCacheBytes ?? Math.max(leastCacheBytes, Math.floor(shareBytes / numEngines));
  if (numEngines * wanted <= leftBytes) return wanted;
  throw notEnough(wanted, numEngines, facts);
}

function notEnough(cacheBytes: number, numEngines: number, {freeBytes, weightBytes}: MachineFacts): ModelError {
  const eachBytes = weightBytes + cacheBytes;
  const numPossible = Math.floor(freeBytes / eachBytes);
  const advice =
    numPossible >= 1
      ? `Give --data-parallel-size ${numPossible} or less, or a smaller --kv-cache-memory-bytes.`
      : 'Give a smaller --kv-cache-memory-bytes, or free memory.';
  return new ModelError(
    `${numEngines} engines need ${mebibytes(numEngines * eachBytes)} (each ${mebibytes(weightBytes)} of weights and ` +
      `${mebibytes(cacheBytes)} of KV cache), but only ${mebibytes(freeBytes)} of memory are free. ${advice}`,
  );
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}
