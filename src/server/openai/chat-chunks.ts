/**
 * Chat outputs as `chat.completion.chunk` objects: which keys stand in which chunk, in which order. Pure functions; a
 * key that is absent on the wire is absent here (vllm/entrypoints/openai/chat_completion/serving.py,
 * chat_completion_stream_generator).
 */
import {type AnswerContext, promptFields, tokenIdsField, weightVersions} from './answer-context.ts';
import {type ChatOutput, joinOutputs} from './chat-outputs.ts';
import {finalUsage, runningUsage, type TokenCounts, type UsageFormat} from './usage.ts';

/** Which token counts a stream carries. */
export interface StreamUsage extends UsageFormat {
  /** A chunk with the sums at the end. */
  atEnd: boolean;
  /** The counts of the choice in each chunk. */
  inEachChunk: boolean;
}

export interface StreamOptions {
  usage: StreamUsage;
  /** Least tokens of a chunk between the first and the last. */
  interval: number;
}

type Chunk = Record<string, unknown>;

function chunk({id, created, model}: AnswerContext, choices: Chunk[], rest: Chunk): Chunk {
  return {id, object: 'chat.completion.chunk', created, model, choices, ...rest};
}

/** State of one choice. */
interface ChoiceProgress {
  numTokens: number;
  /** Text that waits until it has `interval` tokens. */
  pending: ChatOutput | null;
  hasSentText: boolean;
  hasEnded: boolean;
}

/** Turns the outputs of one answer into its chunks. */
export class ChatChunks {
  readonly #context: AnswerContext;
  readonly #options: StreamOptions;
  readonly #choices: ChoiceProgress[];
  #hasStarted = false;

  constructor(context: AnswerContext, numChoices: number, options: StreamOptions) {
    this.#context = context;
    this.#options = options;
    this.#choices = Array.from({length: numChoices}, () => ({
      numTokens: 0,
      pending: null,
      hasSentText: false,
      hasEnded: false,
    }));
  }

  /** The chunks that follow from an output; none while a choice gathers tokens. The first call opens all choices. */
  push(output: ChatOutput): Chunk[] {
    const opening = this.#hasStarted ? [] : this.#choices.map((_, choice) => this.#roleChunk(choice));
    this.#hasStarted = true;
    const ready = this.#gather(output);
    return ready ? [...opening, this.#outputChunk(ready)] : opening;
  }

  /** The last chunks of the choices that are still open: they end here, with what they have. */
  abort(): Chunk[] {
    const open = [...this.#choices.entries()].filter(([, {hasEnded}]) => !hasEnded);
    return open.flatMap(([choice, {numTokens, pending}]) => {
      const total = numTokens + (pending?.tokenIds.length ?? 0);
      const finish: ChatOutput['finish'] = {finishReason: 'abort', stopReason: null, numTokens: total};
      return this.push({choice, text: '', tokenIds: [], finish});
    });
  }

  /** The chunk with the sums, when the stream carries one. */
  end(counts: {promptTokens: number; cachedTokens: number}): Chunk[] {
    if (!this.#options.usage.atEnd) return [];
    const completionTokens = this.#choices.reduce((sum, {numTokens}) => sum + numTokens, 0);
    const usage = finalUsage({...counts, completionTokens}, this.#options.usage);
    return [chunk(this.#context, [], {usage, ...this.#fingerprint()})];
  }

  #roleChunk(choice: number): Chunk {
    const delta = {role: this.#context.role, content: ''};
    return chunk(this.#context, [{index: choice, delta, logprobs: null, finish_reason: null}], {
      ...this.#usage(choice),
      ...promptFields(this.#context),
    });
  }

  /** Joins an output with what waits; null while there are too few tokens. */
  #gather(output: ChatOutput): ChatOutput | null {
    const progress = this.#choices[output.choice];
    const joined = progress.pending ? joinOutputs(progress.pending, output) : output;
    const isReady = joined.finish !== null || !progress.hasSentText || joined.tokenIds.length >= this.#options.interval;
    progress.pending = isReady ? null : joined;
    progress.hasSentText ||= isReady;
    progress.hasEnded = output.finish !== null;
    return isReady ? joined : null;
  }

  #outputChunk(output: ChatOutput): Chunk {
    const progress = this.#choices[output.choice];
    progress.numTokens = output.finish?.numTokens ?? progress.numTokens + output.tokenIds.length;
    const choice = {
      index: output.choice,
      delta: this.#delta(output),
      logprobs: null,
      finish_reason: output.finish?.finishReason ?? null,
      ...(output.finish && {stop_reason: output.finish.stopReason}),
      token_ids: tokenIdsField(this.#context, output.tokenIds),
      ...(output.finish && {weight_versions: weightVersions(this.#context, output.finish.numTokens)}),
    };
    return chunk(this.#context, [choice], {
      ...this.#usage(output.choice),
      ...(output.finish && !this.#options.usage.atEnd && this.#fingerprint()),
    });
  }

  /** A choice that ends before its first token has nothing to say. */
  #delta({text, finish}: ChatOutput): Chunk {
    return finish && finish.numTokens === 0 && text === '' ? {} : {content: text};
  }

  #usage(choice: number): Chunk {
    if (!this.#options.usage.inEachChunk) return {};
    const counts: TokenCounts = {
      promptTokens: this.#context.promptTokenIds.length,
      completionTokens: this.#choices[choice].numTokens,
      cachedTokens: 0,
    };
    return {usage: runningUsage(counts)};
  }

  /** Null fingerprints are left out of chunks. */
  #fingerprint(): Chunk {
    const {systemFingerprint} = this.#context;
    return systemFingerprint === null ? {} : {system_fingerprint: systemFingerprint};
  }
}
