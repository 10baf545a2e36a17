/** The outputs of every choice joined to one, by index: a whole answer is the fold of what a stream would send. */
import type {Reading} from '../../core/parsers/events.ts';
import {type FoldedPieces, foldPiece} from '../../core/parsers/parsed-piece.ts';
import type {DecodedLogprobs} from '../../core/sampling/token-logprobs.ts';
import type {ChatOutput} from './chat-outputs.ts';

export interface FoldedOutput extends ChatOutput {
  /** Empty when the request asked for none. */
  logprobs: DecodedLogprobs[];
  /** The pieces that parsers made, joined; empty when none reads the text. */
  folded: FoldedPieces;
}

function emptyOutput(choice: number): FoldedOutput {
  const folded = {content: '', reasoning: '', toolCalls: []};
  return {choice, text: '', tokenIds: [], logprobs: [], reading: null, folded, finish: null};
}

export class OutputFold {
  /** By choice. */
  readonly outputs: readonly FoldedOutput[];

  constructor(numChoices: number) {
    this.outputs = Array.from({length: numChoices}, (_, choice) => emptyOutput(choice));
  }

  push({choice, text, tokenIds, logprobs, reading, finish}: ChatOutput): void {
    const whole = this.outputs[choice]!;
    whole.text += text;
    whole.tokenIds.push(...tokenIds);
    if (logprobs) whole.logprobs.push(...logprobs);
    if (reading) readInto(whole, reading);
    whole.finish = finish;
  }

  /** Ends the choices that are still open, with what they have. */
  abort(): void {
    for (const whole of this.outputs) {
      whole.finish ??= {finishReason: 'abort', stopReason: null, numTokens: whole.tokenIds.length};
    }
  }

  /** Over all choices. */
  get totalReasoningTokens(): number {
    return this.outputs.reduce((sum, {reading}) => sum + (reading?.numReasoningTokens ?? 0), 0);
  }

  /** Of the choices that have ended. */
  get totalTokens(): number {
    return this.outputs.reduce((sum, {finish}) => sum + (finish?.numTokens ?? 0), 0);
  }
}

function readInto(whole: FoldedOutput, reading: Reading): void {
  for (const piece of reading.pieces) foldPiece(whole.folded, piece);
  whole.reading = {...reading, pieces: []};
}
