/**
 * The resolved, complete parameters of one sequence: what is left after request, server and OpenAI defaults were
 * merged and checked. Plain data, so that it crosses the process border. Inner code does not check it again.
 */
import type {OutputConstraint} from './output-constraint.ts';

export interface SamplingParams {
  /** 0 = greedy (the resolver maps everything below 1e-5 to it); else 0.01..2. */
  temperature: number;
  /** 0 = off. */
  topK: number;
  /** (0, 1]; 1 = off. */
  topP: number;
  /** [0, 1]; 0 = off. */
  minP: number;
  /** [-2, 2]; 0 = off. Counts output tokens only. */
  presencePenalty: number;
  /** [-2, 2]; 0 = off. Counts output tokens only. */
  frequencyPenalty: number;
  /** Above 0; 1 = off. Looks at prompt and output tokens. */
  repetitionPenalty: number;
  /** Null = a fresh seed for each sequence. Any 64-bit integer. */
  seed: bigint | null;
  /** At least 1. */
  maxTokens: number;
  /** Before this many output tokens no end or stop token can be sampled and no stop string is looked for. */
  minTokens: number;
  /** The tokenizer's end token; its stop reason is null. Null when the tokenizer has none. */
  eosTokenId: number | null;
  /** Ids that end the sequence with the id as stop reason: further end ids of the model, then the request's. */
  stopTokenIds: number[];
  /** End tokens (of tokenizer and generation config) do not end the sequence. */
  ignoreEos: boolean;
  /** Added to the logits, `[token id, bias]`, bias in [-100, 100]. */
  logitBias: [number, number][];
  /** Only these ids may be sampled; null = all. */
  allowedTokenIds: number[] | null;
  /** Token sequences that may not be completed. */
  badWordsTokenIds: number[][];
  /** The same as the request wrote them, for an engine that spells words itself; absent = none. */
  badWords?: string[];
  /** Logprobs of each new token and of so many of the most likely ones; -1 = of all. Null = none. */
  logprobs: number | null;
  /** At each new token exactly these in place of the most likely ones. Needs `logprobs`. */
  logprobTokenIds: number[] | null;
  /** Logprobs of the prompt's tokens, counted as `logprobs`. */
  promptLogprobs: number | null;
  /** What the answer has to look like; null = anything. */
  constraint: OutputConstraint | null;
  /** How long a thought may be; null = as long as the model likes. */
  thinkingBudget: ThinkingBudget | null;
  /** Ends an output that repeats itself; null = never. */
  repetitionDetection: RepetitionDetection | null;
}

export interface ThinkingBudget {
  maxTokens: number;
  /** The marker that opens a thought, in the prompt or in the output. At least one token. */
  openTokenIds: number[];
  /** The marker that closes it. At least one token. */
  closeTokenIds: number[];
  /** The output begins in a thought although no marker opens it. */
  startsInside: boolean;
}

/** The output ends when its last tokens are `minCount` times the same pattern. */
export interface RepetitionDetection {
  /** Sizes of patterns in tokens, at least 1. */
  minPatternSize: number;
  maxPatternSize: number;
  /** At least 2. */
  minCount: number;
}

/** What the text side does with the tokens of a sequence; the engine never sees it. */
export interface TextParams {
  /** Strings that end the output. */
  stop: string[];
  /** Keep the stop string (or the text of the stop token) in the output. */
  includeStopStrInOutput: boolean;
  skipSpecialTokens: boolean;
  /** With `skipSpecialTokens` off: the only special tokens that stay in the text; null = all. */
  keptSpecialTokenIds?: ReadonlySet<number> | null;
  spacesBetweenSpecialTokens: boolean;
  /** No stop string is looked for before this many output tokens. */
  minTokens: number;
}
