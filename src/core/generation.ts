/**
 * Prompts with resolved parameters on their way through the engine and back to text: `n` sequences for each prompt, all
 * at the same time, their events merged. Every endpoint that generates goes this way; what differs is how prompts are
 * made. The text side and the engine side meet here and in `llm.ts`, nowhere else.
 */
import {type AnswerControls, prepareControls} from './answer-constraint.ts';
import type {AnswerFormats, AnswerReader, ChoiceReader} from './answer-reader.ts';
import {type Beam, type BeamSearch, checkBeamAllowlist, searchBeams} from './beam-search.ts';
import {ChoiceEvents} from './choice-events.ts';
import type {GenerationConfig, SamplingDefaults} from './config/generation-config.ts';
import type {StructuredOutputsConfig} from './config/structured-outputs-config.ts';
import type {EngineClient} from './engine/client/engine-client.ts';
import type {EngineRequest, SequenceOutput} from './engine/protocol.ts';
import {ValidationError} from './errors.ts';
import type {Tokenizer} from './model/tokenizer.ts';
import {decodePromptLogprobs} from './output/logprobs.ts';
import type {OutputDelta} from './output/output-delta.ts';
import {OutputProcessor} from './output/output-processor.ts';
import {samplingOfChoices} from './output/parallel-sampling.ts';
import {type GenerationTiming, RequestTimer} from './output/request-timing.ts';
import type {ChatEvent} from './parsers/events.ts';
import type {SamplingRequest} from './protocol/openai/sampling-request.ts';
import type {RenderedPrompt, Renderer} from './renderer/render-chat.ts';
import {resolveMaxTokens} from './sampling/resolve-max-tokens.ts';
import {
  checkEngineLimits,
  type ResolvedSampling,
  raisedTemperature,
  resolveBadWords,
  resolveSamplingParams,
} from './sampling/resolve-sampling-params.ts';
import type {SamplingParams} from './sampling/sampling-params.ts';
import type {DecodedLogprobs, TokenLogprobs} from './sampling/token-logprobs.ts';
import {type ItemStream, openStream, streamOf} from './util/item-stream.ts';
import type {Logger} from './util/logger.ts';
import {mergeStreams} from './util/merge-streams.ts';

/** A request on its way: everything that can be refused before the engine has been checked when this exists. */
export interface Generation {
  /** How the answers to a prompt are read; null when no parser does. */
  reader(prompt: RenderedPrompt): AnswerReader | null;
  /** At least one. Prompt p has the choices `p * n` to `p * n + n - 1`. */
  prompts: RenderedPrompt[];
  /** Prompt tokens that came from the prefix cache, over all prompts; null until the first event. */
  cachedTokens(): number | null;
  /** One for each token of a prompt, null for the first; null when they were not asked for and until its first event. */
  promptLogprobs(prompt: RenderedPrompt): (DecodedLogprobs | null)[] | null;
  /** Null when there are several choices, and before the first token. */
  timing(): GenerationTiming | null;
  /**
   * The answer. Each choice ends with exactly one `finish` event, which follows its last `delta` at once. Leaving
   * the loop or aborting the signal takes the request out of the engine; an abort ends the events without an error.
   * @throws ValidationError at the first read, for what the reference checks in its engine; EngineDeadError,
   *   GenerationError
   */
  events: ItemStream<ChatEvent>;
}

/** What a request is served with. */
export interface GenerationParts {
  engine: EngineClient;
  tokenizer: Tokenizer;
  renderer: Renderer;
  generation: GenerationConfig;
  /** What chat answers are read with; null = they are text. */
  formats?: AnswerFormats | null;
  /** Value of `--max-logprobs`; -1 = no limit. */
  maxLogprobs: number;
  /** Value of `--structured-outputs-config`; absent or null = the defaults. */
  structuredOutputsConfig?: StructuredOutputsConfig | null;
  logger?: Logger;
}

export interface GenerationOptions {
  /** Unique among the open requests. */
  requestId: string;
  signal: AbortSignal;
  /** Which of several engines has to take it; absent = the best one. */
  engineIndex?: number;
}

export interface PreparedPrompt {
  prompt: RenderedPrompt;
  resolved: ResolvedSampling;
  /** Null when the answers are text only. */
  reader: AnswerReader | null;
  /** Says where thoughts begin and end although nothing is read; the reader when absent. */
  guide?: AnswerReader | null;
}

/**
 * Steps 14 and 15 of the reference's order of checks, for one prompt: room left in the context, sampling parameters.
 * @throws ValidationError
 */
export function resolvePrompt(
  request: SamplingRequest,
  prompt: RenderedPrompt,
  {engine, tokenizer, generation, logger}: GenerationParts,
): PreparedPrompt {
  const maxTokens = resolveMaxTokens(request, {
    maxModelLen: engine.info.maxModelLen,
    promptLength: prompt.tokenIds.length,
    defaultMaxTokens: generation.defaults.maxTokens ?? null,
    overrideMaxTokens: generation.overrideMaxTokens,
  });
  const resolved = resolveSamplingParams(request, {
    defaults: generation.defaults,
    maxTokens,
    eosTokenId: tokenizer.eosTokenId,
    generationEosTokenIds: generation.eosTokenIds,
  });
  if (logger) warnAboutTemperature(request, generation.defaults, logger);
  return {prompt, resolved, reader: null};
}

function warnAboutTemperature(request: SamplingRequest, defaults: SamplingDefaults, logger: Logger): void {
  const raised = raisedTemperature(request, defaults);
  if (raised === null) return;
  logger.warn(raised, `temperature ${raised.asked} is too small for stable numbers; ${raised.used} is used`);
}

/** Nothing goes to the engine before the events are read. */
export function startGeneration(
  request: SamplingRequest,
  prompts: PreparedPrompt[],
  parts: GenerationParts,
  options: GenerationOptions,
): Generation {
  return new RunningGeneration(parts, {request, prepared: prompts, ...options});
}

interface PreparedGeneration extends GenerationOptions {
  request: SamplingRequest;
  prepared: PreparedPrompt[];
}

/** One sequence to run. */
interface Choice extends PreparedPrompt {
  sampling: SamplingParams;
}

/** What one choice made in one engine output. */
export interface ChoiceDelta extends OutputDelta {
  /** Tokens of the choice so far. */
  numTokens: number;
  /** Has heard the text; null when nobody reads it. */
  reader: ChoiceReader | null;
}

class RunningGeneration implements Generation {
  readonly prompts: RenderedPrompt[];
  readonly events: ItemStream<ChatEvent>;
  readonly #parts: GenerationParts;
  readonly #generation: PreparedGeneration;
  /** By prompt. */
  readonly #cachedTokens = new Map<RenderedPrompt, number>();
  readonly #timer = new RequestTimer();
  readonly #promptLogprobs = new Map<RenderedPrompt, (DecodedLogprobs | null)[]>();

  constructor(parts: GenerationParts, generation: PreparedGeneration) {
    this.prompts = generation.prepared.map(({prompt}) => prompt);
    this.#parts = parts;
    this.#generation = generation;
    this.events = openStream(() => this.#open());
  }

  reader(prompt: RenderedPrompt): AnswerReader | null {
    return this.#generation.prepared.find((prepared) => prepared.prompt === prompt)?.reader ?? null;
  }

  cachedTokens(): number | null {
    if (this.#cachedTokens.size === 0) return null;
    return [...this.#cachedTokens.values()].reduce((sum, tokens) => sum + tokens, 0);
  }

  promptLogprobs(prompt: RenderedPrompt): (DecodedLogprobs | null)[] | null {
    return this.#promptLogprobs.get(prompt) ?? null;
  }

  timing(): GenerationTiming | null {
    return this.#hasOneChoice ? this.#timer.timing : null;
  }

  async #open(): Promise<ItemStream<ChatEvent>> {
    if (this.#generation.request.use_beam_search) return streamOf(this.#generateBeams());
    const choices = await this.#openChoices();
    const {signal} = this.#generation;
    const run = (index: number, leave: AbortSignal) => this.#runChoice(index, choices[index]!, leave);
    return choices.length === 1 ? run(0, signal) : mergeStreams(choices.length, run, {signal});
  }

  /** The best beams of each prompt, whole, after the last step. */
  async *#generateBeams(): AsyncGenerator<ChatEvent, void, undefined> {
    const {request, prepared, signal} = this.#generation;
    checkBeamAllowlist(request.allowed_token_ids);
    for (const {prompt} of prepared) this.#checkPromptTokens(prompt);
    for (const [index, each] of prepared.entries()) {
      const beams = await searchBeams(this.#beamSearch(index, each), this.#parts.engine, signal);
      this.#noteCachedTokens(each.prompt, beams[0]?.numCachedTokens ?? null);
      for (const [rank, beam] of beams.entries()) yield* toEvents(index * request.n + rank, this.#readBeam(beam, each));
    }
  }

  #beamSearch(index: number, {prompt, resolved: {sampling}}: PreparedPrompt): BeamSearch {
    const {request, requestId} = this.#generation;
    const {tokenizer, generation} = this.#parts;
    const endTokenIds = [...generation.eosTokenIds, ...(tokenizer.eosTokenId === null ? [] : [tokenizer.eosTokenId])];
    return {
      requestId: `${requestId}.${index}`,
      promptTokenIds: prompt.tokenIds,
      request: {sampling: plainSampling(sampling), priority: Number(request.priority), cacheSalt: request.cache_salt},
      width: request.n,
      maxTokens: sampling.maxTokens,
      endTokenIds: new Set(request.ignore_eos ? [] : endTokenIds),
      lengthPenalty: request.length_penalty,
      allowedTokenIds: request.allowed_token_ids,
    };
  }

  #readBeam(beam: Beam, {prompt, resolved, reader: answerReader}: PreparedPrompt): ChoiceDelta {
    const {request} = this.#generation;
    const {tokenizer} = this.#parts;
    const reader = answerReader?.openChoice() ?? null;
    // The end token is hidden as that of any other output is: it is the last one of an output that ended by `stop`.
    const shown = beam.endTokenId === null ? beam.tokenIds : [...beam.tokenIds, beam.endTokenId];
    const text = {...resolved.text, stop: [], minTokens: 0};
    const processor = new OutputProcessor({tokenizer, promptTokenIds: prompt.tokenIds, text, reader});
    const count = request.top_logprobs;
    const delta = processor.process({
      ...wholeOutput,
      tokenTimesMs: [],
      requestId: this.#generation.requestId,
      newTokenIds: shown,
      logprobs: request.logprobs
        ? beam.logprobs.map(([chosen, ...others]) => [chosen!, ...others.slice(0, count)])
        : null,
      finishReason: beam.endTokenId === null ? 'length' : 'stop',
      stopReason: beam.endTokenId,
    });
    return {...delta!, tokenIds: beam.tokenIds, numTokens: beam.tokenIds.length, reader};
  }

  /** All choices, after what the reference checks in its engine and what needs the tokenizer. */
  async #openChoices(): Promise<Choice[]> {
    const {request, prepared} = this.#generation;
    for (const {prompt} of prepared) this.#checkPrompt(prompt);
    const encode = (text: string) => this.#parts.tokenizer.encode(text, {addSpecialTokens: false});
    const badWords = await badWordParams(request.bad_words, encode);
    const controls = await Promise.all(
      prepared.map(({reader, guide = reader}) => prepareControls(request, guide, this.#parts)),
    );
    return prepared.flatMap((prompt, index) => this.#choicesOf(prompt, {...controls[index]!, ...badWords}));
  }

  #choicesOf(prompt: PreparedPrompt, more: AnswerControls & BadWords): Choice[] {
    const sampling = samplingOfChoices({...prompt.resolved.sampling, ...more}, this.#generation.request.n);
    // The prompt is the same for all choices, so one of them is enough to look at it.
    return sampling.map((params, index) => ({
      ...prompt,
      sampling: index === 0 ? params : {...params, promptLogprobs: null},
    }));
  }

  #checkPromptTokens({tokenIds}: RenderedPrompt): void {
    if (tokenIds.length === 0) throw new ValidationError('The decoder prompt cannot be empty');
    checkPromptIds(tokenIds, this.#parts.engine.info.vocabSize);
  }

  #checkPrompt({tokenIds}: RenderedPrompt): void {
    const {engine, maxLogprobs} = this.#parts;
    const {vocabSize} = engine.info;
    const readsReasoning = (this.#parts.formats?.reasoning ?? null) !== null;
    const promptLength = tokenIds.length;
    checkEngineLimits(this.#generation.request, {vocabSize, promptLength, maxLogprobs, readsReasoning});
    checkPromptIds(tokenIds, vocabSize);
  }

  /** Ends when the choice does; a stop string ends it before the engine would. */
  #runChoice(index: number, choice: Choice, signal: AbortSignal): ItemStream<ChatEvent> {
    const {prompt, resolved, reader: answerReader} = choice;
    const {tokenizer, engine} = this.#parts;
    const reader = answerReader?.openChoice() ?? null;
    const processor = new OutputProcessor({tokenizer, promptTokenIds: prompt.tokenIds, text: resolved.text, reader});
    const read = (output: SequenceOutput): ChatEvent[] => {
      this.#noteCachedTokens(prompt, output.numCachedTokens);
      this.#notePromptLogprobs(prompt, output.promptLogprobs);
      const delta = processor.process(output);
      this.#timer.note(output, delta?.tokenIds.length ?? 0);
      return delta ? toEvents(index, Object.assign(delta, {numTokens: processor.numTokens, reader})) : [];
    };
    const outputs = engine.generate(this.#engineRequest(index, choice), {signal});
    return new ChoiceEvents(outputs, read, () => processor.isFinished);
  }

  /** The first choice of a prompt that starts counts for it. */
  #noteCachedTokens(prompt: RenderedPrompt, tokens: number | null): void {
    if (tokens !== null && !this.#cachedTokens.has(prompt)) this.#cachedTokens.set(prompt, tokens);
  }

  #notePromptLogprobs(prompt: RenderedPrompt, positions: (TokenLogprobs | null)[] | null): void {
    if (positions === null) return;
    this.#promptLogprobs.set(prompt, decodePromptLogprobs(this.#parts.tokenizer, prompt.tokenIds, positions));
  }

  get #hasOneChoice(): boolean {
    const {request, prepared} = this.#generation;
    return request.n * prepared.length === 1;
  }

  #engineRequest(index: number, {prompt, sampling}: Choice): EngineRequest {
    const {request, requestId, engineIndex} = this.#generation;
    return {
      requestId: this.#hasOneChoice ? requestId : `${requestId}.${index}`,
      promptTokenIds: prompt.tokenIds,
      sampling,
      priority: Number(request.priority),
      cacheSalt: request.cache_salt,
      ...(engineIndex !== undefined && {engineIndex}),
      ...(request.n > 1 && {
        choiceOf: {requestId: `${requestId}:${Math.floor(index / request.n)}`, numChoices: request.n},
      }),
    };
  }
}

type BadWords = Pick<SamplingParams, 'badWords' | 'badWordsTokenIds'>;

async function badWordParams(words: string[], encode: (text: string) => Promise<number[]>): Promise<BadWords> {
  const badWordsTokenIds = await resolveBadWords(words, encode);
  return words.length === 0 ? {badWordsTokenIds} : {badWordsTokenIds, badWords: words};
}

/** What every output has that comes as a whole. */
const wholeOutput = {
  promptLogprobs: null,
  numCachedTokens: null,
  start: null,
  numPreemptions: 0,
  error: null,
} as const;

/** Beam search looks at the model's own scores only. */
function plainSampling(sampling: SamplingParams): SamplingParams {
  return {
    ...sampling,
    presencePenalty: 0,
    frequencyPenalty: 0,
    repetitionPenalty: 1,
    logitBias: [],
    allowedTokenIds: null,
    badWordsTokenIds: [],
    stopTokenIds: [],
    promptLogprobs: null,
    constraint: null,
    repetitionDetection: null,
  };
}

/** A tokenizer may know more tokens than the model, for example of images; a client may send any id. */
function checkPromptIds(tokenIds: readonly number[], vocabSize: number): void {
  const unknownId = tokenIds.find((tokenId) => tokenId >= vocabSize);
  if (unknownId !== undefined) throw new ValidationError(`Token id ${unknownId} is out of vocabulary`);
}

/** What one output of a choice means. */
export function toEvents(choice: number, delta: ChoiceDelta): ChatEvent[] {
  const {text, tokenIds, logprobs, stopReason, numTokens, reader} = delta;
  const reading = reader?.take() ?? null;
  const isSilent = tokenIds.length === 0 && text === '' && (reading?.pieces.length ?? 0) === 0;
  const news: ChatEvent = {choice, type: 'delta', text, tokenIds, logprobs, reading};
  if (delta.finishReason === null) return isSilent ? [] : [news];
  const finishReason = reader?.finishReason(delta.finishReason) ?? delta.finishReason;
  const finish: ChatEvent = {choice, type: 'finish', finishReason, stopReason, numTokens};
  return isSilent ? [finish] : [{...news, isLast: true}, finish];
}
