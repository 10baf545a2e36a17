/**
 * `--batch`: JSON lines in, JSON lines out. Each row brings its own template and the variables as they are handed to it;
 * a row that says what it expects is checked, so that templates can have regression tests.
 */
import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {dirname, join, resolve} from 'node:path';
import {TemplateError, UsageError, ValidationError} from '../core/errors.ts';
import {type ChatTemplate, ChatTemplateCache} from '../core/renderer/chat-template.ts';
import {renderOpenConversation} from '../core/renderer/continue-final-message.ts';
import type {ConversationMessage} from '../core/renderer/normalize-messages.ts';
import {isPlainObject, JsonSyntaxError, parseJson} from '../core/util/parse-json.ts';

export interface BatchRow {
  name?: string;
  /** A file, looked for beside the batch file and in its folder `templates`, or the text itself. */
  template?: string;
  messages: ConversationMessage[];
  tools?: unknown;
  documents?: unknown;
  kwargs?: Record<string, unknown>;
  add_generation_prompt?: boolean;
  continue_final_message?: boolean;
  expected?: string;
  error?: string;
  /** Kind of the expected error; the text of Python's own kinds is not compared. */
  etype?: string;
}

export interface BatchResult {
  name: string;
  prompt?: string;
  error?: string;
  line?: number;
  column?: number;
  /** Whether the row got what it expects; absent when it expects nothing. */
  ok?: boolean;
}

export interface BatchOptions {
  /** Name of the batch file, for messages and to find templates. */
  file: string;
  /** For rows without a template. */
  defaultTemplate: string | null;
  now: () => Date;
}

/** Kinds of errors whose text a template or the renderer chose. */
const comparedErrors: readonly (string | undefined)[] = [undefined, 'TemplateError', 'ValueError'];

/**
 * One result for each row, in their order.
 * @throws UsageError for a row that is none, or whose template does not exist
 */
export async function* renderBatch(text: string, options: BatchOptions): AsyncGenerator<BatchResult, void, undefined> {
  const cache = new ChatTemplateCache();
  const sources = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const row = readRow(line, `${options.file}:${index + 1}`);
    const name = row.name ?? String(index + 1);
    const source = await sourceOf(row, {...options, sources, place: `${options.file}:${index + 1}`});
    yield checked({name, ...renderRow(row, () => cache.get(source), options.now)}, row);
  }
}

function readRow(line: string, place: string): BatchRow {
  try {
    const row = parseJson(line);
    if (isPlainObject(row) && Array.isArray(row.messages)) return row as unknown as BatchRow;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new UsageError(`${place} is no JSON: ${error.message}`, {cause: error});
  }
  throw new UsageError(`${place} has no list "messages"`);
}

async function sourceOf(
  {template}: BatchRow,
  {file, defaultTemplate, sources, place}: BatchOptions & {sources: Map<string, string>; place: string},
): Promise<string> {
  const name = template ?? defaultTemplate;
  if (name === null) throw new UsageError(`${place} has no template`, {hint: 'add --chat-template FILE'});
  if (/[{}\n]/.test(name)) return name;
  const known = sources.get(name);
  if (known !== undefined) return known;
  const folder = file === '-' ? '.' : dirname(file);
  const places = [resolve(folder, name), join(folder, 'templates', name), resolve(name)];
  const path = places.find((candidate) => existsSync(candidate));
  if (path === undefined) throw new UsageError(`${place}: there is no template ${name}`);
  const source = await readFile(path, 'utf8');
  sources.set(name, source);
  return source;
}

function renderRow(row: BatchRow, open: () => ChatTemplate, now: () => Date): Omit<BatchResult, 'name'> {
  try {
    const template = open();
    const {messages, tools = null, documents = null, add_generation_prompt = false, kwargs} = row;
    const render = (shown: readonly ConversationMessage[]) =>
      template.render({messages: shown, tools, documents, add_generation_prompt, ...kwargs}, {now});
    const isOpen = row.continue_final_message === true;
    return {prompt: isOpen ? renderOpenConversation(messages, template.source, render) : render(messages)};
  } catch (error) {
    if (error instanceof ValidationError) return {error: error.message};
    if (!(error instanceof TemplateError)) throw error;
    const {line, column} = error;
    return {error: error.message, ...(line === null || column === null ? {} : {line, column})};
  }
}

function checked(result: BatchResult, row: BatchRow): BatchResult {
  if (row.expected !== undefined) return {...result, ok: result.prompt === row.expected};
  if (row.error === undefined) return result;
  const isAlike = !comparedErrors.includes(row.etype) || result.error === row.error;
  return {...result, ok: result.error !== undefined && isAlike};
}
