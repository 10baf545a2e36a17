/**
 * What the engine did, as metric families with the names, labels and buckets of vLLM, so that its dashboards work
 * (vllm/v1/metrics/loggers.py). Fed by the steps of the engine and by the sequences that its client sees.
 */
import {type DraftMeasurements, DraftMetrics} from './draft-metrics.ts';
import type {Cell, Family, MetricRegistry} from './metric-registry.ts';
import type {SequenceEnd, SequenceObserver, SequenceRecord} from './sequence-observer.ts';

/** What these metrics need of a step of the engine. */
export interface StepMeasurements {
  numRunning: number;
  numWaiting: number;
  numUsedCacheTokens: number;
  numPrefillTokens: number;
  numDecodeTokens: number;
  numPreemptions: number;
  prefixQueryTokens: number;
  prefixHitTokens: number;
  drafts?: DraftMeasurements;
}

export interface ServingFacts {
  /** The first served name. */
  modelName: string;
  maxModelLen: number;
  /** A parser looks for calls of tools, so that is counted, too. */
  readsToolCalls?: boolean;
  /** Most tokens of a draft; absent where the engine drafts nothing. */
  maxDraftTokens?: number;
  /** Of each engine; 0 = not known. */
  kvCacheTokens: number;
  kvCacheBytesPerToken: number;
  /** Asked for each page: the engines in order of their label `engine`. */
  engineStates: () => readonly EngineState[];
}

/** What these metrics need of an engine. */
export interface EngineState {
  isUp: boolean;
  numRestarts: number;
}

/** Calls of tools were looked for in a choice: in which mode, and whether there was one. */
export interface ToolCallReading {
  mode: 'streaming' | 'non_streaming';
  outcome: 'tool_call' | 'no_tool_call';
}

/** Why a request was turned away before the engine. */
export type RejectionReason = 'max_num_queued_reqs' | 'max_num_queued_tokens';

/** Tokens that one block of the KV cache holds. */
const BLOCK_TOKENS = 16;
const FINISHED_REASONS: SequenceEnd[] = ['stop', 'length', 'abort', 'error', 'repetition'];
const REJECTION_REASONS: RejectionReason[] = ['max_num_queued_reqs', 'max_num_queued_tokens'];
const PROMPT_TOKEN_SOURCES = ['local_compute', 'local_cache_hit', 'external_kv_transfer'] as const;

const ITERATION_BUCKETS = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
const PARAMS_N_BUCKETS = [1, 2, 5, 10, 20];
const PREEMPTION_BUCKETS = [1, 2, 3, 4, 5, 10, 20];
const FIRST_TOKEN_BUCKETS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
];
const TOKEN_INTERVAL_BUCKETS = [
  0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
];
const REQUEST_TIME_BUCKETS = [
  0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
];

/** 1, 2, 5, 10, 20, 50, … up to a limit. */
export function tokenCountBuckets(limit: number): number[] {
  const buckets: number[] = [];
  for (let power = 1; ; power *= 10) {
    for (const factor of [1, 2, 5]) {
      if (factor * power > limit) return buckets;
      buckets.push(factor * power);
    }
  }
}

/** Name (without prefix), help and buckets of every histogram of one value per event. */
function histogramTable(maxModelLen: number) {
  const counts = tokenCountBuckets(maxModelLen);
  return {
    request_prompt_tokens: ['Prompt tokens of a request', counts],
    request_generation_tokens: ['Generated tokens of a request', counts],
    iteration_tokens_total: ['Tokens of one step of the engine, prompt and output together', ITERATION_BUCKETS],
    request_max_num_generation_tokens: ['Most tokens that one choice of a request generated', counts],
    request_params_n: ['Choices that a request asked for', PARAMS_N_BUCKETS],
    request_params_max_tokens: ['Largest number of tokens that a request allowed', counts],
    request_prefill_kv_computed_tokens: ['Prompt tokens that were computed, not taken from the cache', counts],
    request_num_preemptions: ['How often a request was preempted', PREEMPTION_BUCKETS],
    time_to_first_token_seconds: ['From the arrival of a request to its first token', FIRST_TOKEN_BUCKETS],
    inter_token_latency_seconds: ['From one token to the next', TOKEN_INTERVAL_BUCKETS],
    request_time_per_output_token_seconds: ['Mean time per token after the first one', TOKEN_INTERVAL_BUCKETS],
    e2e_request_latency_seconds: ['From the arrival of a request to its end', REQUEST_TIME_BUCKETS],
    request_queue_time_seconds: ['Time in the queue', REQUEST_TIME_BUCKETS],
    request_inference_time_seconds: ['From the first step to the last token', REQUEST_TIME_BUCKETS],
    request_prefill_time_seconds: ['From the first step to the first token', REQUEST_TIME_BUCKETS],
    request_decode_time_seconds: ['From the first token to the last one', REQUEST_TIME_BUCKETS],
  } as const satisfies Record<string, readonly [string, readonly number[]]>;
}

const COUNTERS = {
  prefix_cache_queries_total: 'Prompt tokens looked up in the prefix cache',
  prefix_cache_hits_total: 'Prompt tokens found in the prefix cache',
  num_preemptions_total: 'Preempted sequences',
  prompt_tokens_total: 'Prompt tokens',
  prompt_tokens_cached_total: 'Prompt tokens taken from the prefix cache',
  generation_tokens_total: 'Generated tokens',
} as const;

type HistogramName = keyof ReturnType<typeof histogramTable>;
type CounterName = keyof typeof COUNTERS;

/** The families of one engine, under its label. */
interface EngineCells {
  histograms: Record<HistogramName, Cell>;
  counters: Record<CounterName, Cell>;
  finished: Record<string, Cell>;
  promptSources: Record<string, Cell>;
  last: StepMeasurements | null;
}

export class ServingMetrics implements SequenceObserver {
  readonly #engines: EngineCells[];
  readonly #rejections: Record<string, Cell>;
  readonly #toolCalls: ((reading: ToolCallReading) => Cell) | null;
  readonly #drafts: DraftMetrics | null;
  readonly #choices = new OpenChoices();

  constructor(registry: MetricRegistry, facts: ServingFacts) {
    const labels = facts.engineStates().map((_, index) => ({model_name: facts.modelName, engine: String(index)}));
    this.#engines = openCells(registry, facts, labels);
    registerGauges(registry, facts, labels, (index) => this.#engines[index]!.last);
    registerStates(registry, facts, labels);
    this.#drafts = facts.maxDraftTokens ? new DraftMetrics(registry, labels, facts.maxDraftTokens) : null;
    const model = {model_name: facts.modelName};
    this.#rejections = cellsByLabel(REJECTION_REASONS, 'reason', model, (labelNames) =>
      registry.counter({name: 'vllm:admission_rejections_total', help: 'Requests turned away', labelNames}),
    )(model);
    this.#toolCalls = facts.readsToolCalls ? registerToolCalls(registry, facts) : null;
  }

  /** To be called after each step of an engine. */
  onStep(step: StepMeasurements, engineIndex = 0): void {
    const engine = this.#engines[engineIndex]!;
    engine.last = step;
    engine.counters.prefix_cache_queries_total.add(step.prefixQueryTokens);
    engine.counters.prefix_cache_hits_total.add(step.prefixHitTokens);
    engine.counters.num_preemptions_total.add(step.numPreemptions);
    if (step.drafts) this.#drafts?.onStep(step.drafts, engineIndex);
    const numTokens = step.numPrefillTokens + step.numDecodeTokens;
    if (numTokens > 0) engine.histograms.iteration_tokens_total.add(numTokens);
  }

  onTokens(record: SequenceRecord, tokenTimesMs: readonly number[], previousTokenMs: number | null): void {
    if (tokenTimesMs.length === 0) return;
    const engine = this.#engines[record.engineIndex]!;
    if (previousTokenMs === null) countPrompt(engine, record);
    engine.counters.generation_tokens_total.add(tokenTimesMs.length);
    let previous = previousTokenMs;
    for (const timeMs of tokenTimesMs) {
      if (previous === null) addTime(engine, 'time_to_first_token_seconds', record.arrivedMs, timeMs);
      else addTime(engine, 'inter_token_latency_seconds', previous, timeMs);
      previous = timeMs;
    }
  }

  onEnd(record: SequenceRecord): void {
    const engine = this.#engines[record.engineIndex]!;
    engine.finished[record.end]!.add(1);
    observeCounts(engine, record);
    observeTimes(engine, record);
    const whole = this.#choices.end(record);
    if (!whole) return;
    engine.histograms.request_params_n.add(whole.numChoices);
    engine.histograms.request_max_num_generation_tokens.add(whole.mostTokens);
  }

  onToolCallsRead(reading: ToolCallReading): void {
    this.#toolCalls?.(reading).add(1);
  }

  onRejection(reason: RejectionReason): void {
    this.#rejections[reason]!.add(1);
  }
}

type EngineLabels = {model_name: string; engine: string};

function openCells(registry: MetricRegistry, facts: ServingFacts, engines: EngineLabels[]): EngineCells[] {
  const names = engines[0]!;
  const counters = mapValues(COUNTERS, (name, help) => registry.counter(family(name, help, names)));
  const promptSources = cellsByLabel(PROMPT_TOKEN_SOURCES, 'source', names, (labelNames) =>
    registry.counter({name: 'vllm:prompt_tokens_by_source_total', help: 'Prompt tokens by origin', labelNames}),
  );
  const finished = cellsByLabel(FINISHED_REASONS, 'finished_reason', names, (labelNames) =>
    registry.counter({name: 'vllm:request_success_total', help: 'Sequences that have ended', labelNames}),
  );
  const histograms = mapValues(histogramTable(facts.maxModelLen), (name, [help, buckets]) =>
    registry.histogram(family(name, help, names), buckets),
  );
  return engines.map((labels) => ({
    counters: mapValues(counters, (_, familyOf) => familyOf(labels)),
    promptSources: promptSources(labels),
    finished: finished(labels),
    histograms: mapValues(histograms, (_, familyOf) => familyOf(labels)),
    last: null,
  }));
}

function countPrompt({counters, promptSources}: EngineCells, {numPromptTokens, numCachedTokens}: SequenceRecord): void {
  const numCached = numCachedTokens ?? 0;
  counters.prompt_tokens_total.add(numPromptTokens);
  counters.prompt_tokens_cached_total.add(numCached);
  promptSources.local_compute!.add(numPromptTokens - numCached);
  promptSources.local_cache_hit!.add(numCached);
}

function observeCounts({histograms}: EngineCells, record: SequenceRecord): void {
  histograms.request_prompt_tokens.add(record.numPromptTokens);
  histograms.request_generation_tokens.add(record.numOutputTokens);
  histograms.request_params_max_tokens.add(record.maxTokens);
  histograms.request_num_preemptions.add(record.numPreemptions);
  if (record.numCachedTokens !== null) {
    histograms.request_prefill_kv_computed_tokens.add(record.numPromptTokens - record.numCachedTokens);
  }
}

/** Spans whose ends are not known, because the sequence never got there, count for nothing. */
function observeTimes(engine: EngineCells, record: SequenceRecord): void {
  const {arrivedMs, queuedMs, scheduledMs, firstTokenMs, lastTokenMs, endedMs, numOutputTokens} = record;
  addTime(engine, 'e2e_request_latency_seconds', arrivedMs, endedMs);
  addTime(engine, 'request_queue_time_seconds', queuedMs, scheduledMs);
  addTime(engine, 'request_prefill_time_seconds', scheduledMs, firstTokenMs);
  addTime(engine, 'request_inference_time_seconds', scheduledMs, lastTokenMs);
  addTime(engine, 'request_decode_time_seconds', firstTokenMs, lastTokenMs);
  if (firstTokenMs === null || lastTokenMs === null || numOutputTokens < 2) return;
  const meanMs = (lastTokenMs - firstTokenMs) / (numOutputTokens - 1);
  engine.histograms.request_time_per_output_token_seconds.add(meanMs / 1000);
}

/** The clocks of two processes may differ by a little, so a span is never negative. */
function addTime({histograms}: EngineCells, name: HistogramName, fromMs: number | null, toMs: number | null): void {
  if (fromMs !== null && toMs !== null) histograms[name].add(Math.max(0, toMs - fromMs) / 1000);
}

function registerGauges(
  registry: MetricRegistry,
  {kvCacheTokens, kvCacheBytesPerToken}: ServingFacts,
  engines: EngineLabels[],
  lastOf: (index: number) => StepMeasurements | null,
): void {
  const gauge = (name: string, help: string, read: (last: StepMeasurements | null) => number) =>
    registry.gauge(family(name, help, engines[0]!), () =>
      engines.map((labels, index) => ({labels, value: read(lastOf(index))})),
    );
  gauge('num_requests_running', 'Sequences that run', (last) => last?.numRunning ?? 0);
  gauge('num_requests_waiting', 'Sequences that wait', (last) => last?.numWaiting ?? 0);
  const reasons = {...engines[0]!, reason: ''};
  registry.gauge(family('num_requests_waiting_by_reason', 'Waiting sequences by reason', reasons), () =>
    engines.flatMap((labels, index) => [
      {labels: {...labels, reason: 'capacity'}, value: lastOf(index)?.numWaiting ?? 0},
      {labels: {...labels, reason: 'deferred'}, value: 0},
    ]),
  );
  gauge('kv_cache_usage_perc', 'Part of the KV cache that running sequences hold, 0 to 1', (last) =>
    kvCacheTokens === 0 ? 0 : (last?.numUsedCacheTokens ?? 0) / kvCacheTokens,
  );
  const config = {
    block_size: String(BLOCK_TOKENS),
    num_gpu_blocks: String(Math.floor(kvCacheTokens / BLOCK_TOKENS)),
    kv_cache_memory_bytes: String(kvCacheTokens * kvCacheBytesPerToken),
  };
  registry.gauge(family('cache_config_info', 'Configuration of the KV cache', {...engines[0]!, ...config}), () =>
    engines.map((labels) => ({labels: {...labels, ...config}, value: 1})),
  );
}

/** Ours alone: which of several engines are there. */
function registerStates(registry: MetricRegistry, {engineStates}: ServingFacts, engines: EngineLabels[]): void {
  const gauge = (name: string, help: string, read: (state: EngineState) => number) =>
    registry.gauge({name: `parlance:${name}`, help, labelNames: Object.keys(engines[0]!)}, () =>
      engineStates().map((state, index) => ({labels: engines[index]!, value: read(state)})),
    );
  gauge('engine_up', '1 while the engine takes requests, else 0', ({isUp}) => (isUp ? 1 : 0));
  gauge('engine_restarts', 'How often the engine came back after it had gone', ({numRestarts}) => numRestarts);
}

/** Gathers the choices of one request; it is complete when the last one has ended. */
class OpenChoices {
  readonly #open = new Map<string, {numEnded: number; mostTokens: number}>();

  /** @returns the whole request, when this was its last choice */
  end({choiceOf, numOutputTokens}: SequenceRecord): {numChoices: number; mostTokens: number} | null {
    if (choiceOf === null) return {numChoices: 1, mostTokens: numOutputTokens};
    const {requestId, numChoices} = choiceOf;
    const open = this.#open.get(requestId) ?? {numEnded: 0, mostTokens: 0};
    open.numEnded++;
    open.mostTokens = Math.max(open.mostTokens, numOutputTokens);
    this.#open.set(requestId, open);
    if (open.numEnded < numChoices) return null;
    this.#open.delete(requestId);
    return {numChoices, mostTokens: open.mostTokens};
  }
}

function family(name: string, help: string, labels: object) {
  return {name: `vllm:${name}`, help, labelNames: Object.keys(labels)};
}

function mapValues<T extends object, V>(table: T, make: <K extends keyof T & string>(name: K, value: T[K]) => V) {
  const entries = Object.entries(table).map(([name, value]) => [name, make(name as keyof T & string, value)]);
  return Object.fromEntries(entries) as Record<keyof T, V>;
}

/** One cell for each value of a label, there from the start. @returns the cells under the other labels */
function cellsByLabel<N extends string>(
  values: readonly N[],
  label: string,
  names: Record<string, string>,
  register: (labelNames: string[]) => Family,
): (labels: Record<string, string>) => Record<N, Cell> {
  const cellOf = register([...Object.keys(names), label]);
  return (labels) => {
    const entries = values.map((value) => [value, cellOf({...labels, [label]: value})]);
    return Object.fromEntries(entries) as Record<N, Cell>;
  };
}

/** Only chat answers are read here; the label has other values in the reference. */
function registerToolCalls(registry: MetricRegistry, {modelName}: ServingFacts): (reading: ToolCallReading) => Cell {
  const labels = ({mode, outcome}: ToolCallReading) => ({
    model_name: modelName,
    mode,
    outcome,
    request_type: 'chat_completions',
  });
  const counter = registry.counter({
    name: 'vllm:tool_call_parser_invocations_total',
    help: 'Choices in which calls of tools were looked for',
    labelNames: ['model_name', 'mode', 'outcome', 'request_type'],
  });
  return (reading) => counter(labels(reading));
}
