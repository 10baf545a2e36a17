/**
 * From a request to the complete parameters of its sequences: the request's value, else the server default, else the
 * OpenAI default (vllm/entrypoints/openai/chat_completion/protocol.py, to_sampling_params), then the sampling check in
 * the order and with the texts of the reference (vllm/sampling_params.py).
 *
 * The engine check is separate (`checkEngineLimits`, `resolveBadWords`): for a streamed request its errors come after
 * the status 200, so it has to run when the events are first read.
 */
import type {SamplingDefaults} from '../config/generation-config.ts';
import {ValidationError} from '../errors.ts';
import {parseChatCompletionRequest, stopStringsOf} from '../protocol/openai/chat-completion.ts';
import {checkConstraint} from '../protocol/openai/constraint-check.ts';
import {pythonFloat, pythonRepr} from '../protocol/openai/python-repr.ts';
import type {SamplingRequest} from '../protocol/openai/sampling-request.ts';
import {orderedEntries} from '../util/parse-json.ts';
import type {RepetitionDetection, SamplingParams, TextParams} from './sampling-params.ts';

export interface SamplingContext {
  defaults: SamplingDefaults;
  /** Of `resolveMaxTokens`. */
  maxTokens: number;
  /** The tokenizer's end token. */
  eosTokenId: number | null;
  /** End ids of the generation config; the tokenizer's own may be among them. */
  generationEosTokenIds: number[];
  /** Of `resolveBadWords`. May be filled in later, as it needs the tokenizer. */
  badWordsTokenIds?: number[][];
}

export interface ResolvedSampling {
  /** For choice 0; choice i uses seed + i. */
  sampling: SamplingParams;
  text: TextParams;
}

/** Below this temperature the most likely token is taken. */
const GREEDY_BELOW = 1e-5;
const MIN_TEMPERATURE = 0.01;
const MAX_LOGIT_BIAS = 100;
const MAX_LOGPROB_TOKEN_IDS = 128;
const NO_SEED = -1n;
/** Limit of `n` unless `VLLM_MAX_N_SEQUENCES` says otherwise. */
const DEFAULT_MAX_N = 16384;
/** Limit of bad words after tokenizing unless `VLLM_MAX_NUM_BAD_WORDS` says otherwise. */
const DEFAULT_MAX_BAD_WORDS = 128;

/** The fields of three levels, after merging. */
interface MergedValues {
  presencePenalty: number;
  frequencyPenalty: number;
  repetitionPenalty: number;
  temperature: number;
  topP: number;
  topK: number;
  minP: number;
}

function mergeValues(request: SamplingRequest, defaults: SamplingDefaults): MergedValues {
  return {
    presencePenalty: request.presence_penalty ?? defaults.presencePenalty ?? 0,
    frequencyPenalty: request.frequency_penalty ?? defaults.frequencyPenalty ?? 0,
    repetitionPenalty: request.repetition_penalty ?? defaults.repetitionPenalty ?? 1,
    temperature: request.temperature ?? defaults.temperature ?? 1,
    topP: request.top_p ?? defaults.topP ?? 1,
    topK: request.top_k ?? defaults.topK ?? 0,
    minP: request.min_p ?? defaults.minP ?? 0,
  };
}

/** Everything a rule of the sampling check looks at. */
interface CheckedValues extends MergedValues {
  request: SamplingRequest;
  maxTokens: number;
  maxN: number;
}

interface SamplingRule {
  isBroken: (values: CheckedValues) => boolean;
  message: (values: CheckedValues) => string;
  /** Beam search, which ignores most parameters, is held to it too. */
  forBeams?: true;
  /** Set when the error names the field and shows the value. */
  shown?: {param: string; value: (values: CheckedValues) => unknown};
}

/** A float as an error shows it; a string, so that it is printed as it stands. */
const shownFloat = pythonFloat;
const outside = (value: number, min: number, max: number) => !(value >= min && value <= max);

const XARGS_MIN = -(2n ** 63n);
const XARGS_MAX = 2n ** 64n - 1n;
/** Only integers have limits, and large ones are bigints. */
const isBadExtraArgument = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(isBadExtraArgument)
    : typeof value === 'bigint' && (value < XARGS_MIN || value > XARGS_MAX);

/** The sampling check, in the order of the reference; the first broken rule answers. */
const SAMPLING_RULES: SamplingRule[] = [
  {
    forBeams: true,
    isBroken: ({request}) => request.n < 1,
    message: ({request}) => `n must be at least 1, got ${pythonRepr(request.n)}.`,
  },
  {
    forBeams: true,
    isBroken: ({request, maxN}) => request.n > maxN,
    message: ({request, maxN}) =>
      `n must be at most ${maxN}, got ${pythonRepr(request.n)}. To increase this limit, set the VLLM_MAX_N_SEQUENCES environment variable.`,
  },
  {
    isBroken: ({request}) => Object.values(request.vllm_xargs ?? {}).some(isBadExtraArgument),
    message: () => 'extra_args integers must be between -2**63 and 2**64 - 1.',
    shown: {param: 'extra_args', value: () => undefined},
  },
  {
    isBroken: ({presencePenalty}) => outside(presencePenalty, -2, 2),
    message: ({presencePenalty}) => `presence_penalty must be in [-2, 2], got ${shownFloat(presencePenalty)}.`,
  },
  {
    isBroken: ({frequencyPenalty}) => outside(frequencyPenalty, -2, 2),
    message: ({frequencyPenalty}) => `frequency_penalty must be in [-2, 2], got ${shownFloat(frequencyPenalty)}.`,
  },
  {
    isBroken: ({repetitionPenalty}) => !Number.isFinite(repetitionPenalty),
    message: ({repetitionPenalty}) =>
      `repetition_penalty must be a finite number, got ${shownFloat(repetitionPenalty)}.`,
  },
  {
    isBroken: ({repetitionPenalty}) => repetitionPenalty <= 0,
    message: ({repetitionPenalty}) =>
      `repetition_penalty must be greater than zero, got ${shownFloat(repetitionPenalty)}.`,
  },
  {
    forBeams: true,
    isBroken: ({temperature}) => !Number.isFinite(temperature),
    message: ({temperature}) => `temperature must be a finite number, got ${shownFloat(temperature)}.`,
    shown: {param: 'temperature', value: ({temperature}) => shownFloat(temperature)},
  },
  {
    forBeams: true,
    isBroken: ({temperature}) => temperature < 0,
    message: ({temperature}) => `temperature must be non-negative, got ${shownFloat(temperature)}.`,
    shown: {param: 'temperature', value: ({temperature}) => shownFloat(temperature)},
  },
  {
    forBeams: true,
    isBroken: ({temperature}) => temperature > 2,
    message: ({temperature}) => `temperature must be in [0, 2], got ${shownFloat(temperature)}.`,
    shown: {param: 'temperature', value: ({temperature}) => shownFloat(temperature)},
  },
  {
    isBroken: ({topP}) => !(topP > 0 && topP <= 1),
    message: ({topP}) => `top_p must be in (0, 1], got ${shownFloat(topP)}.`,
    shown: {param: 'top_p', value: ({topP}) => shownFloat(topP)},
  },
  {
    isBroken: ({topK}) => topK < -1,
    message: ({topK}) => `top_k must be 0 (disable), or at least 1, got ${pythonRepr(topK)}.`,
  },
  {
    isBroken: ({minP}) => outside(minP, 0, 1),
    message: ({minP}) => `min_p must be in [0, 1], got ${shownFloat(minP)}.`,
  },
  {
    forBeams: true,
    isBroken: ({maxTokens}) => maxTokens < 1,
    message: ({maxTokens}) => `max_tokens must be at least 1, got ${pythonRepr(maxTokens)}.`,
    shown: {param: 'max_tokens', value: ({maxTokens}) => maxTokens},
  },
  {
    isBroken: ({request}) => request.min_tokens < 0,
    message: ({request}) => `min_tokens must be greater than or equal to 0, got ${pythonRepr(request.min_tokens)}.`,
  },
  {
    isBroken: ({request, maxTokens}) => request.min_tokens > maxTokens,
    message: ({request, maxTokens}) =>
      `min_tokens must be less than or equal to max_tokens=${maxTokens}, got ${pythonRepr(request.min_tokens)}.`,
  },
  {
    isBroken: ({request}) => stopStringsOf(request).includes(''),
    message: () => 'stop cannot contain an empty string.',
  },
  {
    isBroken: ({request}) => request.bad_words.includes(''),
    message: ({request}) => `bad_words cannot contain an empty string. Got bad_words=${pythonRepr(request.bad_words)}`,
  },
  {
    isBroken: ({request, temperature}) => temperature < GREEDY_BELOW && request.n > 1,
    message: ({request}) => `n must be 1 when using greedy sampling, got ${request.n}.`,
  },
];

const brokenRule = (values: CheckedValues) =>
  SAMPLING_RULES.find(({isBroken, forBeams}) => (forBeams || !values.request.use_beam_search) && isBroken(values));

/** What would refuse every request that leaves its parameters to the server; null when nothing would. */
export function samplingDefaultsFault(defaults: SamplingDefaults): string | null {
  const request = parseChatCompletionRequest({messages: []});
  const values = {...mergeValues(request, defaults), request, maxTokens: defaults.maxTokens ?? 1, maxN: DEFAULT_MAX_N};
  return brokenRule(values)?.message(values) ?? null;
}

function checkSampling(values: CheckedValues): void {
  const rule = brokenRule(values);
  if (!rule) return;
  const shown = rule.shown && {param: rule.shown.param, value: rule.shown.value(values)};
  throw new ValidationError(rule.message(values), shown ?? {});
}

/** What is no number counts as the smallest one, as Python's `max` has it. */
function clampedBias(value: number): number {
  return Number.isNaN(value) ? -MAX_LOGIT_BIAS : Math.min(MAX_LOGIT_BIAS, Math.max(-MAX_LOGIT_BIAS, value));
}

/** Ids and biases in the order of the request, the last of two keys for an id; keys are read as Python's `int()` reads them. */
function parseLogitBias(bias: Record<string, number> | null): [number, number][] {
  const entries = orderedEntries(bias ?? {});
  const badKeys = entries.map(([key]) => key).filter((key) => !/^\s*[+-]?\d+(_\d+)*\s*$/.test(key));
  if (badKeys.length > 0) {
    const shownKeys = pythonRepr(badKeys);
    throw new ValidationError(
      `logit_bias contains key(s) that cannot be converted to integer token IDs: ${shownKeys}`,
      {param: 'logit_bias', value: badKeys},
    );
  }
  return [...new Map(entries.map(([key, value]) => [Number(key.replaceAll('_', '')), clampedBias(value)]))];
}

/** Greedy below 1e-5, where the filters have no effect; tiny temperatures are raised. */
function samplingValues(merged: MergedValues) {
  if (merged.temperature < GREEDY_BELOW) return {...merged, temperature: 0, topK: 0, topP: 1, minP: 0};
  return {
    ...merged,
    temperature: Math.max(merged.temperature, MIN_TEMPERATURE),
    topK: Math.max(merged.topK, 0),
  };
}

/** A temperature that is neither greedy nor usable, and what stands in its place; null for all others. */
export function raisedTemperature(
  request: SamplingRequest,
  defaults: SamplingDefaults,
): {asked: number; used: number} | null {
  const {temperature: asked} = mergeValues(request, defaults);
  return asked >= GREEDY_BELOW && asked < MIN_TEMPERATURE ? {asked, used: MIN_TEMPERATURE} : null;
}

/** End ids that act as stop tokens unless `ignore_eos`, then the request's own; each once. */
function stopTokenIdsOf(request: SamplingRequest, context: SamplingContext): number[] {
  const extraEnds = context.generationEosTokenIds.filter((id) => id !== context.eosTokenId);
  return [...new Set([...(request.ignore_eos ? [] : extraEnds), ...request.stop_token_ids])];
}

/** An empty list counts as absent. */
function logprobTokenIdsOf({logprob_token_ids: ids}: SamplingRequest): number[] | null {
  return ids === null || ids.length === 0 ? null : ids;
}

/** Null when patterns of no size are looked for. */
function repetitionDetectionOf({repetition_detection: detection}: SamplingRequest): RepetitionDetection | null {
  if (detection === null || detection.max_pattern_size === 0) return null;
  return {
    minPatternSize: Math.max(1, detection.min_pattern_size),
    maxPatternSize: detection.max_pattern_size,
    minCount: detection.min_count,
  };
}

function environmentLimit(name: string, fallback: number): number {
  const value = Number(process.env[name]);
  return Number.isInteger(value) && value > 0 ? value : fallback;
}

/**
 * Resolves and checks the sampling parameters of a request.
 * @throws ValidationError for the first rule that the request breaks
 */
export function resolveSamplingParams(request: SamplingRequest, context: SamplingContext): ResolvedSampling {
  const {maxTokens, defaults} = context;
  const logitBias = request.use_beam_search ? [] : parseLogitBias(request.logit_bias);
  const merged = mergeValues(request, defaults);
  checkSampling({...merged, request, maxTokens, maxN: environmentLimit('VLLM_MAX_N_SEQUENCES', DEFAULT_MAX_N)});
  return {
    sampling: {
      ...samplingValues(merged),
      seed: request.seed === NO_SEED ? null : request.seed,
      maxTokens,
      minTokens: request.min_tokens,
      eosTokenId: context.eosTokenId,
      stopTokenIds: stopTokenIdsOf(request, context),
      ignoreEos: request.ignore_eos,
      logitBias,
      allowedTokenIds: request.allowed_token_ids,
      badWordsTokenIds: context.badWordsTokenIds ?? [],
      logprobs: request.logprobs ? request.top_logprobs : null,
      logprobTokenIds: logprobTokenIdsOf(request),
      promptLogprobs: request.prompt_logprobs,
      constraint: null,
      thinkingBudget: null,
      repetitionDetection: repetitionDetectionOf(request),
    },
    text: resolveTextParams(request, defaults),
  };
}

/** What a request says about the text of its answer. */
export function resolveTextParams(request: SamplingRequest, defaults: SamplingDefaults): TextParams {
  return {
    stop: stopStringsOf(request),
    includeStopStrInOutput: request.include_stop_str_in_output,
    skipSpecialTokens: request.skip_special_tokens ?? defaults.skipSpecialTokens ?? true,
    spacesBetweenSpecialTokens: request.spaces_between_special_tokens,
    minTokens: request.min_tokens,
  };
}

export interface EngineLimits {
  vocabSize: number;
  promptLength: number;
  /** Value of `--max-logprobs`; -1 = the size of the vocabulary. */
  maxLogprobs: number;
  /** A reasoning parser is there. */
  readsReasoning: boolean;
}

function outOfVocabulary(ids: readonly number[], vocabSize: number): number[] {
  return ids.filter((id) => id < 0 || id >= vocabSize);
}

function checkIdsKnown(ids: number[], param: string, vocabSize: number): void {
  const unknownIds = outOfVocabulary(ids, vocabSize);
  if (unknownIds.length === 0) return;
  throw new ValidationError(
    `token_id(s) ${pythonRepr(unknownIds)} in ${param} contain out-of-vocab token ids. Vocabulary size: ${vocabSize}`,
    {param, value: unknownIds},
  );
}

/** @param count -1 = the whole vocabulary */
function checkLogprobCount(count: number, kind: 'sample' | 'prompt', {vocabSize, maxLogprobs}: EngineLimits): void {
  const asked = count === -1 ? vocabSize : count;
  const allowed = maxLogprobs === -1 ? vocabSize : maxLogprobs;
  if (asked <= allowed) return;
  throw new ValidationError(`Requested ${kind} logprobs of ${asked}, which is greater than max allowed: ${allowed}`, {
    param: kind === 'sample' ? 'logprobs' : 'prompt_logprobs',
    value: asked,
  });
}

function checkLogprobTokenIds(ids: number[] | null, vocabSize: number): void {
  if (ids === null) return;
  const param = 'logprob_token_ids';
  if (ids.length > MAX_LOGPROB_TOKEN_IDS) {
    throw new ValidationError(
      `Requested logprob_token_ids of length ${ids.length}, which is greater than max allowed: ${MAX_LOGPROB_TOKEN_IDS}`,
      {param, value: ids.length},
    );
  }
  checkIdsKnown(ids, param, vocabSize);
}

function checkLogprobs(request: SamplingRequest, limits: EngineLimits): void {
  if (request.logprobs) checkLogprobCount(request.top_logprobs, 'sample', limits);
  if (request.prompt_logprobs !== null) checkLogprobCount(request.prompt_logprobs, 'prompt', limits);
  checkLogprobTokenIds(request.logprob_token_ids, limits.vocabSize);
}

/** @throws ValidationError */
export function checkAllowedIds(ids: readonly number[] | null, vocabSize: number): void {
  if (ids === null) return;
  const param = 'allowed_token_ids';
  if (ids.length === 0) throw new ValidationError('allowed_token_ids is not None and empty!', {param, value: []});
  const unknownIds = outOfVocabulary(ids, vocabSize);
  if (unknownIds.length === 0) return;
  throw new ValidationError('allowed_token_ids contains out-of-vocab token id!', {param, value: unknownIds});
}

/**
 * The check that the reference makes when the engine takes the request. For a streamed request its error is the first
 * event, after the status 200: call it when the events are first read, after `resolveSamplingParams`.
 * @throws ValidationError
 */
export function checkEngineLimits(request: SamplingRequest, limits: EngineLimits): void {
  const {vocabSize, promptLength} = limits;
  checkIdsKnown(request.stop_token_ids, 'stop_token_ids', vocabSize);
  const biasedIds = parseLogitBias(request.logit_bias).map(([id]) => id);
  checkIdsKnown(biasedIds, 'logit_bias', vocabSize);
  checkAllowedIds(request.allowed_token_ids, vocabSize);
  checkLogprobs(request, limits);
  checkConstraint(request);
  if (!limits.readsReasoning) checkThinkingBudget(request);
  checkExpertsStart(request, promptLength);
  if (promptLength === 0) throw new ValidationError('The decoder prompt cannot be empty');
}

function checkThinkingBudget(request: SamplingRequest): void {
  if (request.thinking_token_budget === null || request.thinking_token_budget === -1) return;
  throw new ValidationError(
    'thinking_token_budget is set but reasoning_config is not configured. Please set --reasoning-parser and/or --reasoning-config to use thinking_token_budget.',
  );
}

function checkExpertsStart(request: SamplingRequest, promptLength: number): void {
  const start = request.routed_experts_prompt_start;
  if (start <= promptLength) return;
  throw new ValidationError(
    `routed_experts_prompt_start must be between 0 and the prompt length (${promptLength}), inclusive.`,
    {param: 'routed_experts_prompt_start', value: start},
  );
}

/** Text to ids, without special tokens. */
export type EncodeText = (text: string) => Promise<number[]> | number[];

/**
 * The token sequences of bad words: each word as it is, and with a space before it when that is another token of the
 * same kind (vllm/sampling_params.py, update_from_tokenizer). Part of the engine check.
 * @throws ValidationError when there are too many after tokenizing
 */
export async function resolveBadWords(words: string[], encode: EncodeText): Promise<number[][]> {
  const sequences: number[][] = [];
  for (const word of words) {
    const bare = word.trimStart();
    const plain = await encode(bare);
    const spaced = await encode(` ${bare}`);
    // A word of nothing but white space has no tokens without it.
    sequences.push(plain.length > 0 ? plain : spaced);
    if (spaced[0] !== plain[0] && spaced.length === plain.length) sequences.push(spaced);
    checkNumBadWords(words, sequences.length);
  }
  return sequences;
}

/** Stops at the first sequence too many, so that a long list costs no tokenizing. */
function checkNumBadWords(words: string[], count: number): void {
  const max = environmentLimit('VLLM_MAX_NUM_BAD_WORDS', DEFAULT_MAX_BAD_WORDS);
  if (count <= max) return;
  throw new ValidationError(`Too many bad words after tokenization: ${max + 1}. The max number is ${max}.`, {
    param: 'bad_words',
    value: words,
  });
}
