/**
 * Checks across the fields of a raw chat body, made before any type is looked at; the first fault answers
 * (the `mode="before"` validators of vllm/entrypoints/openai/chat_completion/protocol.py). Values may be of any type
 * here, so conditions follow Python's idea of truth.
 */
import {ValidationError} from '../../errors.ts';
import {isPlainObject, JsonFloat, JsonSyntaxError, parseJson} from '../../util/parse-json.ts';
import {pythonStr} from './python-repr.ts';
import {schemaError} from './schema-errors.ts';

type Body = Record<string, unknown>;

const CORRECT_TOOL_CHOICE = 'Correct usage: `{"type": "function", "function": {"name": "my_function"}}`';
const MAX_CACHE_SALT_CHARACTERS = 128;
const FORBIDDEN_IN_CACHE_SALT = /[@/\\\0]/;

/** What Python takes for true: no empty text, list or object, no zero. */
export function isTruthy(value: unknown): boolean {
  if (value instanceof JsonFloat) return value.value !== 0;
  if (Array.isArray(value)) return value.length > 0;
  if (isPlainObject(value)) return Object.keys(value).length > 0;
  return Boolean(value) || Number.isNaN(value);
}

/** The number that a JSON value is; null when it is none. Booleans count as 0 and 1. */
export function numberOf(value: unknown): number | null {
  if (value instanceof JsonFloat) return value.value;
  return ['number', 'bigint', 'boolean'].includes(typeof value) ? Number(value) : null;
}

/** `reasoning_content` is an old name of `reasoning`. */
function renameReasoning(message: unknown): unknown {
  if (!isPlainObject(message) || !('reasoning_content' in message)) return message;
  const {reasoning_content, ...rest} = message;
  return rest.reasoning === undefined || rest.reasoning === null ? {...rest, reasoning: reasoning_content} : rest;
}

/**
 * A copy of the body with old names replaced and `tool_choice` filled in; anything but an object is left to the type
 * check.
 * @throws SchemaError when there is no body
 */
export function prepareChatBody(body: unknown): unknown {
  if (body === null || body === undefined) throw schemaError([{type: 'missing', path: [], input: null}]);
  if (!isPlainObject(body)) return body;
  const prepared: Body = {...body};
  if (Array.isArray(body.messages)) prepared.messages = body.messages.map(renameReasoning);
  if (!('tool_choice' in body) && isTruthy(body.tools)) prepared.tool_choice = 'auto';
  return prepared;
}

export function checkPromptFlags(body: Body): void {
  if (!isTruthy(body.continue_final_message) || !isTruthy(body.add_generation_prompt)) return;
  throw new ValidationError('Cannot set both `continue_final_message` and `add_generation_prompt` to True.');
}

function checkTools({tools, tool_choice}: Body): void {
  if (Array.isArray(tools) && tools.length === 0) {
    throw new ValidationError(
      '`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.',
      {param: 'tools'},
    );
  }
  if (tool_choice === undefined || tool_choice === null || tool_choice === 'none') return;
  if (tools === undefined || tools === null) {
    throw new ValidationError('When using `tool_choice`, `tools` must be set.', {param: 'tool_choice'});
  }
  if (tool_choice === 'auto' || tool_choice === 'required') return;
  if (isPlainObject(tool_choice)) {
    checkNamedTool(tool_choice.function, tools);
    return;
  }
  throw new ValidationError(
    `Invalid value for \`tool_choice\`: ${pythonStr(tool_choice)}! Only named tools, "none", "auto" or "required" are supported.`,
    {param: 'tool_choice'},
  );
}

function checkNamedTool(named: unknown, tools: unknown): void {
  if (!isPlainObject(named)) {
    throw new ValidationError(
      `Invalid value for \`function\`: \`${pythonStr(named)}\` in \`tool_choice\`! ${CORRECT_TOOL_CHOICE}`,
      {param: 'tool_choice.function'},
    );
  }
  if (!('name' in named)) {
    throw new ValidationError(`Expected field \`name\` in \`function\` in \`tool_choice\`! ${CORRECT_TOOL_CHOICE}`, {
      param: 'tool_choice.function.name',
    });
  }
  const {name} = named;
  if (typeof name !== 'string' || name === '') {
    throw new ValidationError(
      `Invalid \`name\` in \`function\`: \`${pythonStr(name)}\` in \`tool_choice\`! ${CORRECT_TOOL_CHOICE}`,
      {param: 'tool_choice.function.name'},
    );
  }
  if (!toolNames(tools).includes(name)) {
    throw new ValidationError('The tool specified in `tool_choice` does not match any of the specified `tools`', {
      param: 'tool_choice',
    });
  }
}

function toolNames(tools: unknown): unknown[] {
  const list = Array.isArray(tools) ? tools : [];
  return list.map((tool) => (isPlainObject(tool) && isPlainObject(tool.function) ? tool.function.name : undefined));
}

export function checkConstraints(body: Body): void {
  const constraint = body.structured_outputs;
  if (!isPlainObject(constraint)) return;
  const kinds = ['json', 'regex', 'choice'].filter((kind) => (constraint[kind] ?? null) !== null);
  if (kinds.length > 1) {
    throw new ValidationError(
      "You can only use one kind of constraints for structured outputs ('json', 'regex' or 'choice').",
    );
  }
  // An explicit null counts as a choice here, as in the reference.
  const choice = 'tool_choice' in body ? body.tool_choice : 'none';
  if (kinds.length > 0 && !['none', 'auto', 'required'].includes(choice as string)) {
    throw new ValidationError('You can only either use constraints for structured outputs or tools, not both.');
  }
  checkStructuralTagText(constraint.structural_tag);
}

function isStructuralTag(value: unknown): boolean {
  if (!isPlainObject(value)) return false;
  return isPlainObject(value.format) || (Array.isArray(value.structures) && Array.isArray(value.triggers));
}

function readStructuralTag(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return null;
    throw error;
  }
}

function checkStructuralTagText(text: unknown): void {
  if (typeof text !== 'string' || isStructuralTag(readStructuralTag(text))) return;
  throw new ValidationError('Invalid structured_outputs structural_tag specification.', {param: 'structured_outputs'});
}

function checkLogprobTokenIds({logprob_token_ids, logprobs, use_beam_search}: Body): void {
  if (logprob_token_ids === undefined || logprob_token_ids === null) return;
  const param = 'logprob_token_ids';
  if (!isTruthy(logprobs)) {
    throw new ValidationError('when using `logprob_token_ids`, `logprobs` must be set to true.', {param});
  }
  if (isTruthy(use_beam_search)) {
    throw new ValidationError('`logprob_token_ids` is not supported with beam search.', {param});
  }
}

/** The count of a logprobs field; null when the field is not given. */
export function readLogprobCount(body: Body, param: string): number | null {
  const value = body[param];
  if (value === undefined || value === null) return null;
  const count = numberOf(value);
  if (count === null) throw new ValidationError(`\`${param}\` must be an integer.`, {param, value});
  return count;
}

export function checkNotNegative(count: number, body: Body, param: string): void {
  if (count >= 0 || count === -1) return;
  throw new ValidationError(`\`${param}\` must be a positive value or -1.`, {param, value: body[param]});
}

export function checkPromptLogprobs(body: Body): void {
  const param = 'prompt_logprobs';
  const count = readLogprobCount(body, param);
  if (count === null) return;
  if (isTruthy(body.stream) && (count > 0 || count === -1)) {
    throw new ValidationError('`prompt_logprobs` are not available when `stream=True`.', {param});
  }
  checkNotNegative(count, body, param);
}

function checkTopLogprobs(body: Body): void {
  const param = 'top_logprobs';
  const count = readLogprobCount(body, param);
  if (count === null) return;
  checkNotNegative(count, body, param);
  if ((count > 0 || count === -1) && !isTruthy(body.logprobs)) {
    throw new ValidationError('when using `top_logprobs`, `logprobs` must be set to true.', {param});
  }
}

export function checkStreamOptions(body: Body): void {
  if (!isTruthy(body.stream_options) || isTruthy(body.stream)) return;
  throw new ValidationError('Stream options can only be defined when `stream=True`.', {param: 'stream_options'});
}

export function checkResponseFormat({response_format: format}: Body): void {
  if (!isPlainObject(format)) return;
  const param = 'response_format';
  if (format.type === 'json_schema' && (format.json_schema ?? null) === null) {
    throw new ValidationError("When response_format type is 'json_schema', the 'json_schema' field must be provided.", {
      param,
    });
  }
  if (format.type === 'structural_tag' && !isStructuralTag(format)) {
    throw new ValidationError('Invalid response_format structural_tag specification.', {param});
  }
}

export function checkCacheSalt({cache_salt: salt}: Body): void {
  if (salt === undefined || salt === null) return;
  const param = 'cache_salt';
  if (typeof salt !== 'string' || salt === '') {
    throw new ValidationError("Parameter 'cache_salt' must be a non-empty string if provided.", {param});
  }
  if ([...salt].length > MAX_CACHE_SALT_CHARACTERS || FORBIDDEN_IN_CACHE_SALT.test(salt)) {
    throw new ValidationError(
      "Parameter 'cache_salt' must be at most 128 characters and must not contain '@', '/', '\\\\', or NUL.",
      {param},
    );
  }
}

/** In the order of the reference. */
const CHECKS: ((body: Body) => void)[] = [
  checkPromptFlags,
  checkTools,
  checkConstraints,
  checkLogprobTokenIds,
  checkPromptLogprobs,
  checkTopLogprobs,
  checkStreamOptions,
  checkResponseFormat,
  checkCacheSalt,
];

/**
 * @param body as `prepareChatBody` returned it
 * @throws ValidationError for the first fault
 */
export function checkChatBody(body: unknown): void {
  if (!isPlainObject(body)) return;
  for (const check of CHECKS) check(body);
}
