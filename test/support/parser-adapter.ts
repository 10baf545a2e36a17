/**
 * Runs our parsers on a line of the recorded parser data (`golden/README-parsers.md`): as one text or piece by piece,
 * folded the way a client joins deltas. The data's own judge compares.
 */

import {createOutputParser, type OutputFormats} from '../../src/core/parsers/create-output-parser.ts';
import {
  type ParserContext,
  type ParserToolChoice,
  parserContext,
  type ToolSpec,
} from '../../src/core/parsers/output-parser.ts';
import {type FoldedPieces, foldPiece} from '../../src/core/parsers/parsed-piece.ts';
import {ParserRegistry} from '../../src/core/parsers/registry.ts';

type WireToolChoice = 'none' | 'auto' | 'required' | {function: {name: string}};

/** Which file a line is from: its `parser` names a tool or a reasoning format. */
export type LineKind = 'tool' | 'reasoning';

export interface RecordedLine {
  name: string;
  parser: string;
  tool_parser?: string | null;
  tools?: {function: {name: string; parameters?: ToolSpec['parameters']}}[] | null;
  tool_choice?: WireToolChoice | null;
  chat_template_kwargs?: Record<string, unknown> | null;
  include_reasoning?: boolean;
  prompt_tail?: string | null;
  response_template?: unknown;
  finish: 'stop' | 'length';
  output: string;
  chunks: string[];
  literal_marker?: boolean;
  optional?: boolean;
}

export interface ParsedLine {
  content: string | null;
  reasoning: string | null;
  tool_calls: {name: string; arguments: string}[];
  prefixes: string[][];
}

const registry = new ParserRegistry();

/** @param kind which file the line is from: `parser` names a tool or a reasoning format */
export function parseLine(kind: LineKind, line: RecordedLine, chunks: readonly string[] | null): ParsedLine {
  const folded: FoldedPieces = {content: '', reasoning: '', toolCalls: []};
  const prefixes: string[][] = [];
  const parser = createOutputParser({...formatsOf(kind, line), onFault: rethrow}, contextOf(line));
  const take = (pieces: ReturnType<typeof parser.push>) => {
    for (const piece of pieces) foldPiece(folded, piece);
    for (const [index, call] of folded.toolCalls.entries()) {
      prefixes[index] ??= [];
      prefixes[index].push(call.argumentsText);
    }
  };
  for (const chunk of chunks ?? [line.output]) take(parser.push(chunk));
  take(parser.finish(line.finish));
  return {
    content: folded.content || null,
    reasoning: folded.reasoning || null,
    tool_calls: folded.toolCalls.map((call) => ({name: call.name, arguments: call.argumentsText})),
    prefixes,
  };
}

export function isKnown(kind: LineKind, line: RecordedLine): boolean {
  const names = kind === 'tool' ? registry.toolNames : registry.reasoningNames;
  return names.includes(line.parser) && (line.tool_parser == null || registry.toolNames.includes(line.tool_parser));
}

function formatsOf(kind: LineKind, line: RecordedLine): OutputFormats {
  if (kind === 'tool') return {tool: registry.toolFormat(line.parser)};
  const tool = line.tool_parser == null ? {} : {tool: registry.toolFormat(line.tool_parser)};
  return {reasoning: registry.reasoningFormat(line.parser), ...tool};
}

function contextOf(line: RecordedLine): ParserContext {
  const tools = (line.tools ?? []).map((tool) => tool.function);
  return parserContext({
    tools,
    ...(line.tool_choice == null ? {} : {toolChoice: toolChoiceOf(line.tool_choice)}),
    chatTemplateKwargs: line.chat_template_kwargs ?? {},
    includeReasoning: line.include_reasoning ?? true,
    promptTail: line.prompt_tail ?? '',
    responseTemplate: line.response_template,
    keepsForbiddenCalls: true,
  });
}

function toolChoiceOf(choice: WireToolChoice): ParserToolChoice {
  return typeof choice === 'object' ? {name: choice.function.name} : choice;
}

function rethrow(error: unknown): never {
  throw error;
}
