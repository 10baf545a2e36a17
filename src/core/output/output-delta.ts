/** What the text side makes of one engine output: new text that is safe to show, and how the sequence ended. */
import type {DecodedLogprobs} from '../sampling/token-logprobs.ts';

export interface OutputDelta {
  /** New text, stop strings and half characters held back. May be empty. */
  text: string;
  /** The ids of this output, also those whose text is hidden or held back. */
  tokenIds: number[];
  /** One for each id; null when the request asked for none. */
  logprobs: DecodedLogprobs[] | null;
  finishReason: 'stop' | 'length' | 'repetition' | 'abort' | null;
  /** Stop string, stop token id or `repetition_detected`; null for the end token, for length and while running. */
  stopReason: string | number | null;
}
