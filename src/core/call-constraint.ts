/**
 * What an answer is held to because of its tools: demanded calls in the markup of the format or as JSON, and the calls
 * of `auto` when a tool or the server is strict. The result has the form of `structured_outputs`.
 */
import {ValidationError} from './errors.ts';
import {type CallableFunction, type CallRules, callsAsTag} from './parsers/call-tags/calls-as-tag.ts';
import type {ToolFormat} from './parsers/format.ts';
import type {JsonSchema} from './parsers/output-parser.ts';
import type {ChatCompletionRequest} from './protocol/openai/chat-completion.ts';
import type {StructuredOutputs} from './protocol/openai/structured-outputs.ts';

/** `function` holds names of functions, `parameter` also what they take; `auto` only what a tool asks for itself. */
export type StrictLevel = 'auto' | 'function' | 'parameter';

export type CallRequest = Pick<ChatCompletionRequest, 'tools' | 'tool_choice' | 'parallel_tool_calls'>;

type Tool = NonNullable<ChatCompletionRequest['tools']>[number]['function'];
type Schema = Readonly<Record<string, unknown>>;

const NOTHING_ASKED: StructuredOutputs = {
  json: null,
  regex: null,
  choice: null,
  grammar: null,
  json_object: null,
  disable_any_whitespace: false,
  disable_additional_properties: false,
  whitespace_pattern: null,
  structural_tag: null,
};

const NO_PARAMETERS: Schema = {type: 'object', properties: {}};

export interface CallSetting extends Pick<CallRules, 'mayThink' | 'variables'> {
  format: ToolFormat;
  level: StrictLevel;
}

/**
 * Null when the tools ask for nothing.
 * @throws ValidationError when the format cannot demand calls, or definitions of schemas contradict each other
 */
export function callConstraint(request: CallRequest, setting: CallSetting): StructuredOutputs | null {
  const {tool_choice: choice} = request;
  const tools = (request.tools ?? []).map((tool) => tool.function);
  if (choice === null || choice === 'none' || tools.length === 0) return null;
  if (choice === 'auto') return freeCalls(tools, request, setting);
  const called = typeof choice === 'object' ? tools.filter(({name}) => name === choice.function.name) : tools;
  const onlyOne = typeof choice === 'object' || !request.parallel_tool_calls;
  switch (setting.format.forcedCalls) {
    case 'native':
      return asTag(called, setting, {mustCall: true, onlyOne});
    case 'json':
      return typeof choice === 'object' ? namedAsJson(called[0], setting) : asJson(callsSchema(tools, onlyOne));
    case 'unheld':
      return null;
    case 'refused':
      throw refusedChoice(typeof choice === 'object' ? 'named' : 'required');
  }
}

function namedAsJson(tool: Tool | undefined, {format}: CallSetting): StructuredOutputs {
  if (format.namesInMarkupOnly !== true) return asJson(parametersOf(tool));
  throw new ValidationError(
    `tool_choice=function "${tool?.name}" requires strict tool calling with the ${format.names[0]} tool call parser`,
    {param: 'tool_choice'},
  );
}

const asJson = (json: Record<string, unknown>): StructuredOutputs => ({...NOTHING_ASKED, json});

function refusedChoice(kind: 'required' | 'named'): ValidationError {
  return new ValidationError(`response_template parsing cannot guarantee ${kind} tool choice for this request`, {
    param: 'tool_choice',
  });
}

/** Free text, unless calls are to be held to something; only one call is such a thing. */
function freeCalls(tools: Tool[], request: CallRequest, setting: CallSetting): StructuredOutputs | null {
  const onlyOne = request.parallel_tool_calls === false;
  const isHeld = onlyOne || setting.level !== 'auto' || tools.some(({strict}) => strict === true);
  return isHeld ? asTag(tools, setting, {mustCall: false, onlyOne}) : null;
}

function asTag(
  tools: readonly Tool[],
  {format, level, mayThink, variables}: CallSetting,
  rules: Pick<CallRules, 'mustCall' | 'onlyOne'>,
): StructuredOutputs | null {
  const functions: CallableFunction[] = tools.map((tool) => ({name: tool.name, schema: heldSchema(tool, level)}));
  const tag = callsAsTag(format, functions, {...rules, mayThink, variables});
  return tag && {...NOTHING_ASKED, structural_tag: JSON.stringify(tag)};
}

/** Arguments of a tool that is not strict are held to no schema. */
function heldSchema(tool: Tool, level: StrictLevel): JsonSchema {
  return tool.strict === true || level === 'parameter' ? parametersOf(tool) : true;
}

function parametersOf(tool: Tool | undefined): Record<string, unknown> {
  return tool?.parameters ?? {...NO_PARAMETERS};
}

/** An array of calls; definitions of all tools stand at the top. */
function callsSchema(tools: readonly Tool[], onlyOne: boolean): Record<string, unknown> {
  const definitions = mergeDefinitions(tools.map(parametersOf));
  return {
    type: 'array',
    minItems: 1,
    ...(onlyOne && {maxItems: 1}),
    items: {type: 'object', anyOf: tools.map(callSchema)},
    ...(Object.keys(definitions).length > 0 && {$defs: definitions}),
  };
}

function callSchema(tool: Tool): Schema {
  const {$defs: _hoisted, ...parameters} = parametersOf(tool);
  return {
    properties: {name: {type: 'string', enum: [tool.name]}, parameters},
    required: ['name', 'parameters'],
  };
}

function mergeDefinitions(schemas: readonly Schema[]): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const [name, schema] of schemas.flatMap(({$defs}) => Object.entries($defs ?? {}))) {
    if (Object.hasOwn(merged, name) && JSON.stringify(merged[name]) !== JSON.stringify(schema)) {
      throw new ValidationError(`Tool definition '${name}' has multiple schemas, which is not supported.`);
    }
    merged[name] = schema;
  }
  return merged;
}
