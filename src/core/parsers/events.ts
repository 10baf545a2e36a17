/** What a model's answer means, piece by piece: the one language between parsers and everything that shows an answer. */

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'abort';

export interface Usage {
  promptTokens: number;
  /** Over all choices; end tokens and hidden stop text included. */
  completionTokens: number;
  /** Prompt tokens taken from the prefix cache. */
  cachedTokens: number;
}

export type ChatEvent = {/** Index of the choice, 0..n-1. */ choice: number} & (
  | {type: 'text-delta' /** May be empty: a token whose text is held back. */; text: string; tokenIds: number[]}
  | {
      type: 'finish';
      finishReason: FinishReason;
      /** The stop string or stop token id that ended the choice, else null. */
      stopReason: string | number | null;
      /** Generated tokens of this choice. */
      numTokens: number;
    }
);
