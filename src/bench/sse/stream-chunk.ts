/**
 * What one event of a completion stream means for a measurement: does it carry output, of which kind, does it end a
 * choice, what does it say about token counts. Reads chat and text completions of any OpenAI-compatible server. This is
 * done for every event of every stream, so it is plain code over unknown values; a schema costs as much as the parsing.
 */
import {jsonOrNull} from '../../core/util/json-or-null.ts';
import {isPlainObject} from '../../core/util/parse-json.ts';

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
  hasReasoning: boolean;
  /** The choice that this event is about; null for none and for several. */
  choiceIndex: number | null;
  /** Of the first choice, as all texts but `otherTexts`. */
  content: string;
  reasoning: string;
  toolCalls: readonly ToolCallPiece[];
  /** What the other choices say, of whatever kind; for counts only. */
  otherTexts: string;
  finishes: readonly {index: number; reason: string}[];
  usage: {promptTokens: number | null; completionTokens: number | null; cachedTokens: number | null} | null;
  /** Message of an error event, else null. */
  error: string | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** @returns null when the data is no JSON object of this kind */
export function readChunk(data: string): StreamChunk | null {
  const value = jsonOrNull(data);
  if (!isPlainObject(value)) return null;
  const {choices, usage} = value;
  // Older servers say it in an object that is the error itself.
  const error = value.object === 'error' ? value : value.error;
  const hasError = error !== undefined && error !== null;
  if (!Array.isArray(choices ?? [])) return null;
  const chunk = emptyChunk(usageOf(usage), hasError ? messageOf(error) : null);
  const given = (choices ?? []) as unknown[];
  for (const choice of given) {
    if (!isPlainObject(choice)) return null;
    takeChoice(chunk, choice);
    chunk.choiceIndex = given.length === 1 ? numberOr(choice.index, 0) : null;
  }
  chunk.hasOutput ||= chunk.hasAnswer || chunk.hasReasoning;
  return chunk;
}

type OpenChunk = {-readonly [Key in keyof StreamChunk]: StreamChunk[Key]};

const none: readonly never[] = [];
const noFields: Fields = {};

function emptyChunk(usage: StreamChunk['usage'], error: string | null): OpenChunk {
  return {
    hasChoices: false,
    hasOutput: false,
    hasAnswer: false,
    hasReasoning: false,
    choiceIndex: null,
    content: '',
    reasoning: '',
    toolCalls: none,
    otherTexts: '',
    finishes: none,
    usage,
    error,
  };
}

function takeChoice(chunk: OpenChunk, choice: Fields): void {
  const {index, text, finish_reason: reason, token_ids: tokenIds} = choice;
  const place = numberOr(index, 0);
  const delta = isPlainObject(choice.delta) ? choice.delta : noFields;
  // Some servers know reasoning by the older name only, some fill in one of the two.
  const reasoning = textOf(delta.reasoning) || textOf(delta.reasoning_content);
  const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls.filter(isPlainObject).map(toolCallPiece) : none;
  const answer = textOf(text) + textOf(delta.content);
  chunk.hasChoices = true;
  if (answer !== '' || isText(delta.refusal) || calls.length > 0) chunk.hasAnswer = true;
  if (reasoning !== '') chunk.hasReasoning = true;
  if (Array.isArray(tokenIds) && tokenIds.length > 0) chunk.hasOutput = true;
  if (isText(reason)) chunk.finishes = [...chunk.finishes, {index: place, reason}];
  if (place === 0) addTexts(chunk, answer, reasoning, calls);
  else
    chunk.otherTexts +=
      answer + reasoning + calls.map(({name, argumentsText}) => (name ?? '') + argumentsText).join('');
}

function addTexts(chunk: OpenChunk, answer: string, reasoning: string, calls: readonly ToolCallPiece[]): void {
  chunk.content += answer;
  chunk.reasoning += reasoning;
  if (calls.length > 0) chunk.toolCalls = [...chunk.toolCalls, ...calls];
}

function toolCallPiece({index, id, function: called}: Fields): ToolCallPiece {
  const {name, arguments: argumentsText} = isPlainObject(called) ? called : noFields;
  return {
    index: numberOr(index, 0),
    id: isText(id) ? id : null,
    name: isText(name) ? name : null,
    argumentsText: isText(argumentsText) ? argumentsText : '',
  };
}

function usageOf(usage: unknown): StreamChunk['usage'] {
  if (!isPlainObject(usage)) return null;
  const {prompt_tokens_details: details} = usage;
  return {
    promptTokens: numberOr(usage.prompt_tokens, null),
    completionTokens: numberOr(usage.completion_tokens, null),
    cachedTokens: isPlainObject(details) ? numberOr(details.cached_tokens, null) : null,
  };
}

function messageOf(error: unknown): string {
  if (isText(error)) return error;
  const message = isPlainObject(error) ? error.message : null;
  return isText(message) ? message : JSON.stringify(error);
}

/** A text with something in it. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOr<T>(value: unknown, otherwise: T): number | T {
  return typeof value === 'number' ? value : otherwise;
}
