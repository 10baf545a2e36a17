/**
 * The seam between generated text and its meaning: one output parser reads the text of one choice, in any cut, and gives
 * pieces. What it needs to know of the request and the prompt is a `ParserContext`. Streamed and whole answers use the
 * same object: a whole answer is one push and one finish.
 */

import type {FinishReason} from './events.ts';
import type {ParsedPiece} from './parsed-piece.ts';

export interface OutputParser {
  /** True while the next characters are read as a thought. */
  readonly isReasoning: boolean;
  /** The next characters of the choice's text. Never throws: after a fault of ours the rest is plain text. */
  push(text: string): ParsedPiece[];
  /** The text is complete; gives everything that was held back. `length`: the text was cut off by a limit. */
  finish(finishReason?: FinishReason): ParsedPiece[];
}

/** A JSON schema as it came with the request: an object, or a boolean that allows everything or nothing. */
export type JsonSchema = Readonly<Record<string, unknown>> | boolean;

export interface ToolSpec {
  name: string;
  /** Schema of the arguments object; absent when the tool declares none. */
  parameters?: JsonSchema | undefined;
}

export type ParserToolChoice = 'none' | 'auto' | 'required' | {name: string};

/** What decides how the text of a choice is read; the same for all choices of a request. */
export interface ParserContext {
  tools: readonly ToolSpec[];
  toolChoice: ParserToolChoice;
  /** False: only the first call is kept. */
  parallelToolCalls: boolean;
  /** False: reasoning is recognised and thrown away. */
  includeReasoning: boolean;
  /** Template variables as merged for rendering: `enable_thinking`, `reasoning_effort` and the like. */
  chatTemplateKwargs: Readonly<Record<string, unknown>>;
  /** The end of the prompt as text, special tokens included; '' when unknown. */
  promptTail: string;
  /** Tool calls already in the conversation; counts on in ids that carry a number. */
  numEarlierToolCalls: number;
  /**
   * True: formats that read calls whatever the request allows report them; a server drops them once more itself. For
   * looking at raw outputs.
   */
  keepsForbiddenCalls?: boolean;
  /** True: markup whose call a length limit cut off before its name is not shown as text. */
  hidesCutMarkup?: boolean;
  /** Metadata of the checkpoint that describes its answers (`hf`, `beam`). */
  responseTemplate?: unknown;
  /** Makes random lower-case hex characters for ids; tests pass their own. */
  randomHex?: (length: number) => string;
}

const EMPTY_CONTEXT: ParserContext = {
  tools: [],
  toolChoice: 'none',
  parallelToolCalls: true,
  includeReasoning: true,
  chatTemplateKwargs: {},
  promptTail: '',
  numEarlierToolCalls: 0,
};

/** A context with the defaults of a request that says nothing; `tool_choice` is `auto` as soon as there are tools. */
export function parserContext(given: Partial<ParserContext>): ParserContext {
  const toolChoice = (given.tools?.length ?? 0) > 0 ? 'auto' : 'none';
  return {...EMPTY_CONTEXT, toolChoice, ...given};
}
