/**
 * Chat outputs as the JSON of `chat.completion.chunk` objects: which keys stand in which chunk, in which order. A key that
 * is absent on the wire is absent here (vllm/entrypoints/openai/chat_completion/serving.py,
 * chat_completion_stream_generator).
 */
import {writeJson} from '../../core/util/write-json.ts';
import type {PromptCounts, StreamForm} from '../answer-generation.ts';
import {chatStreamError} from '../error-response.ts';
import {type AnswerContext, choiceTokenIds, hidesTokens, promptFields, weightVersions} from './answer-context.ts';
import {deltaOf} from './answer-reading.ts';
import {chatLogprobs} from './chat-logprobs.ts';
import type {ChatOutput} from './chat-outputs.ts';
import {OutputGatherer} from './output-gatherer.ts';
import type {StreamOptions} from './stream-options.ts';
import {finalUsage, runningUsage} from './usage.ts';

type Fields = Record<string, unknown>;

/** The beginning that all chunks of an answer share, up to their choices. */
function headOf({id, created, model}: AnswerContext): string {
  return `${writeJson({id, object: 'chat.completion.chunk', created, model}).slice(0, -1)},"choices":`;
}

/** Turns the outputs of one answer into its chunks. */
export class ChatChunks implements StreamForm {
  readonly #context: AnswerContext;
  readonly #options: StreamOptions;
  readonly #gatherer: OutputGatherer;
  readonly #head: string;
  #hasStarted = false;

  constructor(context: AnswerContext, numChoices: number, options: StreamOptions) {
    this.#context = context;
    this.#options = options;
    this.#head = headOf(context);
    this.#gatherer = new OutputGatherer(numChoices, options.interval);
  }

  /** The chunks that follow from an output; none while a choice gathers tokens. The first call opens all choices. */
  push(output: ChatOutput): string[] {
    const opening = this.#open();
    const ready = this.#gatherer.push(output);
    return ready && this.#isShown(ready) ? [...opening, this.#outputChunk(ready)] : opening;
  }

  /** The last chunks of the choices that are still open: they end here, with what they have. */
  abort(): string[] {
    return this.#gatherer.abortOutputs().flatMap((output) => this.push(output));
  }

  /** The chunk with the sums, when the stream carries one. */
  end(counts: PromptCounts): string[] {
    if (!this.#options.usage.atEnd) return [];
    const {totalTokens: completionTokens, totalReasoningTokens} = this.#gatherer;
    const reasoningTokens = this.#reasoningTokens(totalReasoningTokens);
    const usage = finalUsage({...counts, completionTokens, reasoningTokens}, this.#options.usage);
    const {metrics} = this.#context.end();
    return [this.#chunk([], {usage, ...this.#fingerprint(), ...(metrics && {metrics})})];
  }

  errorEvent(error: unknown): string {
    return JSON.stringify(chatStreamError(error));
  }

  /** Outputs whose text means nothing yet are not sent, unless the request wants to see every token. */
  #isShown({reading, finish}: ChatOutput): boolean {
    if (reading === null || finish !== null || reading.pieces.length > 0) return true;
    const {logprobs, returnTokenIds} = this.#context;
    return (logprobs !== null || returnTokenIds) && !hidesTokens(this.#context);
  }

  #open(): string[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    const choices = Array.from({length: this.#gatherer.numChoices}, (_, choice) => choice);
    const echoes = this.#context.echo === '' ? [] : choices.map((choice) => this.#echoChunk(choice));
    return [...choices.map((choice) => this.#roleChunk(choice)), ...echoes];
  }

  #roleChunk(choice: number): string {
    const delta = {role: this.#context.role, content: ''};
    return this.#chunk([{index: choice, delta, logprobs: null, finish_reason: null}], {
      ...this.#usage(choice),
      ...promptFields(this.#context),
    });
  }

  #echoChunk(choice: number): string {
    const delta = {content: this.#context.echo};
    const usage = this.#usage(choice);
    return this.#chunk([{index: choice, delta, logprobs: null, finish_reason: null}], usage);
  }

  #chunk(choices: Fields[], rest: Fields = {}): string {
    const restText = writeJson(rest);
    return `${this.#head}${writeJson(choices)}${restText === '{}' ? '}' : `,${restText.slice(1)}`}`;
  }

  /** Written once for each token of each stream: always the same keys, those without a value are not written. */
  #outputChunk(output: ChatOutput): string {
    const {finish, logprobs, tokenIds} = output;
    const choice = {
      index: output.choice,
      delta: this.#delta(output),
      logprobs: hidesTokens(this.#context) ? null : chatLogprobs(logprobs, this.#context.logprobs),
      finish_reason: finish === null ? null : finish.finishReason,
      stop_reason: finish === null ? undefined : finish.stopReason,
      token_ids: choiceTokenIds(this.#context, tokenIds),
      weight_versions: finish === null ? undefined : weightVersions(this.#context, finish.numTokens),
    };
    const isLast = finish !== null && !this.#options.usage.atEnd;
    return this.#chunk(
      [choice],
      isLast ? {...this.#usage(output.choice), ...this.#fingerprint()} : this.#usage(output.choice),
    );
  }

  /** A choice that ends before its first token has nothing to say. */
  #delta({text, reading, finish}: ChatOutput): Fields {
    const form = this.#context.reading;
    if (reading && form) return deltaOf(reading, form, finish !== null);
    return finish && finish.numTokens === 0 && text === '' ? {} : {content: text};
  }

  #usage(choice: number): Fields {
    if (!this.#options.usage.inEachChunk) return {};
    const promptTokens = this.#context.promptTokenIds.length;
    const completionTokens = this.#gatherer.numTokens(choice);
    const reasoningTokens = this.#reasoningTokens(this.#gatherer.numReasoningTokens(choice));
    return {usage: runningUsage({promptTokens, completionTokens, cachedTokens: 0, reasoningTokens})};
  }

  /** Null on a server without a reasoning parser. */
  #reasoningTokens(count: number): number | null {
    return this.#context.reading?.countsReasoning ? count : null;
  }

  /** Null fingerprints are left out of chunks. */
  #fingerprint(): Fields {
    const {systemFingerprint} = this.#context;
    return systemFingerprint === null ? {} : {system_fingerprint: systemFingerprint};
  }
}
