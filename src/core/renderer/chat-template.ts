/**
 * Runs chat templates. The only place that knows the template engine: source in, a compiled template out; variables in,
 * text out. Whatever goes wrong in a template becomes a TemplateError with the engine's or the template's own words.
 */
import {Template} from '@huggingface/jinja';
import {TemplateError} from '../errors.ts';
import {toPlainJson} from '../util/parse-json.ts';
import {detectContentFormat, type SyntaxNode} from './content-format.ts';
import type {ContentFormat} from './content-parts.ts';

export interface ChatTemplate {
  readonly source: string;
  /** The form of message content that the template expects. */
  readonly contentFormat: ContentFormat;
  /**
   * @param variables plain data; the engine of today does not tell `1.0` from `1`, so numbers lose their kind here
   * @throws TemplateError, with the text itself when the template calls `raise_exception(text)`
   */
  render(variables: Readonly<Record<string, unknown>>): string;
}

/** @throws TemplateError when the source does not parse */
export function compileChatTemplate(source: string): ChatTemplate {
  const template = withTemplateErrors(() => new Template(withUnixLines(source)));
  return {
    source,
    contentFormat: detectContentFormat(template.parsed as unknown as SyntaxNode),
    render: (variables) => withTemplateErrors(() => template.render(toPlainJson(variables) as Record<string, unknown>)),
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

function withTemplateErrors<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new TemplateError(error instanceof Error ? error.message : String(error), {cause: error});
  }
}

function withUnixLines(source: string): string {
  return source.replaceAll('\r\n', '\n');
}
