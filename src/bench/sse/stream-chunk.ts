/**
 * What one event of a completion stream means for a measurement: does it carry output, of which kind, does it end a
 * choice, what does it say about token counts. Reads chat and text completions of any OpenAI-compatible server. This is
 * done for every event of every stream, so it is plain code over unknown values; a schema costs as much as the parsing.
 */

export interface ToolCallPiece {
  index: number;
  id: string | null;
  name: string | null;
  argumentsText: string;
}

export interface StreamChunk {
  /** The event was not an empty list of choices, as the one with the usage is. */
  hasChoices: boolean;
  /** Something that the model made: text, reasoning, a piece of a call, token ids. */
  hasOutput: boolean;
  /** Output that is no reasoning. */
  hasAnswer: boolean;
  content: string;
  reasoning: string;
  toolCalls: readonly ToolCallPiece[];
  finishes: readonly {index: number; reason: string}[];
  usage: {promptTokens: number | null; completionTokens: number | null; cachedTokens: number | null} | null;
  /** Message of an error event, else null. */
  error: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** @returns null when the data is no JSON object of this kind */
export function readChunk(data: string): StreamChunk | null {
  const value = parseOrNull(data);
  if (!isObject(value)) return null;
  const {choices, usage, error} = value;
  const hasError = error !== undefined && error !== null;
  if (!Array.isArray(choices ?? [])) return null;
  const chunk = emptyChunk(usageOf(usage), hasError ? messageOf(error) : null);
  for (const choice of (choices ?? []) as unknown[]) {
    if (!isObject(choice)) return null;
    takeChoice(chunk, choice);
  }
  chunk.hasOutput ||= chunk.hasAnswer || chunk.reasoning !== '';
  return chunk;
}

type OpenChunk = {-readonly [Key in keyof StreamChunk]: StreamChunk[Key]};

const none: readonly never[] = [];

function emptyChunk(usage: StreamChunk['usage'], error: string | null): OpenChunk {
  return {
    hasChoices: false,
    hasOutput: false,
    hasAnswer: false,
    content: '',
    reasoning: '',
    toolCalls: none,
    finishes: none,
    usage,
    error,
  };
}

function takeChoice(chunk: OpenChunk, choice: Fields): void {
  const {index, text, finish_reason: reason, token_ids: tokenIds, delta} = choice;
  chunk.hasChoices = true;
  addContent(chunk, text);
  if (isObject(delta)) takeDelta(chunk, delta);
  if (Array.isArray(tokenIds) && tokenIds.length > 0) chunk.hasOutput = true;
  if (isText(reason)) chunk.finishes = [...chunk.finishes, {index: numberOr(index, 0), reason}];
}

function takeDelta(chunk: OpenChunk, delta: Fields): void {
  addContent(chunk, delta.content);
  const reasoning = delta.reasoning ?? delta.reasoning_content;
  if (isText(reasoning)) chunk.reasoning += reasoning;
  if (isText(delta.refusal)) chunk.hasAnswer = true;
  const calls = delta.tool_calls;
  if (!Array.isArray(calls) || calls.length === 0) return;
  chunk.toolCalls = [...chunk.toolCalls, ...calls.filter(isObject).map(toolCallPiece)];
  chunk.hasAnswer = true;
}

function addContent(chunk: OpenChunk, text: unknown): void {
  if (!isText(text)) return;
  chunk.content += text;
  chunk.hasAnswer = true;
}

function toolCallPiece({index, id, function: called}: Fields): ToolCallPiece {
  const {name, arguments: argumentsText} = isObject(called) ? called : ({} as Fields);
  return {
    index: numberOr(index, 0),
    id: isText(id) ? id : null,
    name: isText(name) ? name : null,
    argumentsText: isText(argumentsText) ? argumentsText : '',
  };
}

function usageOf(usage: unknown): StreamChunk['usage'] {
  if (!isObject(usage)) return null;
  const {prompt_tokens_details: details} = usage;
  return {
    promptTokens: numberOr(usage.prompt_tokens, null),
    completionTokens: numberOr(usage.completion_tokens, null),
    cachedTokens: isObject(details) ? numberOr(details.cached_tokens, null) : null,
  };
}

function messageOf(error: unknown): string {
  if (isText(error)) return error;
  const message = isObject(error) ? error.message : null;
  return isText(message) ? message : JSON.stringify(error);
}

function parseOrNull(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text with something in it. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === 'number' ? value : otherwise;
}
