/**
 * `parlance parse-output`: what the parsers of the server make of a model's raw output. Options and a reader of files in,
 * text out; the same code runs on single outputs and on batches.
 */
import {UsageError} from '../core/errors.ts';
import {loadAnswerFormats} from '../core/load-answer-formats.ts';
import type {OutputFormats} from '../core/parsers/create-output-parser.ts';
import type {ToolFormat} from '../core/parsers/format.ts';
import type {ParserToolChoice, ToolSpec} from '../core/parsers/output-parser.ts';
import {loadParserPlugin} from '../core/parsers/parser-plugin.ts';
import {ParserRegistry} from '../core/parsers/registry.ts';
import {toolSpecs} from '../core/parsers/tool-specs.ts';
import type {Logger} from '../core/util/logger.ts';
import {parseBatch} from './batch.ts';
import type {ParseOutputOptions} from './options.ts';
import {cutText, messageFields, type ParseResult, parseText} from './parse-text.ts';
import {deltaLines, resultLines} from './report.ts';
import {sampleTemplate} from './sample-templates.ts';
import {readFields, readJsonText, toolListSchema} from './wire-fields.ts';

export interface RunOptions extends ParseOutputOptions {
  /** File with the output; `-` is stdin, null = nothing was named. */
  file: string | null;
  json: boolean;
}

export interface RunContext {
  /** Text of a file; `-` is stdin. @throws UsageError */
  readText: (name: string) => Promise<string>;
  write: (line: string) => void;
  /** How titles look. */
  heading: (text: string) => string;
  logger: Logger;
}

const NOTHING_TO_READ = 'there is no output to read';
const READ_HINT = 'name a file, or pipe one: cat answer.txt | parlance parse-output --tool-call-parser hermes';
const NO_PARSER = 'no parser was named, so all of the output is content';
const PARSER_HINT = 'give --tool-call-parser NAME or --reasoning-parser NAME; --list names them all';

/** @throws UsageError */
export async function runParseOutput(options: RunOptions, context: RunContext): Promise<void> {
  if (options.list) return writeNames(await createRegistry(options), options, context);
  if (options.batch !== null) return runBatch(options.batch, options, context);
  const result = await parseOne(options, context);
  for (const line of outputLines(result, options, context)) context.write(line);
}

function writeNames(registry: ParserRegistry, {json}: RunOptions, {write}: RunContext): void {
  const {toolNames, reasoningNames} = registry;
  if (json) return write(JSON.stringify({tool: toolNames, reasoning: reasoningNames}));
  write(`--tool-call-parser (${toolNames.length}): ${toolNames.join(' ')}`);
  write(`--reasoning-parser (${reasoningNames.length}): ${reasoningNames.join(' ')}`);
}

async function runBatch(file: string, options: RunOptions, {readText, write}: RunContext): Promise<void> {
  const registry = await createRegistry(options);
  for (const result of parseBatch(await readText(file), file, registry)) write(JSON.stringify(result));
}

async function createRegistry({toolParserPlugin, reasoningParserPlugin}: RunOptions): Promise<ParserRegistry> {
  const registry = new ParserRegistry();
  const plugins = {'--tool-parser-plugin': toolParserPlugin, '--reasoning-parser-plugin': reasoningParserPlugin};
  for (const [flag, file] of Object.entries(plugins)) {
    for (const format of file === null ? [] : await loadParserPlugin(flag, file)) registry.add(format);
  }
  return registry;
}

async function parseOne(options: RunOptions, context: RunContext): Promise<ParseResult> {
  const formats = await chosenFormats(options, context);
  if (options.file === null) throw new UsageError(NOTHING_TO_READ, {hint: READ_HINT});
  const tools = options.tools === null ? [] : await readTools(options.tools, context);
  const output = await context.readText(options.file);
  return parseText({
    formats,
    context: {
      tools,
      toolChoice: chosenToolChoice(options, tools),
      parallelToolCalls: options.parallelToolCalls,
      includeReasoning: options.includeReasoning,
      chatTemplateKwargs: options.chatTemplateKwargs ?? {},
      promptTail: options.promptTail ?? '',
      responseTemplate: sampleTemplate(options.toolCallParser, options.reasoningParser),
    },
    pieces: options.stream ? cutText(output, options.pieceLength) : [output],
    finish: options.finish,
  });
}

async function chosenFormats(options: RunOptions, {readText, logger}: RunContext): Promise<OutputFormats> {
  const isAuto = [options.toolCallParser, options.reasoningParser].includes('auto');
  if (isAuto && options.chatTemplate === null) {
    throw new UsageError('auto needs a chat template to look at', {hint: 'give --chat-template FILE'});
  }
  const template = options.chatTemplate === null ? null : await readText(options.chatTemplate);
  const answers = {
    ...options,
    enableAutoToolChoice: options.toolCallParser !== null,
    stopSparesReasoning: false,
    toolStrictLevel: null,
    enforcesStrictToolCalling: true,
  };
  const responseTemplate = sampleTemplate(options.toolCallParser, options.reasoningParser);
  const formats = await loadAnswerFormats(answers, {template, responseTemplate, logger});
  if (formats === null && !isAuto) throw new UsageError(NO_PARSER, {hint: PARSER_HINT});
  const {tool = null, reasoning = null} = formats ?? {};
  return {...(tool && {tool: asWritten(tool, options)}), ...(reasoning && {reasoning})};
}

/** Calls are looked for in the format's own markup unless the choice says that JSON was demanded. */
function asWritten(tool: ToolFormat, {toolChoice}: RunOptions): ToolFormat {
  return toolChoice === null ? {...tool, forcedCalls: 'native'} : tool;
}

/** A list, or a request with one. */
async function readTools(file: string, {readText}: RunContext): Promise<ToolSpec[]> {
  const value = readJsonText(await readText(file), file);
  const list = Array.isArray(value) ? value : (value as {tools?: unknown} | null)?.tools;
  return toolSpecs(readFields(toolListSchema, list, file));
}

const FIXED_CHOICES = ['none', 'auto', 'required'] as const;

/** Somebody who looks at an output wants to see its calls, also without tools. */
function chosenToolChoice({toolChoice, toolCallParser}: RunOptions, tools: readonly ToolSpec[]): ParserToolChoice {
  if (toolChoice === null) return toolCallParser === null ? 'none' : tools.length > 0 ? 'auto' : 'required';
  const fixed = FIXED_CHOICES.find((choice) => choice === toolChoice);
  if (fixed !== undefined || tools.some(({name}) => name === toolChoice)) return fixed ?? {name: toolChoice};
  throw new UsageError(`--tool-choice ${toolChoice} is neither none, auto, required nor one of the tools`, {
    hint: tools.length > 0 ? `the tools are: ${tools.map(({name}) => name).join(', ')}` : 'name them with --tools FILE',
  });
}

function outputLines(result: ParseResult, {json, stream}: RunOptions, {heading}: RunContext): string[] {
  if (!json) return stream ? deltaLines(result.deltas) : resultLines(result, heading);
  if (stream) return result.deltas.map((delta) => JSON.stringify(delta));
  return [JSON.stringify(messageFields(result.folded))];
}
