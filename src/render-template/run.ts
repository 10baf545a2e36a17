/**
 * `parlance render-template` without the terminal: options in, text out through the given ways, exit code back. Which
 * task it is (list, batch, comparison, one rendering) is decided here, once.
 */
import {basename} from 'node:path';
import {UsageError} from '../core/errors.ts';
import type {ChatCompletionRequest} from '../core/protocol/openai/chat-completion.ts';
import {writeJson} from '../core/util/write-json.ts';
import {renderBatch} from './batch.ts';
import {otherSide} from './compare.ts';
import {type DiffLine, diffLines, withContext} from './diff-lines.ts';
import {openModel} from './open-model.ts';
import type {RenderTemplateOptions} from './options.ts';
import type {Palette} from './paint.ts';
import {table} from './paint.ts';
import {type ReadText, readRequest} from './read-request.ts';
import {renderRemotely} from './remote.ts';
import {clockOf} from './render-prompt-text.ts';
import {neededTokens, type Rendering, renderingJson, renderingView, renderOnce} from './rendering.ts';

export interface RunOptions extends RenderTemplateOptions {
  model: string | null;
  json: boolean;
}

export interface RunContext {
  readText: ReadText;
  /** The result, byte for byte. */
  write(text: string): void;
  /** A line for the person. */
  writeError(line: string): void;
  /** Whether a person reads the result. */
  isTerminal: boolean;
  palette: Palette;
}

/** Flags that show more than the prompt. */
const viewFlags = ['tokens', 'spans', 'vars', 'whitespace', 'mask', 'check', 'analyze'] as const;

/** The two sides differ, or a row of a batch missed what it expects. */
const differsExitCode = 3;

/** @throws UsageError, ModelError, ValidationError, TemplateError */
export async function runRenderTemplate(options: RunOptions, context: RunContext): Promise<number> {
  if (options.list) return listTemplates(options, context);
  if (options.batch !== null) return runBatch(options.batch, options, context);
  const request = await readRequest(options, context.readText);
  if (options.diff !== null) return runDiff(options.diff, request, options, context);
  if (options.url !== null) return runRemotely(options.url, request, options, context);
  context.write(await output(await renderOnce(options.model, request, options), options, context));
  return 0;
}

/** What a server makes of the request: only text and ids are known. */
async function runRemotely(
  url: string,
  request: ChatCompletionRequest,
  {json, ids}: RunOptions,
  context: RunContext,
): Promise<number> {
  const {text, tokenIds} = await renderRemotely(url, request);
  if (json) context.write(`${writeJson({prompt: text, token_ids: tokenIds, token_count: tokenIds.length})}\n`);
  else context.write(ids ? `${JSON.stringify(tokenIds)}\n` : text);
  return 0;
}

async function output(rendering: Rendering, options: RunOptions, {isTerminal, palette}: RunContext): Promise<string> {
  if (options.json) return `${writeJson(await renderingJson(rendering))}\n`;
  if (options.ids) return `${JSON.stringify(neededTokens(rendering, '--ids').map(({id}) => id))}\n`;
  const asksForView = viewFlags.some((flag) => options[flag]);
  if (options.text || !(isTerminal || asksForView)) return rendering.text;
  return `${await renderingView(rendering, {...options, palette})}\n`;
}

async function listTemplates({model: name, chatTemplate, json}: RunOptions, {write}: RunContext): Promise<number> {
  const {templates, files} = await openModel(name, chatTemplate);
  const rows = [...templates.named].map(([template, source]) => ({
    name: template,
    path: pathOf(template),
    characters: source.length,
  }));
  function pathOf(template: string): string {
    return files?.additionalTemplatePaths.get(template) ?? files?.chatTemplatePath ?? templates.source;
  }
  if (json) write(`${JSON.stringify({templates: rows})}\n`);
  else if (rows.length === 0)
    throw new UsageError(`${name} has no chat template`, {hint: 'give one with --chat-template FILE'});
  else {
    const cells = rows.map(({name: template, path, characters}) => [template, String(characters), path]);
    write(`${table([['name', 'characters', 'file'], ...cells]).join('\n')}\n`);
  }
  return 0;
}

async function runBatch(file: string, options: RunOptions, context: RunContext): Promise<number> {
  const text = await context.readText(file);
  const results = renderBatch(text, {file, defaultTemplate: options.chatTemplate, now: clockOf(options.date)});
  let [numRows, numChecked, numMissed] = [0, 0, 0];
  for await (const result of results) {
    context.write(`${JSON.stringify(result)}\n`);
    numRows++;
    if (result.ok !== undefined) numChecked++;
    if (result.ok === false) {
      numMissed++;
      context.writeError(`${result.name}: not as expected`);
    }
  }
  const verdict = numChecked === 0 ? '' : `, ${numChecked - numMissed} of ${numChecked} as expected`;
  context.writeError(`${basename(file)}: ${numRows} rows${verdict}`);
  return numMissed === 0 ? 0 : differsExitCode;
}

async function runDiff(
  what: string,
  request: ChatCompletionRequest,
  options: RunOptions,
  context: RunContext,
): Promise<number> {
  const before = await renderOnce(options.model, request, options);
  const {label, ...after} = await otherRendering(what, request, options);
  const lines = diffLines(before.text, after.text);
  const differs = before.text !== after.text;
  if (options.json) context.write(`${writeJson(diffJson(differs, before, after))}\n`);
  else if (differs) context.write(diffView(lines, label, context.palette));
  else context.writeError(`no difference ${label}`);
  return differs ? differsExitCode : 0;
}

/** The side that a comparison is made with; `url` = the server of `--url`. */
async function otherRendering(
  what: string,
  request: ChatCompletionRequest,
  options: RunOptions,
): Promise<Side & {label: string}> {
  if (what !== 'url') {
    const other = otherSide(what, request, options);
    const {text, tokens} = await renderOnce(options.model, other.request, other.options);
    return {label: other.label, text, tokens};
  }
  if (options.url === null) throw new UsageError('--diff url needs a server', {hint: 'give one with --url'});
  const {text, tokenIds} = await renderRemotely(options.url, request);
  return {label: `as ${options.url} renders it`, text, tokens: tokenIds};
}

/** What a comparison needs of a rendering. */
interface Side {
  text: string;
  tokens: readonly unknown[] | null;
}

function diffJson(differs: boolean, before: Side, after: Side): Record<string, unknown> {
  const side = ({text, tokens}: Side) => ({prompt: text, token_count: tokens?.length ?? null});
  return {differs, before: side(before), after: side(after)};
}

const signs: Readonly<Record<DiffLine['kind'], string>> = {same: ' ', removed: '-', added: '+'};

function diffView(lines: readonly DiffLine[], label: string, palette: Palette): string {
  const head = [palette.removed('--- as given'), palette.added(`+++ ${label}`)];
  const body = withContext(lines).map((line) => (line === '…' ? palette.dim('…') : diffLine(line, palette)));
  return `${[...head, ...body].join('\n')}\n`;
}

function diffLine({kind, text}: DiffLine, palette: Palette): string {
  const shown = signs[kind] + text;
  return kind === 'same' ? shown : palette[kind](shown);
}
