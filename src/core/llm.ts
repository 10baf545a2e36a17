/**
 * Front of the core: from a checked request to events. The only place where the text side (renderer, tokenizer,
 * detokenizer, parsers) and the engine side meet. Server and chat call nothing deeper.
 */
import type {GenerationConfig} from './config/generation-config.ts';
import type {EngineClient} from './engine/client/engine-client.ts';
import type {EngineRequest, ModelInfo, StepStats} from './engine/protocol.ts';
import {EngineDeadError} from './errors.ts';
import type {Tokenizer} from './model/tokenizer.ts';
import type {OutputDelta} from './output/output-delta.ts';
import {OutputProcessor} from './output/output-processor.ts';
import {samplingOfChoices} from './output/parallel-sampling.ts';
import type {ChatEvent} from './parsers/events.ts';
import type {ChatCompletionRequest} from './protocol/openai/chat-completion.ts';
import type {RenderedPrompt, Renderer} from './renderer/render-chat.ts';
import {checkRequestLengths, resolveMaxTokens} from './sampling/resolve-max-tokens.ts';
import {
  checkEngineLimits,
  type ResolvedSampling,
  resolveBadWords,
  resolveSamplingParams,
} from './sampling/resolve-sampling-params.ts';
import type {SamplingParams} from './sampling/sampling-params.ts';
import {mergeStreams} from './util/merge-streams.ts';

/** A chat request on its way: everything that can be refused before the engine has been checked when this exists. */
export interface ChatGeneration {
  promptTokenIds: number[];
  promptText: string;
  /** Prompt tokens that came from the prefix cache; null until the first event. */
  cachedTokens(): number | null;
  /**
   * The answer. Each choice ends with exactly one `finish` event, which follows its last `text-delta` at once. Leaving
   * the loop or aborting the signal takes the request out of the engine; an abort ends the events without an error.
   * @throws ValidationError at the first read, for what the reference checks in its engine; EngineDeadError,
   *   GenerationError
   */
  events: AsyncGenerator<ChatEvent, void, undefined>;
}

export interface Llm {
  readonly modelInfo: ModelInfo;
  /**
   * Renders, tokenizes, resolves and checks a request, and hands it to the engine when `events` is first read.
   * @throws ValidationError, TemplateError, UnsupportedError, EngineDeadError before anything has been generated
   */
  startChat(request: ChatCompletionRequest, options: {requestId: string; signal: AbortSignal}): Promise<ChatGeneration>;
  isAlive(): boolean;
  /** Resolves when the engine dies by itself. */
  readonly death: Promise<Error>;
  numOpenRequests(): number;
  onStats(listener: (stats: StepStats) => void): () => void;
  close(): Promise<void>;
}

export interface LlmParts {
  /** Closed together with the Llm. */
  engine: EngineClient;
  tokenizer: Tokenizer;
  renderer: Renderer;
  generation: GenerationConfig;
}

export function createLlm(parts: LlmParts): Llm {
  const {engine} = parts;
  let numRequests = 0;
  return {
    modelInfo: engine.info,
    death: engine.death,
    async startChat(request, {requestId, signal}) {
      if (!engine.isAlive()) throw new EngineDeadError('The engine has stopped. Restart the server.');
      const {prompt, resolved} = await prepareChat(request, parts);
      // Clients may send the same request id twice at the same time; inside, ids are unique.
      return new RunningChat(parts, {request, prompt, resolved, requestId: `${requestId}-${numRequests++}`, signal});
    },
    isAlive: () => engine.isAlive(),
    numOpenRequests: () => engine.numOpenRequests(),
    onStats: (listener) => engine.onStats(listener),
    close: () => engine.close(),
  };
}

/** Steps 11 to 15 of the reference's order of checks: lengths, rendering, sampling parameters. */
async function prepareChat(request: ChatCompletionRequest, {engine, tokenizer, renderer, generation}: LlmParts) {
  const {maxModelLen} = engine.info;
  checkRequestLengths(request, maxModelLen);
  const prompt = await renderer.renderChat(request);
  const maxTokens = resolveMaxTokens(request, {
    maxModelLen,
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
  return {prompt, resolved};
}

interface PreparedChat {
  request: ChatCompletionRequest;
  prompt: RenderedPrompt;
  resolved: ResolvedSampling;
  /** Unique among the open ones. */
  requestId: string;
  signal: AbortSignal;
}

/** What one choice made in one engine output. */
interface ChoiceDelta extends OutputDelta {
  /** Tokens of the choice so far. */
  numTokens: number;
}

class RunningChat implements ChatGeneration {
  readonly promptTokenIds: number[];
  readonly promptText: string;
  readonly events: AsyncGenerator<ChatEvent, void, undefined>;
  readonly #parts: LlmParts;
  readonly #chat: PreparedChat;
  #cachedTokens: number | null = null;

  constructor(parts: LlmParts, chat: PreparedChat) {
    this.promptTokenIds = chat.prompt.tokenIds;
    this.promptText = chat.prompt.text;
    this.#parts = parts;
    this.#chat = chat;
    this.events = this.#generate();
  }

  cachedTokens(): number | null {
    return this.#cachedTokens;
  }

  async *#generate(): AsyncGenerator<ChatEvent, void, undefined> {
    const {request, signal} = this.#chat;
    const choices = samplingOfChoices(await this.#completeSampling(), request.n);
    const run = (index: number, leave: AbortSignal) => this.#runChoice(index, choices[index]!, leave);
    for await (const {index, value} of mergeStreams(choices.length, run, {signal})) yield* toEvents(index, value);
  }

  /** What the reference checks in its engine, and what needs the tokenizer. */
  async #completeSampling(): Promise<SamplingParams> {
    const {engine, tokenizer} = this.#parts;
    const {request, prompt, resolved} = this.#chat;
    checkEngineLimits(request, {vocabSize: engine.info.vocabSize, promptLength: prompt.tokenIds.length});
    const encode = (text: string) => tokenizer.encode(text, {addSpecialTokens: false});
    return {...resolved.sampling, badWordsTokenIds: await resolveBadWords(request.bad_words, encode)};
  }

  /** Ends when the choice does; a stop string ends it before the engine would. */
  async *#runChoice(
    index: number,
    sampling: SamplingParams,
    signal: AbortSignal,
  ): AsyncGenerator<ChoiceDelta, void, undefined> {
    const {engine, tokenizer} = this.#parts;
    const processor = new OutputProcessor({
      tokenizer,
      promptTokenIds: this.promptTokenIds,
      text: this.#chat.resolved.text,
    });
    for await (const output of engine.generate(this.#engineRequest(index, sampling), {signal})) {
      this.#cachedTokens ??= output.numCachedTokens;
      const delta = processor.process(output);
      if (delta) yield {...delta, numTokens: processor.numTokens};
      if (processor.isFinished) return;
    }
  }

  #engineRequest(index: number, sampling: SamplingParams): EngineRequest {
    const {request, requestId} = this.#chat;
    return {
      requestId: request.n === 1 ? requestId : `${requestId}.${index}`,
      promptTokenIds: this.promptTokenIds,
      sampling,
      priority: Number(request.priority),
      cacheSalt: request.cache_salt,
    };
  }
}

function* toEvents(choice: number, delta: ChoiceDelta): Generator<ChatEvent, void, undefined> {
  const {text, tokenIds, finishReason, stopReason, numTokens} = delta;
  if (tokenIds.length > 0 || text !== '') yield {choice, type: 'text-delta', text, tokenIds};
  if (finishReason !== null) yield {choice, type: 'finish', finishReason, stopReason, numTokens};
}
