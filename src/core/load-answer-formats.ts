/**
 * From the options of a server to the formats that its answers are read with: plugins first, then the names, or what the
 * chat template gives away. Whatever cannot be used is refused here, before the first request.
 */
import type {AnswerFormats} from './answer-reader.ts';
import type {StrictLevel} from './call-constraint.ts';
import {UsageError, ValidationError} from './errors.ts';
import type {Tokenizer} from './model/tokenizer.ts';
import {hasCallTag} from './parsers/call-tags/calls-as-tag.ts';
import {detectFormats} from './parsers/detect-formats.ts';
import type {ToolFormat} from './parsers/format.ts';
import {loadParserPlugin} from './parsers/parser-plugin.ts';
import {ParserRegistry} from './parsers/registry.ts';
import {checkResponseTemplate} from './parsers/response-template/formats.ts';
import {fieldNamed} from './parsers/response-template/template.ts';
import {templateSpelling} from './parsers/response-template/template-spelling.ts';
import type {Logger} from './util/logger.ts';

export interface AnswerOptions {
  enableAutoToolChoice: boolean;
  /** A name or `auto`; null = none. */
  toolCallParser: string | null;
  toolParserPlugin: string | null;
  /** A name, `auto` or `none`; null = none. */
  reasoningParser: string | null;
  reasoningParserPlugin: string | null;
  stopSparesReasoning: boolean;
  /** Null = as the format has it. */
  toolStrictLevel: StrictLevel | null;
  /** False: calls that a request demands come as JSON, whatever the format. */
  enforcesStrictToolCalling: boolean;
}

export interface FormatSources {
  /** The chat template of requests without and with tools; null = none. */
  template: string | null;
  /** Of the tokenizer's configuration. */
  responseTemplate: unknown;
  logger: Logger;
}

/** The word that asks for the format that the template gives away. */
const AUTO = 'auto';

/** @returns null when answers are text only @throws UsageError */
export async function loadAnswerFormats(options: AnswerOptions, sources: FormatSources): Promise<AnswerFormats | null> {
  const registry = await createRegistry(options);
  const names = chosenNames(options, sources);
  refusePairs(names);
  checkDescription(names, sources.responseTemplate);
  const tool = names.tool === null ? null : used(() => registry.toolFormat(names.tool!));
  const reasoning = names.reasoning === null ? null : used(() => registry.reasoningFormat(names.reasoning!));
  if (tool === null && reasoning === null) return null;
  const {stopSparesReasoning} = options;
  return {
    tool: tool && withEnforcement(withSpelling(tool, sources.responseTemplate), options),
    reasoning,
    stopSparesReasoning,
    strictLevel: options.toolStrictLevel ?? ownStrictLevel(tool),
    responseTemplate: sources.responseTemplate,
    logger: sources.logger,
  };
}

async function createRegistry({toolParserPlugin, reasoningParserPlugin}: AnswerOptions): Promise<ParserRegistry> {
  const registry = new ParserRegistry();
  const plugins = [
    ['--tool-parser-plugin', toolParserPlugin],
    ['--reasoning-parser-plugin', reasoningParserPlugin],
  ] as const;
  for (const [flag, file] of plugins) {
    if (file === null) continue;
    for (const format of await loadParserPlugin(flag, file)) registry.add(format);
  }
  return registry;
}

interface ChosenNames {
  tool: string | null;
  reasoning: string | null;
}

function chosenNames(options: AnswerOptions, sources: FormatSources): ChosenNames {
  const found = detectFormats(sources.template ?? '');
  return {
    tool: chooseTool(options, found.tool, sources.logger),
    reasoning: chooseReasoning(options, found.reasoning, sources.logger),
  };
}

function chooseTool(options: AnswerOptions, found: string | null, logger: Logger): string | null {
  const {toolCallParser: name, enableAutoToolChoice} = options;
  if (name === AUTO) return detected('tool calls', '--tool-call-parser', found, logger);
  if (name !== null && !enableAutoToolChoice) {
    logger.warn({}, `--tool-call-parser ${name} does nothing without --enable-auto-tool-choice`);
  }
  return enableAutoToolChoice ? name : null;
}

function chooseReasoning({reasoningParser: name}: AnswerOptions, found: string | null, logger: Logger): string | null {
  if (name === AUTO) return detected('thoughts', '--reasoning-parser', found, logger);
  return name === null || name.toLowerCase() === 'none' ? null : name;
}

function detected(what: string, flag: string, found: string | null, logger: Logger): string | null {
  if (found === null) logger.warn({}, `${flag} auto: the chat template gives no known format of ${what} away`);
  else logger.info({}, `${flag} auto: the chat template speaks of ${what} in the format ${found}`);
  return found;
}

/** Formats that the checkpoint describes read everything themselves. */
const DESCRIBED_BY_CHECKPOINT = ['hf', 'beam'];

function refusePairs({tool, reasoning}: ChosenNames): void {
  if (tool === null || reasoning === null || tool === reasoning) return;
  if (![tool, reasoning].some((name) => DESCRIBED_BY_CHECKPOINT.includes(name))) return;
  throw new UsageError(`--reasoning-parser ${reasoning} and --tool-call-parser ${tool} cannot be combined`);
}

/** The checkpoint must describe what a format of its own is to read. */
function checkDescription({tool, reasoning}: ChosenNames, responseTemplate: unknown): void {
  const wanted = [
    {flag: '--reasoning-parser', name: reasoning, field: 'thinking'},
    {flag: '--tool-call-parser', name: tool, field: 'tool_calls'},
  ].filter(({name}) => name !== null && DESCRIBED_BY_CHECKPOINT.includes(name));
  if (wanted.length === 0) return;
  if (responseTemplate === undefined || responseTemplate === null) {
    const flags = wanted.map(({flag, name}) => `${flag} ${name}`).join(' ');
    throw new UsageError(`${flags} requires \`response_template\` metadata in the tokenizer configuration`);
  }
  const template = used(() => checkResponseTemplate(responseTemplate));
  const missing = wanted.find(({field}) => fieldNamed(template, field) === undefined);
  if (missing === undefined) return;
  const {flag, name, field} = missing;
  throw new UsageError(`${flag} ${name} requires a response_template with a ${field} field`);
}

/** An unknown name is a mistake of the command line. */
function used<T>(find: () => T): T {
  try {
    return find();
  } catch (error) {
    if (error instanceof ValidationError) throw new UsageError(error.message, {cause: error});
    throw error;
  }
}

/**
 * Warns of markers that the tokenizer does not have as tokens: they are recognised in the text, which a model that was
 * trained on other markers never writes.
 */
export function warnOfMissingTokens(
  formats: Pick<AnswerFormats, 'tool' | 'reasoning'> | null,
  tokenizer: Pick<Tokenizer, 'tokenToId'>,
  logger: Logger,
): void {
  for (const format of [formats?.tool, formats?.reasoning]) {
    const missing = (format?.expectedTokens ?? []).filter((token) => tokenizer.tokenToId(token) === null);
    if (!format || missing.length === 0) continue;
    const name = `${format.kind === 'tool' ? 'tool call' : 'reasoning'} parser ${format.names[0]}`;
    logger.warn({}, `the tokenizer has no token ${missing.join(' and ')}: the ${name} looks for that text instead`);
  }
}

/** `beam` holds calls to what the checkpoint describes; a description that is too free demands none. */
function withSpelling(tool: ToolFormat, responseTemplate: unknown): ToolFormat {
  if (tool.names[0] !== 'beam') return tool;
  const callSpelling = templateSpelling(responseTemplate);
  return callSpelling === null ? {...tool, forcedCalls: 'refused'} : {...tool, callSpelling};
}

/** Calls come as JSON when they cannot be held to the markup, or are not to be. */
function withEnforcement(tool: ToolFormat, {enforcesStrictToolCalling}: AnswerOptions): ToolFormat {
  if (tool.forcedCalls !== 'native' || (enforcesStrictToolCalling && hasCallTag(tool))) return tool;
  return {...tool, forcedCalls: 'json'};
}

/** Formats whose calls of unknown functions are lost. */
const HELD_TO_FUNCTIONS = ['glm45', 'glm47', 'ling3'];

function ownStrictLevel(tool: ToolFormat | null): StrictLevel {
  return tool?.names.some((name) => HELD_TO_FUNCTIONS.includes(name)) ? 'function' : 'auto';
}
