/**
 * A chat request to the prompt that the model gets: rendered by its template, or by Harmony, then tokenized and checked
 * against the context length. The order of the steps decides which error a bad request gets.
 */
import {type PromptSource, sourceText} from '../model/prompt-parts.ts';
import {encodePrompt, promptOffsets} from './encode-prompt.ts';
import type {HarmonySettings} from './harmony/harmony-messages.ts';
import {renderHarmony} from './harmony/render-harmony.ts';
import {createTemplateRenderer} from './render-with-template.ts';
import type {RendererOptions, RenderRequest} from './renderer-options.ts';
import {templateKwargs} from './template-variables.ts';

export type {RendererOptions, RenderRequest} from './renderer-options.ts';

export interface RenderedPrompt {
  text: string;
  tokenIds: number[];
  /** What was encoded, where that is more than the text. */
  source?: PromptSource;
}

export interface Renderer {
  /** @throws ValidationError, TemplateError */
  renderChat(request: RenderRequest): Promise<RenderedPrompt>;
  /**
   * What the tokenizer gets, of any length.
   * @throws ValidationError, TemplateError
   */
  renderSource(request: RenderRequest): Promise<PromptSource>;
  /** The keyword arguments of the template, with the server's defaults. */
  templateKwargs(request: RenderRequest): Record<string, unknown>;
  /** Where the tokens of a rendered prompt stand in its text, `[start, end]` in code points. */
  tokenOffsets(request: RenderRequest, prompt: RenderedPrompt): Promise<[number, number][]>;
}

export function createRenderer(options: RendererOptions): Renderer {
  const {tokenizer} = options;
  const render = options.harmony ? harmonyRenderer(options, options.harmony) : createTemplateRenderer(options);
  const renderSource = async (request: RenderRequest) => render(withShownTools(request, options));
  return {
    renderSource,
    async renderChat(request) {
      const source = await renderSource(request);
      const tokenIds = await encodePrompt(tokenizer, source, encodeOptions(request, options));
      return {text: sourceText(source), tokenIds, source};
    },
    templateKwargs: (request) => (options.harmony ? {} : templateKwargs(request, options.defaultTemplateKwargs)),
    tokenOffsets: (request, {text, tokenIds, source = text}) =>
      promptOffsets(tokenizer, source, {...encodeOptions(request, options), numTokens: tokenIds.length}),
  };
}

function harmonyRenderer({modelName}: RendererOptions, {date, hasSystemInstructions}: HarmonyOptions) {
  return (request: RenderRequest): PromptSource => {
    const settings: HarmonySettings = {date: date(), hasSystemInstructions, modelName};
    return renderHarmony(request, settings);
  };
}

type HarmonyOptions = NonNullable<RendererOptions['harmony']>;

/** A request that wants no tool call may have its tools hidden from the template. */
function withShownTools(request: RenderRequest, {hidesUnusedTools}: RendererOptions): RenderRequest {
  return hidesUnusedTools && request.tool_choice === 'none' ? {...request, tools: null} : request;
}

function encodeOptions(request: RenderRequest, {maxModelLen}: RendererOptions) {
  return {
    maxModelLen,
    addSpecialTokens: request.add_special_tokens,
    keepTokens: tokensToKeep(request, maxModelLen),
    truncationSide: request.truncation_side,
  };
}

/** -1 leaves room for one token, unless the request wants none at all. */
export function tokensToKeep(
  request: Pick<RenderRequest, 'truncate_prompt_tokens' | 'max_completion_tokens' | 'max_tokens'>,
  maxModelLen: number,
): number | null {
  const {truncate_prompt_tokens: limit, max_completion_tokens, max_tokens} = request;
  if (limit !== -1) return limit;
  return (max_completion_tokens ?? max_tokens) === 0 ? maxModelLen : maxModelLen - 1;
}
