/** `--diff`: the other side of a comparison, made from this one by leaving something out or replacing it. */
import {UsageError} from '../core/errors.ts';
import type {ChatCompletionRequest} from '../core/protocol/openai/chat-completion.ts';
import type {RenderTemplateOptions} from './options.ts';

/** What is rendered: a request, and the flags that choose the template. */
export interface Side {
  label: string;
  request: ChatCompletionRequest;
  options: RenderTemplateOptions;
}

type Change = (side: Omit<Side, 'label'>, value: string) => Omit<Side, 'label'>;

/** By the word before `=`, or the whole when there is none. */
const changes: Readonly<Record<string, Change>> = {
  tools: ({request, options}) => ({request: {...request, tools: null}, options}),
  'generation-prompt': ({request, options}) => ({request: {...request, add_generation_prompt: false}, options}),
  template: ({request, options}, value) => ({request, options: {...options, chatTemplate: value, templateName: null}}),
};

const allowed = 'allowed: tools, generation-prompt, template=FILE, kwargs.NAME=VALUE, url';

/** @throws UsageError for a comparison that does not exist or that compares nothing */
export function otherSide(what: string, request: ChatCompletionRequest, options: RenderTemplateOptions): Side {
  const [, name, value] = /^([^=]+)(?:=([\s\S]*))?$/.exec(what) ?? [];
  const label = name === 'tools' || name === 'generation-prompt' ? `without ${name}` : what;
  if (name?.startsWith('kwargs.') && value !== undefined) {
    return {label, request: withKwarg(request, name.slice('kwargs.'.length), value), options};
  }
  const change = changes[name ?? ''];
  if (!change || (name === 'template') !== (value !== undefined)) {
    throw new UsageError(`--diff cannot be ${what}\n${allowed}`);
  }
  if (name === 'tools' && request.tools === null)
    throw new UsageError('--diff tools needs tools', {hint: 'add --tools FILE'});
  return {label, ...change({request, options}, value ?? '')};
}

/** The value is JSON when it reads as JSON, else a text. */
function withKwarg(request: ChatCompletionRequest, name: string, text: string): ChatCompletionRequest {
  return {...request, chat_template_kwargs: {...request.chat_template_kwargs, [name]: looseJson(text)}};
}

function looseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
