/**
 * Everything a chat template can read besides the messages: tools, documents, special tokens and keyword arguments,
 * merged in the order server defaults, request arguments, request fields. Follows vLLM's `vllm/renderers/params.py`.
 */
import {ValidationError} from '../errors.ts';
import type {SpecialTokenTexts} from '../model/tokenizer-config.ts';
import type {ChatCompletionRequest, ChatTool} from '../protocol/openai/chat-completion.ts';

export type TemplateRequest = Pick<
  ChatCompletionRequest,
  'tools' | 'documents' | 'add_generation_prompt' | 'chat_template_kwargs' | 'reasoning_effort'
>;

type KwargsRequest = TemplateRequest & Pick<ChatCompletionRequest, 'continue_final_message'>;

export interface TemplateVariableDefaults {
  /** `--default-chat-template-kwargs`. */
  kwargs: Readonly<Record<string, unknown>>;
  specialTokens: SpecialTokenTexts;
}

type Variables = Record<string, unknown>;

/** What the reference gives to every template. */
const builtInKwargs: Variables = {cohere_format: 'cmd4'};

/**
 * Variables of one rendering, without `messages`.
 * @throws ValidationError when the request gives `messages` as a keyword argument
 */
export function templateVariables(request: TemplateRequest, defaults: TemplateVariableDefaults): Variables {
  return {
    tools: request.tools?.map(toTemplateTool) ?? null,
    documents: null,
    ...Object.fromEntries(defaults.specialTokens),
    ...mergeKwargs(request, defaults.kwargs),
  };
}

/**
 * The keyword arguments of a rendering as another server needs them to read the answer: the same values, and whether the
 * last message was left open, which is no template variable.
 */
export function templateKwargs(request: KwargsRequest, defaults: Variables): Variables {
  const kwargs = request.chat_template_kwargs ?? {};
  const {add_generation_prompt, ...others} = requestFields(request, kwargs);
  const fields = {add_generation_prompt, continue_final_message: request.continue_final_message, ...others};
  return {...withoutUnset(defaults), ...withoutUnset(kwargs), ...withoutUnset(fields)};
}

/** Values that are null or `auto` never override anything. */
function mergeKwargs(request: TemplateRequest, defaults: Variables): Variables {
  const kwargs = request.chat_template_kwargs ?? {};
  if ('messages' in kwargs) {
    throw new ValidationError(
      "jinja2.environment.Template.render() got multiple values for keyword argument 'messages'",
    );
  }
  return {
    ...builtInKwargs,
    ...withoutUnset(defaults),
    ...withoutUnset(kwargs),
    ...withoutUnset(requestFields(request, kwargs)),
  };
}

function requestFields(request: TemplateRequest, kwargs: Variables) {
  const {reasoning_effort: effort} = request;
  return {
    add_generation_prompt: request.add_generation_prompt,
    documents: request.documents,
    reasoning_effort: effort,
    ...(effort !== null && !('enable_thinking' in kwargs) ? {enable_thinking: effort !== 'none'} : {}),
  };
}

function withoutUnset(values: Variables): Variables {
  const isSet = (value: unknown) => value !== null && value !== undefined && value !== 'auto';
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isSet(value)));
}

/** A tool in the form and key order that templates print. */
export function toTemplateTool({
  type,
  function: {name, description, parameters, strict},
  defer_loading,
}: ChatTool): Variables {
  const deferLoading = defer_loading === null ? {} : {defer_loading};
  return {
    type,
    function: {name, description, parameters, ...(strict === null ? {} : {strict}), ...deferLoading},
    ...deferLoading,
  };
}
