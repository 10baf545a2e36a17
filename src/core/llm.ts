/**
 * Front of the core: from a checked request to events, and from a model's name to something that answers. Server and
 * chat call nothing deeper.
 */
import type {AnswerFormats} from './answer-reader.ts';
import type {DeploymentOptions} from './config/deployment-options.ts';
import type {EngineOptions} from './config/engine-config.ts';
import {loadGenerationConfig, type SamplingDefaults} from './config/generation-config.ts';
import type {ModelSourceOptions} from './config/model-source-options.ts';
import {type Recording, replayGeneration} from './derender.ts';
import type {EngineClient, EngineState, StatsListener} from './engine/client/engine-client.ts';
import {observeEngine} from './engine/client/observed-engine-client.ts';
import type {StartEngine} from './engine/client/start-engine.ts';
import {readHfConfig} from './engine/model-runner/builder/hf-config.ts';
import type {LoadStage, ModelInfo} from './engine/protocol.ts';
import {EngineDeadError, UsageError} from './errors.ts';
import type {Generation, GenerationOptions, GenerationParts} from './generation.ts';
import {type AnswerOptions, loadAnswerFormats, warnOfMissingTokens} from './load-answer-formats.ts';
import {loadEngineAndTokenizer} from './load-engine.ts';
import type {SequenceObserver} from './metrics/sequence-observer.ts';
import type {ToolCallReading} from './metrics/serving-metrics.ts';
import {defaultModelSource, findModel, findTextModel} from './model/find-model.ts';
import {hubContext} from './model/hub-progress.ts';
import {loadModelConfig} from './model/model-config.ts';
import type {ModelFiles} from './model/resolve-model.ts';
import type {Tokenizer} from './model/tokenizer.ts';
import {readTokenizerInfo} from './model/tokenizer-info.ts';
import {type ChatBatch, createReader, prepareChat, prepareCompletion} from './prepare-generation.ts';
import {type ChatCompletionRequest, parseChatCompletionRequest} from './protocol/openai/chat-completion.ts';
import type {CompletionRequest} from './protocol/openai/completion.ts';
import type {SamplingRequest} from './protocol/openai/sampling-request.ts';
import type {TokenizeRequest} from './protocol/openai/tokenize.ts';
import type {GenerateRequest} from './protocol/scale-out/generate-request.ts';
import type {ContentFormat} from './renderer/content-parts.ts';
import {type ChatTemplates, faultsOfTemplates, findChatTemplates} from './renderer/find-chat-template.ts';
import {createRenderer, type Renderer} from './renderer/render-chat.ts';
import {readRendererSettings} from './renderer/renderer-settings.ts';
import {samplingDefaultsFault} from './sampling/resolve-sampling-params.ts';
import {
  type PreparedPrompt,
  prepareTokens,
  type RenderedChat,
  renderChatRequest,
  renderCompletionRequest,
} from './scale-out.ts';
import type {Logger} from './util/logger.ts';

export type {AnswerReader} from './answer-reader.ts';
export type {Recording} from './derender.ts';
export type {Generation} from './generation.ts';
export type {GenerationTiming} from './output/request-timing.ts';
export type {ChatBatch} from './prepare-generation.ts';
export type {PreparedPrompt, RenderedChat} from './scale-out.ts';

export interface Llm {
  readonly modelInfo: ModelInfo;
  /** True when a parser tells tool calls from text. */
  readonly readsToolCalls: boolean;
  /**
   * Renders, tokenizes, resolves and checks a request, and hands it to the engine when `events` is first read.
   * @throws ValidationError, TemplateError, UnsupportedError, EngineDeadError before anything has been generated
   */
  startChat(request: ChatCompletionRequest, options: GenerationOptions): Promise<Generation>;
  /** Several conversations as the prompts of one generation; they differ in their messages only. */
  startChatBatch(requests: ChatBatch, options: GenerationOptions): Promise<Generation>;
  /** Like `startChat`, for prompts without a template. */
  startCompletion(request: CompletionRequest, options: GenerationOptions): Promise<Generation>;
  /** Like `startChat`, for token ids with parameters that were resolved before. */
  startTokens(request: GenerateRequest, options: GenerationOptions): Promise<Generation>;
  /** What another engine generated, as if this one had; the engine is not asked. @throws ValidationError */
  replay(request: SamplingRequest, recordings: readonly Recording[]): Generation;
  /** The same for a chat answer, which goes through the parsers. @throws ValidationError */
  replayChat(request: ChatCompletionRequest, recordings: readonly Recording[]): Generation;
  /**
   * A chat request up to the engine's door.
   * @throws ValidationError, TemplateError
   */
  renderChat(request: ChatCompletionRequest): Promise<RenderedChat>;
  /** The same for the prompts of a completion request. @throws ValidationError */
  renderCompletion(request: CompletionRequest): Promise<PreparedPrompt[]>;
  /**
   * The token ids of a text or of a rendered conversation, of any length.
   * @throws ValidationError, TemplateError
   */
  tokenize(request: TokenizeRequest): Promise<number[]>;
  /** Special tokens are kept; unknown ids give nothing. */
  detokenize(tokenIds: readonly number[]): string;
  /** The vocabulary entry of each id as it stands in the tokenizer's file, such as `Ġworld`. */
  tokenStrings(tokenIds: readonly number[]): string[];
  /** The tokenizer's configuration as its files give it, with the chat template. */
  tokenizerInfo(): Record<string, unknown>;
  /** False while no engine takes requests. */
  isAlive(): boolean;
  /** The engines behind this, in the order of the label `engine` and of ranks; at least one. */
  engineStates(): EngineState[];
  /** Resolves when the engine has died by itself and does not come back. */
  readonly death: Promise<Error>;
  numOpenRequests(): number;
  /** Prompt tokens of requests that have not made a token yet. */
  numBacklogTokens(): number;
  /** Requests that come later find nothing in the prefix cache of what was computed before. */
  resetPrefixCache(): void;
  onStats(listener: StatsListener): () => void;
  /** Told of every choice in which calls of tools were looked for. Returns the function that takes the listener off. */
  onToolCallsRead(listener: (reading: ToolCallReading) => void): () => void;
  /** Watches every sequence from now on. Returns the function that takes the observer off. */
  observe(observer: SequenceObserver): () => void;
  close(): Promise<void>;
}

export interface LlmParts extends GenerationParts {
  /** What `tokenizerInfo` answers. */
  tokenizerInfo?: Record<string, unknown>;
}

/** @param given the engine is closed together with the Llm */
export function createLlm(given: LlmParts): Llm {
  const {tokenizer, tokenizerInfo = {}} = given;
  const observers = new Set<SequenceObserver>();
  const engine = observeEngine(given.engine, tellAll(observers));
  const callListeners = new Set<(reading: ToolCallReading) => void>();
  const formats = given.formats && {...given.formats, onToolCallsRead: tellEach(callListeners)};
  const parts = {...given, engine, ...(formats && {formats})};
  let numRequests = 0;
  /** Clients may send the same request id twice at the same time; inside, ids are unique. */
  const admit = ({requestId, ...rest}: GenerationOptions): GenerationOptions => {
    if (!engine.isAlive()) throw new EngineDeadError('The engine has stopped. Restart the server.');
    return {requestId: `${requestId}-${numRequests++}`, ...rest};
  };
  return {
    modelInfo: engine.info,
    readsToolCalls: (given.formats?.tool ?? null) !== null,
    death: engine.death,
    startChat: async (request, options) => prepareChat([request], parts, admit(options)),
    startChatBatch: async (requests, options) => prepareChat(requests, parts, admit(options)),
    startCompletion: async (request, options) => prepareCompletion(request, parts, admit(options)),
    startTokens: async (request, options) => prepareTokens(request, parts, admit(options)),
    replay: (request, recordings) => replayGeneration(request, recordings, parts),
    replayChat: (request, recordings) =>
      replayGeneration(request, recordings, parts, (prompt) => createReader(request, prompt, parts)),
    renderChat: (request) => renderChatRequest(request, parts),
    renderCompletion: (request) => renderCompletionRequest(request, parts),
    tokenize: (request) => tokenize(request, parts),
    detokenize: (tokenIds) => tokenizer.decode(tokenIds, {skipSpecialTokens: false}),
    tokenStrings: (tokenIds) => tokenIds.map((tokenId) => tokenizer.idToToken(tokenId) ?? ''),
    tokenizerInfo: () => tokenizerInfo,
    isAlive: () => engine.isAlive(),
    engineStates: () => engine.engineStates(),
    numOpenRequests: () => engine.numOpenRequests(),
    numBacklogTokens: () => engine.numBacklogTokens(),
    resetPrefixCache: () => engine.resetPrefixCache(),
    onStats: (listener) => engine.onStats(listener),
    onToolCallsRead(listener) {
      callListeners.add(listener);
      return () => callListeners.delete(listener);
    },
    observe(observer) {
      observers.add(observer);
      return () => observers.delete(observer);
    },
    close: () => engine.close(),
  };
}

function tellEach<T>(listeners: ReadonlySet<(value: T) => void>): (value: T) => void {
  return (value) => {
    for (const listener of listeners) listener(value);
  };
}

function tellAll(observers: ReadonlySet<SequenceObserver>): SequenceObserver {
  return {
    onTokens(...news) {
      for (const observer of observers) observer.onTokens(...news);
    },
    onEnd(record) {
      for (const observer of observers) observer.onEnd(record);
    },
  };
}

/** Chat templates write their special tokens themselves, texts get those that the tokenizer adds. */
async function tokenize(request: TokenizeRequest, {tokenizer, renderer}: GenerationParts): Promise<number[]> {
  const source = request.type === 'prompt' ? request.prompt : await renderer.renderSource(request);
  return tokenizer.encode(source, {addSpecialTokens: request.add_special_tokens});
}

/** What is loaded and how its text side behaves. */
export interface LoadLlmOptions {
  /** A path, an id on the Hub or a name in another store; null = the embedded model. */
  model: string | null;
  /** Which revision and which of its files; absent = the defaults. */
  source?: ModelSourceOptions;
  /** Shown in errors that name the model; null = the model as given. */
  servedModelName: string | null;
  /** Value of `--chat-template`: a file or the text; null = the model's own. */
  chatTemplate: string | null;
  chatTemplateContentFormat: ContentFormat | 'auto';
  /** Template variables that a request may override. */
  defaultChatTemplateKwargs: Record<string, unknown> | null;
  /** `auto`, `vllm` or a folder. */
  generationConfig: string;
  overrideGenerationConfig: Record<string, unknown> | null;
  /** `--exclude-tools-when-tool-choice-none`. */
  excludeToolsWhenToolChoiceNone: boolean;
  /** `--escape-control-tokens`. */
  escapeControlTokens: boolean;
  /** What answers are read with; absent = they are text. */
  answers?: AnswerOptions;
  engine: EngineOptions;
  /** Absent = one engine process. */
  deployment?: DeploymentOptions;
}

export interface LoadProgress {
  stage: LoadStage | 'download';
  /** What of several things at once, such as a file; absent = the stage as a whole. */
  item?: string;
  /** 0..1 */
  fraction: number;
  detail: string;
}

export interface LoadLlmContext {
  logger: Logger;
  onProgress: (progress: LoadProgress) => void;
  /** Stops the loading. */
  signal: AbortSignal;
  /** Replaces the engine in a child process. */
  startEngine?: StartEngine;
}

export interface LoadedLlm {
  llm: Llm;
  files: ModelFiles;
  tokenizer: Tokenizer;
  /** Where the chat template comes from. */
  templateSource: string;
}

/**
 * Finds the model, reads its text side and starts its engine, side by side.
 * @throws ModelError, UsageError
 */
export async function loadLlm(options: LoadLlmOptions, context: LoadLlmContext): Promise<LoadedLlm> {
  const {logger} = context;
  const files = await findFiles(options, context);
  context.onProgress({stage: 'resolve', fraction: 1, detail: files.weightsPath});
  warnOfQuantization(files, options, logger);
  const templates = await findChatTemplates(files, options.chatTemplate);
  const tokenizerInfo = await readTokenizerInfo(files, defaultTemplate(templates));
  const formats = await loadFormats(templates, tokenizerInfo, options, logger);
  const generation = await loadGeneration(files, options);
  if (generation.warning) logger.warn({}, generation.warning);
  const {engine, tokenizer} = await loadEngineAndTokenizer(files, options, context);
  warnOfMissingTokens(formats, tokenizer, logger);
  const modelType = await readModelType(files, engine);
  const settings = readRendererSettings({modelType, tokenizer, env: process.env});
  const renderer = createModelRenderer({files, templates, tokenizer, engine, settings}, options);
  const faults = settings.harmony ? [] : faultsOfTemplates(templates);
  for (const fault of faults) logger.warn({}, fault);
  if (faults.length === 0) await warmUpRenderer(renderer, logger);
  if (options.escapeControlTokens) await warmUpPlainEncoding(tokenizer);
  const {maxLogprobs, structuredOutputsConfig} = options.engine;
  const llm = createLlm({
    engine,
    tokenizer,
    renderer,
    generation,
    formats,
    maxLogprobs,
    structuredOutputsConfig,
    tokenizerInfo,
    logger,
  });
  return {llm, files, tokenizer, templateSource: templates.source};
}

/** On this disk, or from the Hub; a model that cannot be served is refused before its weights are fetched. */
function findFiles(
  {model, source = defaultModelSource, deployment}: LoadLlmOptions,
  context: LoadLlmContext,
): Promise<ModelFiles> {
  const find = deployment?.engine === 'vllm' ? findTextModel : findModel;
  return find(model, source, {
    ...hubContext(context, (progress) => context.onProgress({stage: 'download', ...progress})),
    checkConfig: (content, path) => void readHfConfig(content, path),
  });
}

/** A file has its own precision; only the float weights of a folder are rounded. */
function warnOfQuantization(
  {folder, weightsPath}: ModelFiles,
  {engine, deployment}: LoadLlmOptions,
  logger: Logger,
): void {
  if (engine.quantization === 'none' || (weightsPath === folder && deployment?.engine !== 'vllm')) return;
  logger.warn({}, `--quantization ${engine.quantization} has no effect: it is for folders with safetensors`);
}

async function loadFormats(
  {override, named}: ChatTemplates,
  {response_template: responseTemplate}: Record<string, unknown>,
  {answers}: LoadLlmOptions,
  logger: Logger,
): Promise<AnswerFormats | null> {
  if (answers === undefined) return null;
  const chosen = override === null ? [...named.values()] : [named.get(override) ?? override];
  return loadAnswerFormats(answers, {template: chosen.join('\n'), responseTemplate, logger});
}

/** The template of a request that names none and has no tools. */
function defaultTemplate({override, named}: ChatTemplates): string | null {
  return (override === null ? undefined : (named.get(override) ?? override)) ?? named.get('default') ?? null;
}

async function loadGeneration(files: ModelFiles, options: LoadLlmOptions) {
  const {eosTokenIds} = await loadModelConfig(files.configPath);
  const generation = await loadGenerationConfig({
    mode: options.generationConfig,
    modelFile: files.generationConfigPath,
    override: options.overrideGenerationConfig,
    modelEosTokenIds: eosTokenIds,
  });
  if (options.overrideGenerationConfig !== null) refuseUselessDefaults(generation.defaults);
  return generation;
}

/** A default that no request could use is a mistake of the one who stated it. @throws UsageError */
function refuseUselessDefaults(defaults: SamplingDefaults): void {
  const fault = samplingDefaultsFault(defaults);
  if (fault !== null) throw new UsageError(`--override-generation-config: ${fault}`);
}

/** A GGUF file without a configuration says it itself, such as `gpt-oss`. */
async function readModelType(files: ModelFiles, engine: EngineClient): Promise<string> {
  const {modelType} = await loadModelConfig(files.configPath);
  return modelType ?? engine.info.architecture.replaceAll('-', '_');
}

interface RendererParts {
  files: ModelFiles;
  templates: ChatTemplates;
  tokenizer: Tokenizer;
  engine: EngineClient;
  settings: ReturnType<typeof readRendererSettings>;
}

function createModelRenderer(parts: RendererParts, options: LoadLlmOptions): Renderer {
  const {files, templates, tokenizer, engine, settings} = parts;
  return createRenderer({
    ...settings,
    tokenizer,
    templates,
    contentFormat: options.chatTemplateContentFormat,
    defaultTemplateKwargs: options.defaultChatTemplateKwargs ?? {},
    hidesUnusedTools: options.excludeToolsWhenToolChoiceNone,
    escapesControlTokens: options.escapeControlTokens,
    modelName: options.servedModelName ?? engine.info.servedNames?.[0] ?? files.displayName,
    maxModelLen: engine.info.maxModelLen,
  });
}

/** Makes the tokenizer that knows no control tokens now, not in the middle of the first request that writes some. */
async function warmUpPlainEncoding(tokenizer: Tokenizer): Promise<void> {
  const words = ['one', 'two'].map((text) => ({kind: 'plain', text}) as const);
  await tokenizer.encode(words, {addSpecialTokens: false});
}

/** Fills the caches. A template that fails here may still work for real messages, so it is only logged. */
async function warmUpRenderer(renderer: Renderer, logger: Logger): Promise<void> {
  try {
    await renderer.renderChat(parseChatCompletionRequest({messages: [{role: 'user', content: 'warmup'}]}));
  } catch (error) {
    logger.warn({}, `The chat template failed on a first try: ${(error as Error).message}`);
  }
}
