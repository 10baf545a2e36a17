/** One line every ten seconds while the engine works: tokens per second, sequences, cache use. */
import type {StepStats} from '../core/engine/protocol.ts';
import type {Llm} from '../core/llm.ts';
import type {Logger} from '../core/util/logger.ts';
import {EngineLoads, type TotalLoad} from './engine-loads.ts';

const DEFAULT_INTERVAL_SECONDS = 10;

/** Sums over the steps of one interval. */
interface IntervalSums {
  steps: number;
  prefillTokens: number;
  decodeTokens: number;
  prefixQueryTokens: number;
  prefixHitTokens: number;
}

function emptySums(): IntervalSums {
  return {steps: 0, prefillTokens: 0, decodeTokens: 0, prefixQueryTokens: 0, prefixHitTokens: 0};
}

function addStep(sums: IntervalSums, stats: StepStats): void {
  sums.steps++;
  sums.prefillTokens += stats.numPrefillTokens;
  sums.decodeTokens += stats.numDecodeTokens;
  sums.prefixQueryTokens += stats.prefixQueryTokens;
  sums.prefixHitTokens += stats.prefixHitTokens;
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 1000) / 10;
}

/** The line for one interval, and the same as fields. */
function throughputLine(sums: IntervalSums, now: TotalLoad, seconds: number, cacheTokens: number) {
  const fields = {
    promptTokensPerSecond: Math.round((sums.prefillTokens / seconds) * 10) / 10,
    generationTokensPerSecond: Math.round((sums.decodeTokens / seconds) * 10) / 10,
    running: now.numRunning,
    waiting: now.numWaiting,
    cacheUsePercent: percent(now.numUsedCacheTokens, cacheTokens),
    prefixHitPercent: percent(sums.prefixHitTokens, sums.prefixQueryTokens),
  };
  const message =
    `prompt ${fields.promptTokensPerSecond} tok/s, generation ${fields.generationTokensPerSecond} tok/s, ` +
    `running ${fields.running}, waiting ${fields.waiting}, ` +
    `KV cache ${fields.cacheUsePercent} %, prefix hits ${fields.prefixHitPercent} %`;
  return {fields, message};
}

function intervalSeconds(): number {
  const value = Number(process.env.VLLM_LOG_STATS_INTERVAL);
  return value > 0 ? value : DEFAULT_INTERVAL_SECONDS;
}

/** @returns the function that ends it */
export function startThroughputLog(llm: Llm, logger: Logger, seconds = intervalSeconds()): () => void {
  let sums = emptySums();
  const cacheTokens = llm.modelInfo.kvCacheTokens * llm.engineStates().length;
  const loads = new EngineLoads();
  const stopListening = llm.onStats((stats, engineIndex) => {
    addStep(sums, stats);
    loads.note(stats, engineIndex);
  });
  const timer = setInterval(() => {
    if (sums.steps > 0) {
      const {fields, message} = throughputLine(sums, loads.total(), seconds, cacheTokens);
      logger.info(fields, message);
    }
    sums = emptySums();
  }, seconds * 1000);
  timer.unref();
  return () => {
    clearInterval(timer);
    stopListening();
  };
}
