/** What a model's answer means, piece by piece: the one language between parsers and everything that shows an answer. */

import type {DecodedLogprobs} from '../sampling/token-logprobs.ts';

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'repetition' | 'abort';

export interface Usage {
  promptTokens: number;
  /** Over all choices; end tokens and hidden stop text included. */
  completionTokens: number;
  /** Prompt tokens taken from the prefix cache. */
  cachedTokens: number;
}

export type ChatEvent = {/** Index of the choice, 0..n-1. */ choice: number} & (
  | {
      type: 'text-delta';
      /** May be empty: a token whose text is held back. */
      text: string;
      tokenIds: number[];
      /** One for each id, also of those whose text is held back; null when the request asked for none. */
      logprobs: DecodedLogprobs[] | null;
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
