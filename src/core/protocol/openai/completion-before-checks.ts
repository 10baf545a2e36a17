/**
 * Checks across the fields of a raw completion body, made before any type is looked at; the first fault answers (the
 * `mode="before"` validators of vllm/entrypoints/openai/completion/protocol.py). What chat checks as well is chat's.
 */
import {ValidationError} from '../../errors.ts';
import {isPlainObject} from '../../util/parse-json.ts';
import {
  checkCacheSalt,
  checkConstraints,
  checkNotNegative,
  checkPromptLogprobs,
  checkResponseFormat,
  checkStreamOptions,
  isTruthy,
  readLogprobCount,
} from './chat-before-checks.ts';
import {schemaError} from './schema-errors.ts';

type Body = Record<string, unknown>;

/** Limit of prompts unless `VLLM_MAX_COMPLETION_PROMPTS` says otherwise. */
const DEFAULT_MAX_PROMPTS = 1024;

function maxPrompts(): number {
  return Number(process.env.VLLM_MAX_COMPLETION_PROMPTS) || DEFAULT_MAX_PROMPTS;
}

/** A list of numbers is one prompt, of token ids. */
function isListOfPrompts(prompt: unknown): prompt is unknown[] {
  return Array.isArray(prompt) && (typeof prompt[0] === 'string' || Array.isArray(prompt[0]));
}

function checkPromptCount({prompt}: Body): void {
  const limit = maxPrompts();
  if (!isListOfPrompts(prompt) || prompt.length <= limit) return;
  throw new ValidationError(
    `prompt list length ${prompt.length} exceeds the maximum allowed count of ${limit}. To increase this limit, set the VLLM_MAX_COMPLETION_PROMPTS environment variable.`,
    {param: 'prompt'},
  );
}

function checkPromptPresent({prompt, prompt_embeds: embeds}: Body): void {
  const hasPrompt = prompt !== undefined && prompt !== null && prompt !== '';
  const hasEmbeds = embeds !== undefined && embeds !== null && !(Array.isArray(embeds) && embeds.length === 0);
  if (hasPrompt || hasEmbeds) return;
  throw new ValidationError('Either prompt or prompt_embeds must be provided and non-empty.', {param: 'prompt'});
}

function checkLogprobs(body: Body): void {
  const count = readLogprobCount(body, 'logprobs');
  if (count === null) return;
  checkNotNegative(count, body, 'logprobs');
  if (!isTruthy(body.echo) || !isTruthy(body.use_beam_search)) return;
  throw new ValidationError(
    '`echo` with `logprobs` is not supported with beam search because beam search does not compute prompt logprobs.',
    {param: 'echo'},
  );
}

/** Tools have no meaning here, whatever the body says. */
function checkConstraintKinds({structured_outputs}: Body): void {
  checkConstraints({structured_outputs});
}

/** In the order of the reference. */
const CHECKS: ((body: Body) => void)[] = [
  checkPromptCount,
  checkPromptPresent,
  checkStreamOptions,
  checkPromptLogprobs,
  checkLogprobs,
  checkConstraintKinds,
  checkResponseFormat,
  checkCacheSalt,
];

/**
 * @throws SchemaError when there is no body
 * @throws ValidationError for the first fault
 */
export function checkCompletionBody(body: unknown): void {
  if (body === null || body === undefined) throw schemaError([{type: 'missing', path: [], input: null}]);
  if (!isPlainObject(body)) return;
  for (const check of CHECKS) check(body);
}
