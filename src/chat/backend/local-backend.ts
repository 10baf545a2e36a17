/**
 * A model in this machine: the core as the server uses it, without HTTP. Loading starts at once and goes on while the
 * prompt is already there.
 */
import {randomUUID} from 'node:crypto';
import {engineOptionsSchema} from '../../core/config/engine-config.ts';
import {modelSourceOptionsSchema} from '../../core/config/model-source-options.ts';
import {UsageError} from '../../core/errors.ts';
import type {Generation, Llm, LoadedLlm, LoadLlmOptions} from '../../core/llm.ts';
import type {ChatEvent} from '../../core/parsers/events.ts';
import {parseChatCompletionRequest} from '../../core/protocol/openai/chat-completion.ts';
import {parseTokenizeRequest} from '../../core/protocol/openai/tokenize.ts';
import {usualLoadOptions} from '../../core/usual-load-options.ts';
import type {Logger} from '../../core/util/logger.ts';
import type {AnswerEvent} from '../conversation/answer-event.ts';
import type {WireMessage} from '../conversation/messages.ts';
import type {ChatOptions} from '../options.ts';
import type {BackendFacts, ChatBackend, ChatRequestBody, LoadProgressNote} from './backend.ts';

export interface LocalBackendContext {
  logger: Logger;
  onProgress: (progress: LoadProgressNote) => void;
}

/** Starts the loading; whoever wants to know how it went asks `ready`. */
export function openLocalBackend(
  model: string | null,
  options: ChatOptions,
  {logger, onProgress}: LocalBackendContext,
): ChatBackend {
  const leaving = new AbortController();
  const loading = import('../../core/llm.ts').then(({loadLlm}) =>
    loadLlm(loadOptions(model, options), {logger, onProgress, signal: leaving.signal}),
  );
  loading.catch(() => {});
  return new LocalBackend(loading, leaving);
}

/** One talk needs one sequence; formats of thoughts and calls are recognised. */
function loadOptions(model: string | null, options: ChatOptions): LoadLlmOptions {
  return {
    ...usualLoadOptions,
    model,
    source: modelSourceOptionsSchema.parse(options),
    answers: {
      enableAutoToolChoice: true,
      toolCallParser: options.toolCallParser,
      toolParserPlugin: null,
      reasoningParser: options.reasoningParser,
      reasoningParserPlugin: null,
      stopSparesReasoning: false,
      // A small model writes calls that fit when it can write no others.
      toolStrictLevel: 'parameter',
      enforcesStrictToolCalling: true,
    },
    engine: engineOptionsSchema.parse({...engineFields(options), maxNumSeqs: 1}),
  };
}

function engineFields({maxModelLen, device, threads, kvCacheBytes, activationPrecision, modelCacheDir}: ChatOptions) {
  return {maxModelLen, device, threads, kvCacheBytes, activationPrecision, modelCacheDir};
}

type Loaded = Pick<LoadedLlm, 'llm'> & {files: {displayName: string}};

class LocalBackend implements ChatBackend {
  readonly #loading: Promise<Loaded>;
  readonly #leaving: AbortController;

  constructor(loading: Promise<Loaded>, leaving: AbortController) {
    this.#loading = loading;
    this.#leaving = leaving;
  }

  async ready(): Promise<BackendFacts> {
    const {llm, files} = await this.#loading;
    return {modelName: files.displayName, maxModelLen: llm.modelInfo.maxModelLen, readsToolCalls: llm.readsToolCalls};
  }

  async listModels(): Promise<string[]> {
    return [(await this.ready()).modelName];
  }

  async use(modelName: string): Promise<BackendFacts> {
    const facts = await this.ready();
    if (modelName === facts.modelName) return facts;
    throw new UsageError(`only ${facts.modelName} is loaded`, {hint: `leave, and start: parlance chat ${modelName}`});
  }

  async *answer(body: ChatRequestBody, {signal}: {signal: AbortSignal}): AsyncGenerator<AnswerEvent, void, undefined> {
    const {llm} = await this.#loading;
    const request = parseChatCompletionRequest({...body, stream: true});
    const generation = await llm.startChat(request, {requestId: `chat-${randomUUID()}`, signal});
    for await (const event of generation.events) yield* toAnswerEvents(event, generation);
  }

  async renderPrompt(body: ChatRequestBody): Promise<string> {
    const {llm} = await this.#loading;
    const tokenIds = await llm.tokenize(tokenizeRequest(body.messages, body));
    return llm.detokenize(tokenIds);
  }

  async countTokens(messages: readonly WireMessage[]): Promise<number> {
    const {llm} = await this.#loading;
    return (await llm.tokenize(tokenizeRequest(messages, {add_generation_prompt: false}))).length;
  }

  async close(): Promise<void> {
    this.#leaving.abort();
    const llm: Llm | null = await this.#loading.then(
      (loaded) => loaded.llm,
      () => null,
    );
    await llm?.close();
  }
}

function tokenizeRequest(
  messages: readonly WireMessage[],
  {tools, chat_template_kwargs, ...rest}: Record<string, unknown>,
) {
  const {add_generation_prompt = true} = rest;
  return parseTokenizeRequest({messages, tools, chat_template_kwargs, add_generation_prompt});
}

function* toAnswerEvents(event: ChatEvent, generation: Generation): Generator<AnswerEvent, void, undefined> {
  if (event.type === 'delta') {
    if (event.reading !== null) yield* event.reading.pieces;
    else if (event.text !== '') yield {type: 'text-delta', text: event.text};
    return;
  }
  const promptTokens = generation.prompts.reduce((sum, {tokenIds}) => sum + tokenIds.length, 0);
  yield {type: 'finish', finishReason: event.finishReason, usage: {promptTokens, completionTokens: event.numTokens}};
}
