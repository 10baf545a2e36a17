/**
 * `--batch`: recorded outputs as JSON lines in, what the parsers make of them as JSON lines out. A line with `chunks` is
 * streamed and folded, one with `output` alone is parsed whole.
 */
import * as z from 'zod';
import {UsageError, ValidationError} from '../core/errors.ts';
import type {OutputFormats} from '../core/parsers/create-output-parser.ts';
import type {ParserContext} from '../core/parsers/output-parser.ts';
import type {ParserRegistry} from '../core/parsers/registry.ts';
import {toolSpecs} from '../core/parsers/tool-specs.ts';
import {messageFields, parseText} from './parse-text.ts';
import {sampleTemplate} from './sample-templates.ts';
import {readFields, readJsonText, toolChoiceSchema, toolListSchema, toParserChoice} from './wire-fields.ts';

const lineSchema = z.object({
  name: z.string().nullish(),
  /** Of calls, or of thoughts in a line that has `tool_parser` or `prompt_tail`. */
  parser: z.string().nullish(),
  tool_parser: z.string().nullish(),
  reasoning_parser: z.string().nullish(),
  tools: toolListSchema.nullish(),
  tool_choice: toolChoiceSchema.nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  include_reasoning: z.boolean().nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  prompt_tail: z.string().nullish(),
  response_template: z.unknown().optional(),
  finish: z.enum(['stop', 'length']).nullish(),
  chunks: z.array(z.string()).nullish(),
  output: z.string().nullish(),
});

export type BatchLine = z.infer<typeof lineSchema>;

export interface BatchResult {
  name: string | null;
  content: string | null;
  reasoning: string | null;
  tool_calls: {name: string; arguments: string}[];
  /** For each call, its arguments after every piece. */
  prefixes: string[][];
}

/** One result for each line that is not blank. @throws UsageError with the number of a line that is wrong */
export function* parseBatch(text: string, file: string, registry: ParserRegistry): Generator<BatchResult> {
  for (const [index, row] of text.split('\n').entries()) {
    if (row.trim() === '') continue;
    const source = `${file}:${index + 1}`;
    yield parseNamed(readFields(lineSchema, readJsonText(row, source), source), source, registry);
  }
}

function parseNamed(line: BatchLine, source: string, registry: ParserRegistry): BatchResult {
  try {
    return parseLine(line, registry);
  } catch (error) {
    if (error instanceof ValidationError) throw new UsageError(`${source}: ${error.message}`, {cause: error});
    throw error;
  }
}

/** @throws ValidationError for a format that does not exist */
export function parseLine(line: BatchLine, registry: ParserRegistry): BatchResult {
  const result = parseText({
    formats: formatsOf(line, registry),
    context: contextOf(line),
    pieces: line.chunks ?? [line.output ?? ''],
    finish: line.finish ?? 'stop',
  });
  return {name: line.name ?? null, ...messageFields(result.folded), prefixes: result.prefixes};
}

function formatsOf(line: BatchLine, registry: ParserRegistry): OutputFormats {
  const {tool, reasoning} = formatNames(line, registry);
  return {
    ...(tool && {tool: registry.toolFormat(tool)}),
    ...(reasoning && {reasoning: registry.reasoningFormat(reasoning)}),
  };
}

function formatNames(line: BatchLine, registry: ParserRegistry) {
  const {parser, tool_parser: toolParser, reasoning_parser: reasoning} = line;
  if (!parser) return {tool: toolParser, reasoning};
  if (reasoning || !isAboutThoughts(line, registry)) return {tool: parser, reasoning};
  return {tool: toolParser, reasoning: parser};
}

/** Many names are those of both kinds. */
function isAboutThoughts(line: BatchLine, {toolNames}: ParserRegistry): boolean {
  const {parser, tool_parser: toolParser, prompt_tail: promptTail} = line;
  return typeof toolParser === 'string' || typeof promptTail === 'string' || !toolNames.includes(parser ?? '');
}

function contextOf(line: BatchLine): Partial<ParserContext> {
  return {
    tools: toolSpecs(line.tools ?? []),
    ...(line.tool_choice && {toolChoice: toParserChoice(line.tool_choice)}),
    chatTemplateKwargs: line.chat_template_kwargs ?? {},
    includeReasoning: line.include_reasoning ?? true,
    parallelToolCalls: line.parallel_tool_calls ?? true,
    promptTail: line.prompt_tail ?? '',
    responseTemplate: line.response_template ?? sampleTemplate(line.parser, line.tool_parser, line.reasoning_parser),
    keepsForbiddenCalls: true,
  };
}
