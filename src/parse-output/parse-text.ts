/** One output through the parsers, in the pieces in which it comes: every delta, and what they are joined. Pure. */
import {createOutputParser, type OutputFormats} from '../core/parsers/create-output-parser.ts';
import {type ParserContext, parserContext} from '../core/parsers/output-parser.ts';
import {type FoldedPieces, foldPiece, type ParsedPiece} from '../core/parsers/parsed-piece.ts';

export interface ParseTask {
  formats: OutputFormats;
  context: Partial<ParserContext>;
  /** The output, cut in any way. */
  pieces: readonly string[];
  finish: 'stop' | 'length';
}

/** What came of one piece of the output. */
export interface ParsedDelta {
  /** The piece; '' for what came at the end. */
  text: string;
  pieces: ParsedPiece[];
}

export interface ParseResult {
  folded: FoldedPieces;
  /** Pieces that gave something. */
  deltas: ParsedDelta[];
  /** For each call, its arguments after every piece. */
  prefixes: string[][];
}

/** @throws what a parser throws: here a fault is to be seen */
export function parseText({formats, context, pieces, finish}: ParseTask): ParseResult {
  const parser = createOutputParser({...formats, onFault: rethrow}, parserContext(context));
  const result: ParseResult = {folded: {content: '', reasoning: '', toolCalls: []}, deltas: [], prefixes: []};
  for (const text of pieces) take(result, {text, pieces: parser.push(text)});
  take(result, {text: '', pieces: parser.finish(finish)});
  return result;
}

function rethrow(error: unknown): never {
  throw error;
}

function take({folded, deltas, prefixes}: ParseResult, delta: ParsedDelta): void {
  for (const piece of delta.pieces) foldPiece(folded, piece);
  if (delta.pieces.length > 0) deltas.push(delta);
  for (const [index, {argumentsText}] of folded.toolCalls.entries()) {
    prefixes[index] ??= [];
    prefixes[index].push(argumentsText);
  }
}

/** Pieces of that many characters; characters stay whole. */
export function cutText(text: string, length: number): string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / length);
  return Array.from({length: count}, (_, index) => characters.slice(index * length, (index + 1) * length).join(''));
}

/** The result in the keys of a chat message. */
export function messageFields({content, reasoning, toolCalls}: FoldedPieces) {
  return {
    content: content || null,
    reasoning: reasoning || null,
    tool_calls: toolCalls.map(({name, argumentsText}) => ({name, arguments: argumentsText})),
  };
}
