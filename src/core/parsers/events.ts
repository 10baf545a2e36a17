/** What a model's answer means, piece by piece: the one language between parsers and everything that shows an answer. */

import type {DecodedLogprobs} from '../sampling/token-logprobs.ts';
import type {ParsedPiece} from './parsed-piece.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'repetition' | 'abort';

export interface Usage {
  promptTokens: number;
  /** Over all choices; end tokens and hidden stop text included. */
  completionTokens: number;
  /** Prompt tokens taken from the prefix cache. */
  cachedTokens: number;
}

/** What the parsers of a choice made of one output. */
export interface Reading {
  /** Often none: a marker, or text that is held back. */
  pieces: ParsedPiece[];
  /** Tokens of thoughts in the choice so far, shown or not. */
  numReasoningTokens: number;
  /** True once the choice has been in a thought, also in one without text. */
  hasReasoned: boolean;
}

export type ChatEvent = {/** Index of the choice, 0..n-1. */ choice: number} & (
  | {
      type: 'delta';
      /** As it was generated. May be empty: a token whose text is held back. */
      text: string;
      tokenIds: number[];
      /** One for each id, also of those whose text is held back; null when the request asked for none. */
      logprobs: DecodedLogprobs[] | null;
      /** The meaning of the text; null when no parser reads it: all of it is the answer. */
      reading: Reading | null;
      /** The choice ends with this text: its `finish` is the next event of the choice. */
      isLast?: true;
    }
  | {
      type: 'finish';
      finishReason: FinishReason;
      /** The stop string or stop token id that ended the choice, else null. */
      stopReason: string | number | null;
      /** Generated tokens of this choice. */
      numTokens: number;
    }
);
