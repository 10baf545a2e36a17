/**
 * Argument readers: push parsers that turn the markup of ONE tool call into a stream of JSON text. A reader is created
 * when its call begins and knows by itself where the call ends, so that markers quoted inside strings do not end it.
 *
 * Laws for every reader: any cut of the text gives the same joined `json`; what was given is never taken back; while the
 * name is unknown `json` is ''; time is linear in the text; nothing throws, whatever the text.
 */

import type {FinishReason} from './events.ts';
import type {JsonSchema, ParserContext, ToolSpec} from './output-parser.ts';

/**
 * - `more`: the call goes on.
 * - `done`: the call is complete; `rest` is the text after it.
 * - `void`: the call is complete and must not be reported (unknown name, broken rules of the format). Before the name only.
 * - `failed`: this is no call. Before the name: the text goes back to the content (or is dropped, as the format says).
 *   After the name: the call stays as far as it came, and `rest` is read on as if the call had ended.
 */
export type ReaderState = 'more' | 'done' | 'void' | 'failed';

export interface ReaderStep {
  /** The next piece of the arguments' JSON text, often ''. */
  json: string;
  state: ReaderState;
  /** Text that no longer belongs to the call, an end of all text pushed so far; '' while the state is `more`. */
  rest: string;
}

export interface ArgumentReader {
  /** The function's name once it is complete. A reader that is created with the name has it from the start. */
  readonly name: string | undefined;
  /** The next characters; the first push begins where the format's opener says (see the mode that creates the reader). */
  push(text: string): ReaderStep;
  /** The text ends here. Gives what was held back; `more` is not a valid state any more, a call cut off is `done`. */
  finish(finishReason: FinishReason): ReaderStep;
}

export interface ReaderContext {
  request: ParserContext;
  /** The name that a capture in front of the reader found. */
  name: string | undefined;
}

export interface CreateReader {
  (context: ReaderContext): ArgumentReader;
  /** Texts that the reader looks for; special tokens among them must stay in the text. */
  markers?: readonly string[];
}

export function withMarkers(create: CreateReader, markers: readonly string[]): CreateReader {
  return Object.assign((context: ReaderContext) => create(context), {markers});
}

/** The declared tool of that name. */
export function findTool(context: ReaderContext, name: string): ToolSpec | undefined {
  return context.request.tools.find((tool) => tool.name === name);
}

/** The declared parameters of the called tool. */
export function propertiesOf(context: ReaderContext): Readonly<Record<string, JsonSchema>> {
  const schema = context.name === undefined ? undefined : findTool(context, context.name)?.parameters;
  const properties = typeof schema === 'object' ? schema.properties : undefined;
  return typeof properties === 'object' && properties !== null ? (properties as Record<string, JsonSchema>) : {};
}

export const MORE: ReaderStep = {json: '', state: 'more', rest: ''};
