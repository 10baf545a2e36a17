/**
 * Runs our parsers on a line of the recorded parser data (`golden/README-parsers.md`): as one text or piece by piece,
 * folded the way a client joins deltas. The data's own judge compares.
 */

import type {ToolSpec} from '../../src/core/parsers/output-parser.ts';
import {ParserRegistry} from '../../src/core/parsers/registry.ts';
import {parseLine as parseBatchLine} from '../../src/parse-output/batch.ts';

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

/** As `parlance parse-output --batch` does it. */
export function parseLine(line: RecordedLine, chunks: readonly string[] | null): ParsedLine {
  return parseBatchLine({...line, chunks: chunks && [...chunks]}, registry);
}

export function isKnown(kind: LineKind, line: RecordedLine): boolean {
  const names = kind === 'tool' ? registry.toolNames : registry.reasoningNames;
  return names.includes(line.parser) && (line.tool_parser == null || registry.toolNames.includes(line.tool_parser));
}
