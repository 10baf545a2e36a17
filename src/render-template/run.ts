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

/** The two sides differ, or a row of a batch missed what it expects. */
const differsExitCode = 3;

/** @throws UsageError, ModelError, ValidationError, TemplateError */
export async function runRenderTemplate(options: RunOptions, context: RunContext): Promise<number> {
  if (options.list) return listTemplates(options, context);
  if (options.batch !== null) return runBatch(options.batch, options, context);
  const request = await readRequest(options, context.readText);
  if (options.diff !== null) return runDiff(options.diff, request, options, context);
  context.write(output(await renderOnce(options.model, request, options), options, context));
  return 0;
}

function output(rendering: Rendering, options: RunOptions, {isTerminal, palette}: RunContext): string {
  if (options.json) return `${writeJson(renderingJson(rendering))}\n`;
  if (options.ids) return `${JSON.stringify(neededTokens(rendering, '--ids').map(({id}) => id))}\n`;
  const asksForView = options.tokens || options.spans || options.vars || options.whitespace;
  if (options.text || !(isTerminal || asksForView)) return rendering.text;
  return `${renderingView(rendering, {...options, palette})}\n`;
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
  const other = otherSide(what, request, options);
  const [before, after] = [
    await renderOnce(options.model, request, options),
    await renderOnce(options.model, other.request, other.options),
  ];
  const lines = diffLines(before.text, after.text);
  const differs = before.text !== after.text;
  if (options.json) context.write(`${writeJson(diffJson(differs, before, after))}\n`);
  else if (differs) context.write(diffView(lines, other.label, context.palette));
  else context.writeError(`no difference ${other.label}`);
  return differs ? differsExitCode : 0;
}

function diffJson(differs: boolean, before: Rendering, after: Rendering): Record<string, unknown> {
  const side = ({text, tokens}: Rendering) => ({prompt: text, token_count: tokens?.length ?? null});
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
