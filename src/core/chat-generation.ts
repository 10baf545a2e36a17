/**
 * One chat request on its way through the core: rendered, checked, sampled by the engine, detokenized. The text side and
 * the engine side meet here and in `llm.ts`, nowhere else.
 */
import type {GenerationConfig} from './config/generation-config.ts';
import type {EngineClient} from './engine/client/engine-client.ts';
import type {EngineRequest} from './engine/protocol.ts';
import {ValidationError} from './errors.ts';
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

/** What a request is served with. */
export interface ChatParts {
  engine: EngineClient;
  tokenizer: Tokenizer;
  renderer: Renderer;
  generation: GenerationConfig;
}

export interface ChatOptions {
  /** Unique among the open requests. */
  requestId: string;
  signal: AbortSignal;
}

/**
 * Renders, resolves and checks a request; nothing goes to the engine before the events are read.
 * @throws ValidationError, TemplateError
 */
export async function prepareChat(
  request: ChatCompletionRequest,
  parts: ChatParts,
  options: ChatOptions,
): Promise<ChatGeneration> {
  const {prompt, resolved} = await renderAndResolve(request, parts);
  return new RunningChat(parts, {request, prompt, resolved, ...options});
}

/** Steps 11 to 15 of the reference's order of checks: lengths, rendering, sampling parameters. */
async function renderAndResolve(request: ChatCompletionRequest, {engine, tokenizer, renderer, generation}: ChatParts) {
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

interface PreparedChat extends ChatOptions {
  request: ChatCompletionRequest;
  prompt: RenderedPrompt;
  resolved: ResolvedSampling;
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
  readonly #parts: ChatParts;
  readonly #chat: PreparedChat;
  #cachedTokens: number | null = null;

  constructor(parts: ChatParts, chat: PreparedChat) {
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
    const {vocabSize} = engine.info;
    checkEngineLimits(request, {vocabSize, promptLength: prompt.tokenIds.length});
    checkPromptIds(prompt.tokenIds, vocabSize);
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

/** A tokenizer may know more tokens than the model, for example of images. */
function checkPromptIds(tokenIds: readonly number[], vocabSize: number): void {
  const unknownId = tokenIds.find((tokenId) => tokenId >= vocabSize);
  if (unknownId !== undefined) throw new ValidationError(`Token id ${unknownId} is out of vocabulary`);
}

function* toEvents(choice: number, delta: ChoiceDelta): Generator<ChatEvent, void, undefined> {
  const {text, tokenIds, finishReason, stopReason, numTokens} = delta;
  if (tokenIds.length > 0 || text !== '') yield {choice, type: 'text-delta', text, tokenIds};
  if (finishReason !== null) yield {choice, type: 'finish', finishReason, stopReason, numTokens};
}
