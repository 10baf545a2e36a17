/** Everything that is known about one rendered prompt, and its forms: JSON for scripts, lines for a person. */
import {createHash} from 'node:crypto';
import {isAbsolute, relative} from 'node:path';
import {UsageError} from '../core/errors.ts';
import {sourceText} from '../core/model/prompt-parts.ts';
import type {Tokenizer} from '../core/model/tokenizer.ts';
import type {ChatCompletionRequest} from '../core/protocol/openai/chat-completion.ts';
import {templateVariables} from '../core/renderer/template-variables.ts';
import {codePointLength} from '../core/util/python-text.ts';
import {analysisRows, analyze} from './analyze.ts';
import {findWarnings} from './check.ts';
import {type OpenedModel, openModel} from './open-model.ts';
import type {RenderTemplateOptions} from './options.ts';
import {type Palette, paintPrompt, spanTable, table, tokenTable} from './paint.ts';
import {countTokens, type PromptToken, tokenizePrompt} from './prompt-tokens.ts';
import {findSpans, openRenderer, type PromptRenderer, type Span} from './render-prompt-text.ts';

export interface Rendering {
  text: string;
  spans: Span[];
  /** Null where there is no tokenizer, and when nobody asked for tokens. */
  tokens: PromptToken[] | null;
  renderer: PromptRenderer;
  model: OpenedModel;
  request: ChatCompletionRequest;
  /** Control tokens of the vocabulary; without tokenizer the special tokens that the configuration names. */
  controlTexts: string[];
  variables: VariableUse[];
  /** `[start, end]` of what `generation` blocks write, in UTF-16 units. */
  generated: [number, number][];
  options: RenderTemplateOptions;
}

export interface VariableUse {
  name: string;
  /** Whether the template reads it. */
  isRead: boolean;
  isGiven: boolean;
}

/** @throws UsageError, ModelError, ValidationError, TemplateError */
export async function renderOnce(
  modelName: string | null,
  request: ChatCompletionRequest,
  options: RenderTemplateOptions,
): Promise<Rendering> {
  const model = await openModel(modelName, options.chatTemplate);
  const renderer = await openRenderer(model, options, request);
  const source = await renderer.render(request);
  const text = sourceText(source);
  const spans = await findSpans(request, text, renderer);
  const tokenizer = options.text ? null : await model.tokenizer();
  const tokens = tokenizer && (await tokenizePrompt(source, spans, {tokenizer, text}));
  const controlTexts = controlTextsOf(model, tokenizer);
  return {
    text,
    spans,
    tokens,
    renderer,
    model,
    request,
    controlTexts,
    variables: variablesOf(renderer, model, request),
    generated: await renderer.generated(request),
    options,
  };
}

function controlTextsOf({specialTokens}: OpenedModel, tokenizer: Tokenizer | null): string[] {
  return tokenizer === null ? [...specialTokens.values()] : tokenizer.controlTokens.map(({text}) => text);
}

function variablesOf({template}: PromptRenderer, model: OpenedModel, request: ChatCompletionRequest): VariableUse[] {
  if (template === null) return [];
  const given = {messages: [], ...templateVariables(request, {kwargs: {}, specialTokens: model.specialTokens})};
  const isGiven = (name: string) => (given as Record<string, unknown>)[name] !== undefined;
  const kwargs = Object.keys(request.chat_template_kwargs ?? {});
  const names = [...new Set([...template.variables, ...kwargs])].sort();
  return names.map((name) => ({name, isRead: template.variables.has(name), isGiven: isGiven(name)}));
}

/** Keys in the order in which they are printed. */
export async function renderingJson(rendering: Rendering): Promise<Record<string, unknown>> {
  const {text, spans, tokens, renderer, variables, options} = rendering;
  return {
    prompt: text,
    token_ids: tokens?.map(({id}) => id) ?? null,
    token_count: tokens?.length ?? null,
    tokens: tokens?.map(tokenJson) ?? null,
    spans: spans.map((span) => ({...span, token_count: tokens && countTokens(tokens, span)})),
    generation_prompt: generationPrompt(rendering),
    template: {source: renderer.origin, sha256: hashOf(renderer)},
    content_format: renderer.contentFormat,
    variables: variables.map(({name, isRead, isGiven}) => ({name, read: isRead, given: isGiven})),
    generation_mask: generationMask(rendering),
    warnings: await findWarnings(rendering),
    ...(options.analyze ? {analysis: await analyze(renderer)} : {}),
  };
}

function tokenJson({index, id, text, isWhole, isSpecial, offset, message}: PromptToken) {
  return {index, id, ...(isWhole ? {text} : {bytes: text}), special: isSpecial, offset, message};
}

/** For each token whether it begins inside a `generation` block; null without such blocks or without tokens. */
function generationMask({generated, tokens, text}: Rendering): number[] | null {
  if (generated.length === 0 || tokens === null) return null;
  const ranges = generated.map((range) => range.map((end) => codePointLength(text.slice(0, end))));
  return tokens.map(({offset: [at]}) => (ranges.some(([start, end]) => start! <= at && at < end!) ? 1 : 0));
}

function generationPrompt({text, spans}: Rendering): string {
  const span = spans.find(({message}) => message === null);
  return span ? text.slice(span.start, span.end) : '';
}

function hashOf({template}: PromptRenderer): string | null {
  return template && createHash('sha256').update(template.source).digest('hex');
}

export interface ViewOptions extends RenderTemplateOptions {
  palette: Palette;
}

/** What a person reads; the prompt first, then what was asked for. */
export async function renderingView(rendering: Rendering, options: ViewOptions): Promise<string> {
  const sections = [
    promptView(rendering, options),
    ...(options.tokens ? [lines(tokenTable(neededTokens(rendering, '--tokens')))] : []),
    ...(options.spans ? [lines(spanView(rendering))] : []),
    ...(options.vars ? [lines(variableView(rendering))] : []),
    ...(options.mask ? [maskView(rendering, options)] : []),
    ...(options.analyze ? [lines(table(analysisRows(await analyze(rendering.renderer))))] : []),
    ...(options.check ? [checkView(await findWarnings(rendering))] : []),
    options.palette.dim(summaryLine(rendering)),
  ];
  return sections.join('\n\n');
}

function promptView({text, spans, controlTexts}: Rendering, {palette, whitespace}: ViewOptions): string {
  return paintPrompt(text, spans, {palette, controlTexts, showsWhitespace: whitespace});
}

/** Underlined where there are colours; the places as numbers everywhere. */
function maskView({text, generated}: Rendering, {palette}: ViewOptions): string {
  if (generated.length === 0) return 'template has no generation block';
  const shown = generated.map(
    ([start, end]) => `${start}-${end}  ${palette.underlined(JSON.stringify(text.slice(start, end)))}`,
  );
  return lines(['generation blocks', ...shown]);
}

function checkView(warnings: readonly string[]): string {
  return warnings.length === 0 ? 'nothing looks wrong' : lines(warnings.map((warning) => `Warning: ${warning}`));
}

function spanView({spans, tokens, text}: Rendering): string[] {
  return spanTable(
    spans,
    spans.map((span) => tokens && countTokens(tokens, span)),
    text.length,
  );
}

function variableView({variables}: Rendering): string[] {
  const rows = variables.map(({name, isRead, isGiven}) => [
    name,
    isRead ? (isGiven ? 'given' : 'undefined') : 'not read',
  ]);
  return table([['variable', 'value'], ...rows]);
}

/** @throws UsageError when the model has no tokenizer */
export function neededTokens({tokens, model}: Rendering, flag: string): PromptToken[] {
  if (tokens !== null) return tokens;
  throw new UsageError(`${flag} needs a tokenizer, and ${model.name} has no tokenizer.json`);
}

/** `134 tokens (12 special) of 2048 · template from … · sha 3f9c1a2b · content format string` */
function summaryLine({text, tokens, renderer, model}: Rendering): string {
  const limit = model.maxModelLen === null ? '' : ` of ${model.maxModelLen}`;
  const special = tokens?.filter(({isSpecial}) => isSpecial).length;
  const size = tokens === null ? `${text.length} characters` : `${tokens.length} tokens${limit} (${special} special)`;
  const hash = hashOf(renderer);
  const parts = [
    size,
    `template from ${shortPath(renderer.origin)}`,
    ...(hash === null ? [] : [`sha ${hash.slice(0, 8)}`]),
  ];
  return [...parts, `content format ${formatWithReason(renderer)}`].join(' · ');
}

/** Seen from here, where that is shorter. */
function shortPath(path: string): string {
  const fromHere = relative('', path);
  return isAbsolute(path) && fromHere.length < path.length ? fromHere : path;
}

function formatWithReason({contentFormat, template}: PromptRenderer): string {
  const line = template?.contentFormat === contentFormat ? template.contentLoopLine : null;
  return line === null || line === undefined ? contentFormat : `${contentFormat} (loop in line ${line})`;
}

function lines(rows: readonly string[]): string {
  return rows.join('\n');
}
