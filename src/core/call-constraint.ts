/**
 * What an answer is held to because of its tools: demanded calls in the markup of the format or as JSON, and the calls
 * of `auto` when a tool or the server is strict. The result has the form of `structured_outputs`.
 */
import {ValidationError} from './errors.ts';
import {type CallableFunction, callsAsTag} from './parsers/call-tags.ts';
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

/** Null when the tools ask for nothing. @throws ValidationError when definitions of schemas contradict each other */
export function callConstraint(request: CallRequest, format: ToolFormat, level: StrictLevel): StructuredOutputs | null {
  const {tool_choice: choice} = request;
  const tools = (request.tools ?? []).map((tool) => tool.function);
  if (choice === null || choice === 'none' || tools.length === 0) return null;
  if (choice === 'auto') return freeCalls(tools, request, format, level);
  const called = typeof choice === 'object' ? tools.filter(({name}) => name === choice.function.name) : tools;
  const onlyOne = typeof choice === 'object' || !request.parallel_tool_calls;
  if (format.forcedCalls === 'native') return asTag(called, format, level, {mustCall: true, onlyOne});
  return {...NOTHING_ASKED, json: typeof choice === 'object' ? parametersOf(called[0]) : callsSchema(tools, onlyOne)};
}

/** Free text, unless calls are to be held to something; only one call is such a thing. */
function freeCalls(tools: Tool[], request: CallRequest, format: ToolFormat, level: StrictLevel) {
  const onlyOne = request.parallel_tool_calls === false;
  const isHeld = onlyOne || level !== 'auto' || tools.some(({strict}) => strict === true);
  return isHeld ? asTag(tools, format, level, {mustCall: false, onlyOne}) : null;
}

function asTag(
  tools: readonly Tool[],
  format: ToolFormat,
  level: StrictLevel,
  rules: Parameters<typeof callsAsTag>[2],
): StructuredOutputs | null {
  const functions: CallableFunction[] = tools.map((tool) => ({name: tool.name, schema: heldSchema(tool, level)}));
  const tag = callsAsTag(format, functions, rules);
  return tag && {...NOTHING_ASKED, structural_tag: JSON.stringify(tag)};
}

/** Arguments of a tool that is not strict may be any JSON value. */
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
