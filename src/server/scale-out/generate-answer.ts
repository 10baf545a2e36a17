/**
 * Answers of the token route: the outputs of a generation as ids, as ids with text, or as chat messages, whole and in
 * chunks (vllm/entrypoints/scale_out/token_in_token_out/protocol.py). A key that is absent on the wire is absent here.
 */
import type {OutputMode} from '../../core/protocol/scale-out/generate-request.ts';
import type {DecodedLogprob, DecodedLogprobs} from '../../core/sampling/token-logprobs.ts';
import {writeJson} from '../../core/util/write-json.ts';
import type {PromptCounts, StreamForm, WholeForm} from '../answer-generation.ts';
import {chatStreamError} from '../error-response.ts';
import {WEIGHT_VERSION} from '../openai/answer-context.ts';
import {messageOf, type ReadingForm} from '../openai/answer-reading.ts';
import {chatLogprobs, logprobShown, promptLogprobsField} from '../openai/chat-logprobs.ts';
import type {ChatOutput} from '../openai/chat-outputs.ts';
import {finishReasonOf, readingOf} from '../openai/chat-response.ts';
import {type FoldedOutput, OutputFold} from '../openai/output-fold.ts';
import {OutputGatherer} from '../openai/output-gatherer.ts';
import type {StreamOptions} from '../openai/stream-options.ts';
import {finalUsage, runningUsage, type UsageFormat, wholeUsage} from '../openai/usage.ts';

/** Facts of one answer, known before the first token. */
export interface GenerateContext {
  /** `generate-tokens-…`. */
  id: string;
  /** Unix seconds. */
  created: number;
  model: string;
  mode: OutputMode;
  numChoices: number;
  /** Null unless the request wants them back. */
  promptTokenIds: number[] | null;
  /** Candidates that a chat answer shows for each token; null = no logprobs at all. */
  topLogprobs: number | null;
  /** How a message shows what parsers found; null when none reads it. */
  reading: ReadingForm | null;
  /** False: the reader wants no reasoning, and so nothing that would tell its tokens. */
  includesReasoning: boolean;
  /** To be called when every choice has ended. */
  promptLogprobs: () => (DecodedLogprobs | null)[] | null;
}

type Fields = Record<string, unknown>;

export class GenerateChunks implements StreamForm {
  readonly #context: GenerateContext;
  readonly #options: StreamOptions;
  readonly #outputs: OutputGatherer;
  readonly #promptTokens: number;

  /** @param promptTokens for the counts in each chunk */
  constructor(context: GenerateContext, promptTokens: number, options: StreamOptions) {
    this.#context = context;
    this.#options = options;
    this.#promptTokens = promptTokens;
    this.#outputs = new OutputGatherer(context.numChoices, options.interval);
  }

  push(output: ChatOutput): string[] {
    const ready = this.#outputs.push(output);
    return ready ? [this.#chunk([choiceOf(this.#context, ready)], this.#running(ready.choice))] : [];
  }

  abort(): string[] {
    return this.#outputs.abortOutputs().flatMap((output) => this.push(output));
  }

  end(counts: PromptCounts): string[] {
    const {usage} = this.#options;
    if (!usage.atEnd) return [];
    return [this.#chunk([], finalUsage({...counts, completionTokens: this.#outputs.totalTokens}, usage))];
  }

  errorEvent(error: unknown): string {
    return JSON.stringify(chatStreamError(error));
  }

  #running(choice: number): Fields | null {
    if (!this.#options.usage.inEachChunk) return null;
    const completionTokens = this.#outputs.numTokens(choice);
    return runningUsage({promptTokens: this.#promptTokens, completionTokens, cachedTokens: 0});
  }

  #chunk(choices: Fields[], usage: Fields | null): string {
    return writeJson({request_id: this.#context.id, usage, output_mode: this.#context.mode, choices});
  }
}

/** The fold of the same outputs. */
export class WholeGenerate extends OutputFold implements WholeForm {
  readonly #context: GenerateContext;
  readonly #usageFormat: UsageFormat;

  constructor(context: GenerateContext, usageFormat: UsageFormat) {
    super(context.numChoices);
    this.#context = context;
    this.#usageFormat = usageFormat;
  }

  toResponse(counts: PromptCounts): Fields {
    const {id, model, created, promptTokenIds, promptLogprobs, mode} = this.#context;
    const {totalTokens: completionTokens, outputs} = this;
    return {
      request_id: id,
      model,
      created,
      usage: wholeUsage({...counts, completionTokens}, this.#usageFormat),
      prompt_logprobs: promptLogprobsField(promptLogprobs()),
      prompt_token_id_logprobs: null,
      prompt_token_ids: promptTokenIds,
      mm_placeholders: null,
      metrics: null,
      kv_transfer_params: null,
      ec_transfer_params: null,
      output_mode: mode,
      choices: outputs.map((output) => wholeChoice(this.#context, output)),
    };
  }
}

/** The whole text as a message, when that is asked for. */
function wholeChoice(context: GenerateContext, output: FoldedOutput): Fields {
  if (context.mode !== 'derender') return choiceOf(context, output);
  const reading = readingOf(context, output);
  const message = messageOf('assistant', '', reading, context.reading);
  return {...choiceOf(context, output, {message}), finish_reason: finishReasonOf(output, reading)};
}

/** @param text in the form of the mode; streams never hold messages */
function choiceOf(context: GenerateContext, output: ChatOutput, text: Fields = textOf(context, output)): Fields {
  const {choice, tokenIds, finish} = output;
  return {
    index: choice,
    finish_reason: finish?.finishReason ?? null,
    stop_reason: finish?.stopReason ?? null,
    token_ids: context.includesReasoning ? tokenIds : null,
    routed_experts: null,
    sampling_mask: null,
    weight_versions: finish && [{version: WEIGHT_VERSION, start: 0, end: finish.numTokens}],
    ...text,
    logprobs: context.includesReasoning ? logprobsOf(context, output) : null,
  };
}

function textOf({mode}: GenerateContext, {text}: ChatOutput): Fields {
  return mode === 'tokens' ? {} : {text};
}

/** Only a chat message cuts the candidates to the number that was asked for. */
function logprobsOf({mode, topLogprobs}: GenerateContext, {logprobs}: ChatOutput): Fields | null {
  if (topLogprobs === null) return null;
  if (mode === 'tokens') return {content: (logprobs ?? []).map(tokenEntry)};
  const isCut = mode === 'derender' && topLogprobs >= 0;
  return chatLogprobs(logprobs, {maxCandidates: isCut ? topLogprobs : Number.POSITIVE_INFINITY, asTokenIds: false});
}

const candidate = (entry: DecodedLogprob): Fields => ({
  token_id: entry.tokenId,
  logprob: logprobShown(entry),
  rank: entry.rank,
});

function tokenEntry(position: DecodedLogprobs): Fields {
  return {...candidate(position[0]!), top_logprobs: position.map(candidate)};
}
