/**
 * Runs chat templates: source in, a compiled template out; variables in, text out. Whatever goes wrong in a template
 * becomes a TemplateError with the words of jinja2, of Python or of the template itself, and its place.
 */
import {GenerationError, TemplateError} from '../errors.ts';
import {builtInNames, chatEnvironment} from './chat-environment.ts';
import {type ContentFormatFinding, detectContentFormat} from './content-format.ts';
import type {ContentFormat} from './content-parts.ts';
import {fromJson} from './jinja/from-json.ts';
import {type RenderLimits, RenderTimeoutError} from './jinja/limits.ts';
import {parseTemplate} from './jinja/parser.ts';
import {locate} from './jinja/source-location.ts';
import {type CompiledTemplate, compileTemplate} from './jinja/template.ts';
import {TemplateFault} from './jinja/template-fault.ts';
import type {Value} from './jinja/values.ts';

export interface ChatTemplate {
  readonly source: string;
  /** The form of message content that the template expects. */
  readonly contentFormat: ContentFormat;
  /** The line of the loop over content that says so; null for `string`. */
  readonly contentLoopLine: number | null;
  /** Names that the template reads and does not set itself first; only these are handed to it. */
  readonly variables: ReadonlySet<string>;
  /**
   * @param variables values of `parseJson`, where `1.0` and `1` are apart
   * @throws TemplateError, with the text itself when the template calls `raise_exception(text)`; GenerationError when it
   *   takes too long
   */
  render(variables: Readonly<Record<string, unknown>>, options?: ChatTemplateOptions): string;
}

export interface ChatTemplateOptions {
  /** The clock of `strftime_now`; absent = the machine's. */
  now?: () => Date;
  limits?: Partial<RenderLimits>;
  /** Hears where in the text a `generation` block stands, in UTF-16 units. */
  onGenerated?: (start: number, end: number) => void;
}

/** @throws TemplateError when the source does not parse or uses a filter or test that does not exist */
export function compileChatTemplate(source: string): ChatTemplate {
  const tree = withTemplateErrors(() => parseTemplate(source), messageOf);
  const template = withTemplateErrors(() => compileTemplate(tree, chatEnvironment), introspectionMessage);
  const finding = withTemplateErrors(() => detectContentFormat(tree.body), messageOf);
  return {
    source,
    contentFormat: finding.format,
    contentLoopLine: loopLine(finding, tree.source),
    variables: new Set([...template.undeclared].filter((name) => !builtInNames.has(name))),
    render: (variables, options) => render(template, variables, options),
  };
}

/** Servers use a few templates; more come only from clients that send their own. */
const maxCachedTemplates = 64;

/** Compiled templates by source; the oldest goes when there are too many. */
export class ChatTemplateCache {
  readonly #templates = new Map<string, ChatTemplate>();

  /** @throws TemplateError when the source does not parse */
  get(source: string): ChatTemplate {
    const known = this.#templates.get(source);
    if (known) return known;
    const template = compileChatTemplate(source);
    const [oldest] = this.#templates.keys();
    if (oldest !== undefined && this.#templates.size >= maxCachedTemplates) this.#templates.delete(oldest);
    this.#templates.set(source, template);
    return template;
  }
}

/** The text of the reference (vllm/renderers/hf.py). */
export function renderTimeout(seconds: number): GenerationError {
  return new GenerationError(
    `Chat template rendering timed out after ${seconds.toFixed(1)}s. This may indicate a malicious or excessively ` +
      'complex template. Adjust VLLM_CHAT_TEMPLATE_RENDER_TIMEOUT to override.',
  );
}

function render(
  template: CompiledTemplate,
  variables: Readonly<Record<string, unknown>>,
  {now = () => new Date(), ...options}: ChatTemplateOptions = {},
): string {
  return withTemplateErrors(() => template.render(usedValues(template, variables), {now, ...options}), messageOf);
}

/** The variables that the template reads, as values of templates; the name of a built-in function is none. */
function usedValues({undeclared}: CompiledTemplate, variables: Readonly<Record<string, unknown>>): Map<string, Value> {
  const used = Object.entries(variables).filter(([name]) => undeclared.has(name) && !builtInNames.has(name));
  return new Map(used.map(([name, value]) => [name, fromJson(value)]));
}

function loopLine({loop}: ContentFormatFinding, source: string): number | null {
  return loop ? locate(source, loop.start).line : null;
}

function withTemplateErrors<T>(action: () => T, toMessage: (fault: TemplateFault) => string): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof RenderTimeoutError) throw renderTimeout(error.timeoutMs / 1000);
    if (!(error instanceof TemplateFault)) throw error;
    const {location, frame} = error;
    throw new TemplateError(toMessage(error), {cause: error, ...location, codeFrame: frame});
  }
}

function messageOf({message}: TemplateFault): string {
  return message;
}

/** The reference looks for the template's variables first, and what it finds wrong there says so. */
function introspectionMessage({message, kind, location}: TemplateFault): string {
  return kind === 'TemplateAssertionError' ? `${message}\n  File "<introspection>", line ${location.line}` : message;
}
