/** What a data set gives: prompts with their lengths, as conversations of one or more turns. Plain data. */
import type {BenchSettings} from '../bench-settings.ts';
import type {RandomSource} from '../load/random-source.ts';
import type {PromptTokenizer} from './prompt-tokenizer.ts';

export type Message = Record<string, unknown>;

export interface SampleTurn {
  /** What comes on top of what was said before. */
  messages: Message[];
  /** Prompt of a text completion in place of messages. */
  tokenIds: number[] | null;
  /** Tokens of these messages' texts; null = not known. */
  promptTokens: number | null;
  /** Tokens that the answer shall have; null = until it ends by itself. */
  outputTokens: number | null;
  /** Further fields of the request, such as tools. */
  fields: Record<string, unknown>;
}

export interface Sample {
  /** Of the entry in the file, when it has one. */
  id: string | null;
  turns: SampleTurn[];
  /** Seconds from the start of the run; null = as the load plan says. */
  offsetSeconds: number | null;
}

export interface Dataset {
  samples: Sample[];
  /** Answers have exactly the wanted length. */
  ignoresEos: boolean;
  /** Lines for a person. */
  notes: string[];
}

export interface DatasetContext {
  settings: BenchSettings;
  tokenizer: PromptTokenizer;
  random: RandomSource;
  /** As many as there are requests or conversations, warm-ups included. */
  numSamples: number;
  /** Of generated prompts. */
  lengths: {input: number; output: number};
}

export function userTurn(content: string, fields: Partial<SampleTurn> = {}): SampleTurn {
  return {
    messages: [{role: 'user', content}],
    tokenIds: null,
    promptTokens: null,
    outputTokens: null,
    fields: {},
    ...fields,
  };
}

export function singleTurn(turn: SampleTurn, id: string | null = null): Sample {
  return {id, turns: [turn], offsetSeconds: null};
}
