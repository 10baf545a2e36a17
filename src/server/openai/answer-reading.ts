/**
 * What parsers found in an answer, on the wire: the delta of a chunk and the message of a whole answer. Which keys stand
 * there depends on how calls were made: from the model's own markup, or from JSON that a schema forced out of it.
 */
import type {Reading} from '../../core/parsers/events.ts';
import type {FoldedPieces, ParsedPiece} from '../../core/parsers/parsed-piece.ts';
import {isJsonText, spacedJsonText} from './json-text.ts';

/** How the answers of a request are shown. */
export interface ReadingForm {
  /** A reasoning parser is there: usage counts its tokens. */
  countsReasoning: boolean;
  /** The request wants no reasoning, nor anything that would tell its tokens. */
  hidesReasoning: boolean;
  /** Thoughts are sent under the older name `reasoning_content`, too. */
  repeatsReasoning: boolean;
  /** `markup`: the model's own; else JSON of several calls, or of the arguments of one. */
  calls: 'markup' | 'required-json' | 'named-json';
  /** A call was asked for: content is a text even when there is none. */
  forcesCalls: boolean;
  /** A whole text without looking for calls; null when it cannot be shown like that. */
  readWithoutCalls: (text: string) => FoldedPieces | null;
}

type Fields = Record<string, unknown>;
type CallPiece = Extract<ParsedPiece, {type: 'tool-call-start' | 'tool-call-delta'}>;

/** The delta of a chunk. @param isLast the choice ends with this chunk */
export function deltaOf({pieces}: Reading, form: ReadingForm, isLast: boolean): Fields {
  const calls = callEntries(pieces.filter(isCallPiece), form, isLast);
  const text = joined(pieces, 'text-delta');
  const reasoning = joined(pieces, 'reasoning-delta');
  return {
    ...contentField(text, calls.length > 0, form),
    ...(reasoning !== null && reasoningFields(reasoning, form)),
    ...(text !== null && form.hidesReasoning && {reasoning: null}),
    ...(calls.length > 0 && {tool_calls: calls}),
  };
}

/** Null when no piece is of that type; an empty piece counts. */
function joined(pieces: readonly ParsedPiece[], type: 'text-delta' | 'reasoning-delta'): string | null {
  const texts = pieces.flatMap((piece) => (piece.type === type ? [piece.text] : []));
  return texts.length === 0 ? null : texts.join('');
}

function contentField(text: string | null, hasCalls: boolean, {calls}: ReadingForm): Fields {
  if (text !== null) return {content: text};
  return hasCalls && calls === 'markup' ? {content: null} : {};
}

function reasoningFields(reasoning: string | null, {repeatsReasoning}: ReadingForm): Fields {
  return {reasoning, ...(repeatsReasoning && {reasoning_content: reasoning})};
}

function isCallPiece(piece: ParsedPiece): piece is CallPiece {
  return piece.type === 'tool-call-start' || piece.type === 'tool-call-delta';
}

/** One entry for each call that the pieces are about. */
function callEntries(pieces: readonly CallPiece[], form: ReadingForm, isLast: boolean): Fields[] {
  const indices = [...new Set(pieces.map(({index}) => index))];
  const entries = indices.map((index) =>
    callEntry(
      pieces.filter((piece) => piece.index === index),
      form,
    ),
  );
  // The arguments of a named call in JSON end with the text, which is told in so many words.
  return entries.length === 0 && isLast && form.calls === 'named-json'
    ? [{index: 0, function: {arguments: ''}}]
    : entries;
}

function callEntry(pieces: readonly CallPiece[], form: ReadingForm): Fields {
  const start = pieces.find((piece) => piece.type === 'tool-call-start');
  const texts = pieces.filter((piece) => piece.type === 'tool-call-delta').map(({argumentsText}) => argumentsText);
  const argumentsField = texts.length > 0 && {arguments: texts.join('')};
  const {index} = pieces[0]!;
  if (start) return {id: start.id, type: 'function', index, function: {name: start.name, ...argumentsField}};
  return {index, function: {...(form.calls === 'required-json' && {name: null}), ...argumentsField}};
}

/** What a whole answer says. */
export interface WholeReading {
  content: string | null;
  reasoning: string | null;
  toolCalls: FoldedPieces['toolCalls'];
}

/**
 * @param text all of the answer as it was generated
 * @param hasReasoned the answer had a thought, if only an empty one
 */
export function wholeReading(
  text: string,
  folded: FoldedPieces,
  hasReasoned: boolean,
  form: ReadingForm,
): WholeReading {
  const {content, reasoning, toolCalls} = withoutBrokenCalls(text, folded, form);
  return {
    content: wholeContent(content, toolCalls.length > 0, hasReasoned || text !== '', form),
    reasoning: reasoning === '' && (!hasReasoned || form.hidesReasoning) ? null : reasoning,
    toolCalls: toolCalls.map((call) => ({...call, argumentsText: shownArguments(call.argumentsText, form)})),
  };
}

/** Calls that were cut off or are no JSON are shown as the text that they are, as far as the format allows. */
function withoutBrokenCalls(text: string, folded: FoldedPieces, form: ReadingForm): FoldedPieces {
  const isWhole = folded.toolCalls.every(({argumentsText}) => isJsonText(argumentsText));
  if (form.calls === 'named-json' || isWhole) return folded;
  if (form.calls === 'required-json') return {...folded, toolCalls: []};
  return form.readWithoutCalls(text) ?? folded;
}

function wholeContent(content: string, hasCalls: boolean, hasText: boolean, form: ReadingForm): string | null {
  const isNothing = hasCalls ? content.trim() === '' : content === '' && hasText;
  if (!isNothing) return content;
  return form.forcesCalls ? '' : null;
}

/** Markup is read and written again; what a schema forced is passed on. */
function shownArguments(argumentsText: string, {calls}: ReadingForm): string {
  return calls === 'named-json' ? argumentsText : spacedJsonText(argumentsText);
}

/** The message of a whole answer. @param echo stands before the content */
export function messageOf(role: string, echo: string, reading: WholeReading, form: ReadingForm | null): Fields {
  const {content, reasoning, toolCalls} = reading;
  return {
    role,
    content: content === null && echo === '' ? null : echo + (content ?? ''),
    refusal: null,
    annotations: null,
    audio: null,
    function_call: null,
    ...(toolCalls.length > 0 && {tool_calls: toolCalls.map(toolCall)}),
    reasoning,
    ...(form?.repeatsReasoning && {reasoning_content: reasoning}),
  };
}

function toolCall({id, name, argumentsText}: FoldedPieces['toolCalls'][number]): Fields {
  return {id, type: 'function', function: {name, arguments: argumentsText}};
}

/** The reading of a text that no parser reads. */
export function plainReading(content: string): WholeReading {
  return {content, reasoning: null, toolCalls: []};
}

/** Two readings of one choice, one after the other. */
export function joinReadings(first: Reading | null, next: Reading | null): Reading | null {
  return first && next ? {...next, pieces: first.pieces.concat(next.pieces)} : (next ?? first);
}
