/**
 * What the engine made for one sequence, as text: detokenizes, looks for stop strings and decides how the output ends.
 * Works token by token, so it makes no difference how the engine's outputs were cut or merged; the streamed text is the
 * whole text by construction. Follows vLLM's `v1/engine/detokenizer.py` and `output_processor.py`.
 */
import type {SequenceOutput} from '../engine/protocol.ts';
import type {Tokenizer} from '../model/tokenizer.ts';
import type {TextParams} from '../sampling/sampling-params.ts';
import {assertInvariant} from '../util/assert.ts';
import {IncrementalDetokenizer} from './incremental-detokenizer.ts';
import {LogprobsDecoder} from './logprobs.ts';
import type {OutputDelta} from './output-delta.ts';
import {StopStrings} from './stop-strings.ts';

/** Reads the text of a sequence while it is made. */
export interface TextReader {
  /** False: a stop string that ends now does not count. */
  readonly canStop: boolean;
  /** A token was made; its text comes in the calls of `readToken` that follow, as far as it is shown. */
  noteToken(tokenId: number, text: string): void;
  /** The text that one token made safe to show; may be empty. */
  readToken(text: string): void;
  /** The sequence ended; `held` is what was held back until then. */
  readEnd(held: string, finishReason: NonNullable<OutputDelta['finishReason']>): void;
}

export interface OutputProcessorOptions {
  tokenizer: Tokenizer;
  promptTokenIds: readonly number[];
  text: TextParams;
  /** Told of every text that is given out, token by token. */
  reader?: TextReader | null;
}

export class OutputProcessor {
  readonly #detokenizer: IncrementalDetokenizer;
  readonly #stopStrings: StopStrings;
  readonly #params: TextParams;
  readonly #logprobsDecoder: LogprobsDecoder;
  readonly #reader: TextReader | null;
  #numTokens = 0;
  #isFinished = false;

  constructor({tokenizer, promptTokenIds, text, reader = null}: OutputProcessorOptions) {
    this.#detokenizer = new IncrementalDetokenizer(tokenizer, promptTokenIds, text);
    this.#stopStrings = new StopStrings(text);
    this.#params = text;
    this.#reader = reader;
    this.#logprobsDecoder = new LogprobsDecoder(tokenizer);
  }

  /** Tokens of the output so far, hidden ones included. */
  get numTokens(): number {
    return this.#numTokens;
  }

  /** True once an output carried a finish reason or a stop string was found; outputs after that are ignored. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** @returns null when the output has ended before */
  process(output: SequenceOutput): OutputDelta | null {
    if (this.#isFinished) return null;
    const delta = this.#readTokens(output);
    return delta.finishReason === null ? delta : this.#end(delta, delta.finishReason);
  }

  #end(delta: OutputDelta, finishReason: NonNullable<OutputDelta['finishReason']>): OutputDelta {
    this.#isFinished = true;
    const held = typeof delta.stopReason === 'string' ? '' : this.#stopStrings.flush();
    this.#reader?.readEnd(held, finishReason);
    return {...delta, text: delta.text + held};
  }

  #readTokens(output: SequenceOutput): OutputDelta {
    const {newTokenIds, finishReason} = output;
    assertInvariant(finishReason !== 'error', 'the engine client throws when a sequence fails');
    let text = '';
    for (let index = 0; index < newTokenIds.length; index++) {
      const check = this.#readToken(newTokenIds[index]!, isStopToken(output, index));
      text += check.text;
      if (check.stopString === null) continue;
      return this.#deltaOf(output, index + 1, {text, finishReason: 'stop', stopReason: check.stopString});
    }
    return this.#deltaOf(output, newTokenIds.length, {text, finishReason, stopReason: stopReasonOf(output)});
  }

  /** With the first `count` tokens of the output. */
  #deltaOf(
    {newTokenIds, logprobs}: SequenceOutput,
    count: number,
    {text, finishReason, stopReason}: Ending,
  ): OutputDelta {
    const decoded = logprobs?.slice(0, count).map((position) => this.#logprobsDecoder.decode(position)) ?? null;
    return {text, tokenIds: newTokenIds.slice(0, count), logprobs: decoded, finishReason, stopReason};
  }

  /** An end or stop token has no text, unless the request wants to keep what ended the output. */
  #readToken(tokenId: number, endsOutput: boolean) {
    this.#numTokens++;
    const isHidden = endsOutput && !this.#params.includeStopStrInOutput;
    const text = isHidden ? '' : this.#detokenizer.push(tokenId);
    this.#reader?.noteToken(tokenId, text);
    const canStop = this.#numTokens > this.#params.minTokens && this.#reader?.canStop !== false;
    const check = this.#stopStrings.push(text, canStop);
    this.#reader?.readToken(check.text);
    return check;
  }
}

type Ending = Pick<OutputDelta, 'text' | 'finishReason' | 'stopReason'>;

function stopReasonOf({finishReason, stopReason}: SequenceOutput): string | number | null {
  return finishReason === 'repetition' ? 'repetition_detected' : stopReason;
}

/** The engine ends a sequence with reason `stop` only at an end or stop token, which is the last one. */
function isStopToken({newTokenIds, finishReason}: SequenceOutput, index: number): boolean {
  return finishReason === 'stop' && index === newTokenIds.length - 1;
}
