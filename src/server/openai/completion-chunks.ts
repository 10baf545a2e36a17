/**
 * Outputs as the chunks of a completion stream, which look like whole answers: every chunk has all keys of its choice
 * (vllm/entrypoints/openai/completion/serving.py, completion_stream_generator).
 */
import {writeJson} from '../../core/util/write-json.ts';
import type {PromptCounts, StreamForm} from '../answer-generation.ts';
import {errorResponse} from '../error-response.ts';
import {tokenIdsField, weightVersions} from './answer-context.ts';
import type {ChatOutput} from './chat-outputs.ts';
import type {CompletionContext} from './completion-context.ts';
import {CompletionText, type ShownPiece} from './completion-text.ts';
import {OutputGatherer} from './output-gatherer.ts';
import {spacedJson} from './spaced-json.ts';
import type {StreamOptions} from './stream-options.ts';
import {finalCompletionUsage, tokenSums} from './usage.ts';

type Fields = Record<string, unknown>;

export class CompletionChunks implements StreamForm {
  readonly #context: CompletionContext;
  readonly #options: StreamOptions;
  readonly #gatherer: OutputGatherer;
  readonly #texts: CompletionText[];
  /** Outputs whose choice cannot show its prompt yet. */
  #held: ChatOutput[] = [];

  constructor(context: CompletionContext, options: StreamOptions) {
    this.#context = context;
    this.#options = options;
    this.#gatherer = new OutputGatherer(context.numChoices, options.interval);
    this.#texts = Array.from({length: context.numChoices}, (_, choice) => new CompletionText(context, choice));
  }

  push(output: ChatOutput): string[] {
    const waiting = [...this.#held, output];
    const isReady = ({choice}: ChatOutput) => this.#texts[choice]!.isReady;
    this.#held = waiting.filter((waiting) => !isReady(waiting));
    return waiting.filter(isReady).flatMap((ready) => this.#chunksOf(ready));
  }

  /** The last chunks of the choices that are still open: they end here, with what they have. */
  abort(): string[] {
    const held = this.#held.splice(0).flatMap((output) => this.#chunksOf(output));
    return [...held, ...this.#gatherer.abortOutputs().flatMap((output) => this.#chunksOf(output))];
  }

  /** The chunk with the sums, when the stream carries one. */
  end(counts: PromptCounts): string[] {
    if (!this.#options.usage.atEnd) return [];
    const usage = finalCompletionUsage({...counts, completionTokens: this.#gatherer.totalTokens}, this.#options.usage);
    const metrics = this.#context.metrics();
    return [this.#chunk([], {usage, ...this.#fingerprint(), ...(metrics && {metrics})})];
  }

  /** Unlike everything else in the stream, with spaces. */
  errorEvent(error: unknown): string {
    return spacedJson(errorResponse(error).body);
  }

  #chunksOf(output: ChatOutput): string[] {
    const ready = this.#gatherer.push(output);
    return ready ? [this.#outputChunk(ready, this.#texts[ready.choice]!.show(ready))] : [];
  }

  #outputChunk(output: ChatOutput, {text, logprobs, isFirst}: ShownPiece): string {
    const {choice, finish, tokenIds} = output;
    const showsPrompt = isFirst && (this.#context.returnTokenIds || this.#context.echo !== 'none');
    const shown = {
      index: choice,
      text,
      logprobs,
      finish_reason: finish?.finishReason ?? null,
      stop_reason: finish?.stopReason ?? null,
      prompt_token_ids: showsPrompt ? this.#context.promptOf(choice).tokenIds : null,
      token_ids: tokenIdsField(this.#context, tokenIds),
      weight_versions: finish && weightVersions(this.#context, finish.numTokens),
    };
    const isLast = finish && !this.#options.usage.atEnd;
    return this.#chunk([shown], {...this.#usage(choice), ...(isLast && this.#fingerprint())});
  }

  #chunk(choices: Fields[], rest: Fields): string {
    const {id, created, model} = this.#context;
    return writeJson({id, object: 'text_completion', created, model, choices, ...rest});
  }

  #usage(choice: number): Fields {
    if (!this.#options.usage.inEachChunk) return {};
    const promptTokens = this.#context.promptOf(choice).tokenIds.length;
    return {usage: tokenSums({promptTokens, completionTokens: this.#gatherer.numTokens(choice)})};
  }

  /** Null fingerprints are left out of chunks. */
  #fingerprint(): Fields {
    const {systemFingerprint} = this.#context;
    return systemFingerprint === null ? {} : {system_fingerprint: systemFingerprint};
  }
}
