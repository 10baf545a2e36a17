/** What the text side makes of one engine output: new text that is safe to show, and how the sequence ended. */

export interface OutputDelta {
  /** New text, stop strings and half characters held back. May be empty. */
  text: string;
  /** The ids of this output, also those whose text is hidden or held back. */
  tokenIds: number[];
  finishReason: 'stop' | 'length' | 'abort' | null;
  /** Stop string or stop token id; null for the end token, for length and while running. */
  stopReason: string | number | null;
}
