/**
 * One request to its prompt, with everything that can be said about it offline: which template made it, in which form it
 * got the messages, where each message stands in the text, and what the generation prompt is.
 */
import {UsageError, ValidationError} from '../core/errors.ts';
import {type PromptSource, sourceText} from '../core/model/prompt-parts.ts';
import type {ChatCompletionRequest} from '../core/protocol/openai/chat-completion.ts';
import {type ChatTemplate, type ChatTemplateOptions, compileChatTemplate} from '../core/renderer/chat-template.ts';
import type {ContentFormat} from '../core/renderer/content-parts.ts';
import {chooseTemplate} from '../core/renderer/find-chat-template.ts';
import {knowsHarmony, renderHarmony} from '../core/renderer/harmony/render-harmony.ts';
import {renderRequest, type TemplateRenderOptions} from '../core/renderer/render-with-template.ts';
import type {OpenedModel} from './open-model.ts';
import type {RenderTemplateOptions} from './options.ts';

/** Renders requests of one model with one template. */
export interface PromptRenderer {
  /** Null = Harmony, which needs no template. */
  template: ChatTemplate | null;
  /** Where the template comes from: a path, a flag, or `harmony`. */
  origin: string;
  contentFormat: ContentFormat;
  /** `[start, end]` of what `generation` blocks write, in UTF-16 units. */
  generated(request: ChatCompletionRequest): Promise<[number, number][]>;
  /** @throws ValidationError, TemplateError */
  render(request: ChatCompletionRequest): Promise<PromptSource>;
}

type RenderingOptions = Pick<
  RenderTemplateOptions,
  'templateName' | 'chatTemplateContentFormat' | 'escapeControlTokens' | 'date'
>;

/** A template that hangs is given up after this time. */
const timeoutMs = 30_000;

/**
 * @param request decides between several templates of a model
 * @throws UsageError, TemplateError when the template does not parse
 */
export async function openRenderer(
  model: OpenedModel,
  options: RenderingOptions,
  request: ChatCompletionRequest,
): Promise<PromptRenderer> {
  const now = clockOf(options.date);
  if (await isHarmony(model)) return harmonyRenderer(model.name, now);
  const template = compileChatTemplate(sourceOf(model, options.templateName, request));
  const contentFormat =
    options.chatTemplateContentFormat === 'auto' ? template.contentFormat : options.chatTemplateContentFormat;
  const renderOptions: TemplateRenderOptions = {
    contentFormat,
    defaultTemplateKwargs: {},
    modelName: model.name,
    escapesControlTokens: options.escapeControlTokens,
    tokenizer: {specialTokens: model.specialTokens, controlTokens: (await controlTokens(model, options)) ?? []},
  };
  const open = (options: ChatTemplateOptions = {}) => ({
    source: template.source,
    contentFormat,
    render: (variables: Readonly<Record<string, unknown>>) =>
      template.render(variables, {now, limits: {timeoutMs}, ...options}),
  });
  return {
    template,
    origin: model.templates.source,
    contentFormat,
    render: (request) => renderRequest(request, open(), renderOptions),
    async generated(request) {
      const ranges: [number, number][] = [];
      const collecting = open({onGenerated: (start, end) => ranges.push([start, end])});
      await renderRequest(request, collecting, {...renderOptions, escapesControlTokens: false});
      return ranges;
    },
  };
}

async function controlTokens(model: OpenedModel, {escapeControlTokens}: RenderingOptions) {
  if (!escapeControlTokens) return null;
  const tokenizer = await model.tokenizer();
  if (tokenizer !== null) return tokenizer.controlTokens;
  throw new UsageError('--escape-control-tokens needs a model with a tokenizer.json');
}

/** @throws UsageError */
function sourceOf({templates, name}: OpenedModel, templateName: string | null, request: ChatCompletionRequest): string {
  if (templateName === null) {
    return asUsageError(() => chooseTemplate(templates, {requested: null, hasTools: request.tools !== null}));
  }
  const source = templates.named.get(templateName);
  if (source !== undefined) return source;
  const names = [...templates.named.keys()].join(', ') || 'none';
  throw new UsageError(`${name} has no template named ${templateName}\nallowed: ${names}`);
}

function asUsageError<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof ValidationError) throw new UsageError(error.message, {cause: error});
    throw error;
  }
}

async function isHarmony(model: OpenedModel): Promise<boolean> {
  if (model.modelType !== 'gpt_oss' || model.templates.override !== null) return false;
  const tokenizer = await model.tokenizer();
  return tokenizer !== null && knowsHarmony(tokenizer);
}

function harmonyRenderer(modelName: string, now: () => Date): PromptRenderer {
  const settings = () => ({date: now().toISOString().slice(0, 10), hasSystemInstructions: false, modelName});
  return {
    template: null,
    origin: 'harmony',
    contentFormat: 'openai',
    generated: async () => [],
    render: async (request) => renderHarmony(request, settings()),
  };
}

/** @throws UsageError for a text that is no date */
export function clockOf(date: string | null): () => Date {
  if (date === null) return () => new Date();
  // A date alone would be midnight in Greenwich, which is another day in half of the world.
  const fixed = new Date(/^\d{4}-\d\d-\d\d$/.test(date) ? `${date}T00:00:00` : date);
  if (!Number.isNaN(fixed.getTime())) return () => fixed;
  throw new UsageError(`--date cannot be ${date}\nallowed: a date such as 2026-01-31 or 2026-01-31T12:00:00`);
}

/** A stretch of the prompt, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
  /** Role of the message; null = what the template writes behind all messages. */
  role: string | null;
  /** Number of the message in the request, from 0; null for the generation prompt. */
  message: number | null;
}

/**
 * Where the messages stand: the prompt of the first n messages is the beginning of the whole, for templates that look
 * only back. Messages whose border cannot be found this way share one span with their neighbour.
 */
export async function findSpans(
  request: ChatCompletionRequest,
  text: string,
  renderer: PromptRenderer,
): Promise<Span[]> {
  const spans: Span[] = [];
  let start = 0;
  for (const [index, {role}] of request.messages.entries()) {
    const end = await endOfMessage(request, index, text, renderer);
    if (end === null || end <= start) continue;
    spans.push({start, end, role, message: index});
    start = end;
  }
  if (start < text.length) spans.push({start, end: text.length, role: null, message: null});
  return spans;
}

/** @returns null when the prompt up to this message is no beginning of the whole */
async function endOfMessage(
  request: ChatCompletionRequest,
  index: number,
  text: string,
  renderer: PromptRenderer,
): Promise<number | null> {
  const isLast = index === request.messages.length - 1;
  if (isLast && request.continue_final_message) return text.length;
  const messages = request.messages.slice(0, index + 1);
  const closed = {...request, messages, add_generation_prompt: false, continue_final_message: false};
  try {
    const beginning = sourceText(await renderer.render(closed));
    return text.startsWith(beginning) ? beginning.length : null;
  } catch {
    // Templates refuse conversations that end with some roles.
    return null;
  }
}
