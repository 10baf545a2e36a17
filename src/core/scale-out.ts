/**
 * The two halves of a request that several servers share: rendering takes it as far as the engine's door, generating
 * starts there, from token ids and resolved sampling parameters (vllm/entrypoints/scale_out).
 */
import {type AnswerFormats, AnswerReader, promptTail} from './answer-reader.ts';
import {ValidationError} from './errors.ts';
import {
  type Generation,
  type GenerationOptions,
  type GenerationParts,
  type PreparedPrompt,
  startGeneration,
} from './generation.ts';
import type {Tokenizer} from './model/tokenizer.ts';
import {resolveChat, resolveCompletion} from './prepare-generation.ts';
import type {ChatCompletionRequest} from './protocol/openai/chat-completion.ts';
import type {CompletionRequest} from './protocol/openai/completion.ts';
import type {GenerateRequest} from './protocol/scale-out/generate-request.ts';
import {readParseContext} from './protocol/scale-out/parse-context.ts';
import {toTemplateTool} from './renderer/template-variables.ts';
import {resolveMaxTokens} from './sampling/resolve-max-tokens.ts';
import {resolveSamplingParams} from './sampling/resolve-sampling-params.ts';

export interface RenderedChat extends PreparedPrompt {
  /** Where the tokens stand in the prompt's text, in code points; null unless the request wants to know. */
  tokenOffsets: [number, number][] | null;
  /** The tools as templates see them. */
  tools: Record<string, unknown>[] | null;
  /** The keyword arguments of the template, the server's defaults among them. */
  templateKwargs: Record<string, unknown>;
}

export type {PreparedPrompt} from './generation.ts';

/** @throws ValidationError, TemplateError */
export async function renderChatRequest(request: ChatCompletionRequest, parts: GenerationParts): Promise<RenderedChat> {
  checkNoBeamSearch(request);
  const [prepared] = await resolveChat([request], parts);
  checkHasTokens(prepared);
  const {renderer} = parts;
  return {
    ...prepared,
    tokenOffsets: request.return_token_offsets ? await renderer.tokenOffsets(request, prepared.prompt) : null,
    tools: request.tools?.map(toTemplateTool) ?? null,
    templateKwargs: renderer.templateKwargs(request),
  };
}

/** One result for each prompt. @throws ValidationError */
export async function renderCompletionRequest(
  request: CompletionRequest,
  parts: GenerationParts,
): Promise<PreparedPrompt[]> {
  checkNoBeamSearch(request);
  const prepared = await resolveCompletion(request, parts);
  prepared.forEach(checkHasTokens);
  return prepared;
}

function checkNoBeamSearch(request: {use_beam_search: boolean}): void {
  if (request.use_beam_search) throw new ValidationError('Beam search is not supported by the render endpoint');
}

function checkHasTokens({prompt}: PreparedPrompt): void {
  if (prompt.tokenIds.length === 0) throw new ValidationError('No token_ids rendered');
}

/**
 * A prompt of token ids. Of the server's sampling defaults only the one for the length counts: the parameters were
 * resolved before.
 * @throws ValidationError
 */
export function prepareTokens(
  request: GenerateRequest,
  parts: GenerationParts,
  options: GenerationOptions,
): Generation {
  const {token_ids: tokenIds, sampling} = request;
  const {engine, tokenizer, generation} = parts;
  const {maxModelLen} = engine.info;
  checkFitsContext(tokenIds, maxModelLen);
  const maxTokens = resolveMaxTokens(sampling, {
    maxModelLen,
    promptLength: tokenIds.length,
    defaultMaxTokens: generation.defaults.maxTokens ?? null,
    overrideMaxTokens: generation.overrideMaxTokens,
  });
  const resolved = resolveSamplingParams(sampling, {
    defaults: {},
    maxTokens,
    eosTokenId: tokenizer.eosTokenId,
    generationEosTokenIds: generation.eosTokenIds,
  });
  const prompt = {prompt: {text: '', tokenIds}, resolved, reader: null};
  return startGeneration(sampling, [readTokens(request, prompt, parts)], parts, options);
}

/** Only an answer that is to be a message is read. @throws ValidationError */
function readTokens(request: GenerateRequest, prepared: PreparedPrompt, parts: GenerationParts): PreparedPrompt {
  const {output_mode: mode, parse_context: context} = request;
  const {formats, tokenizer} = parts;
  if (!formats) return prepared;
  if (mode !== 'derender') return {...prepared, guide: guideOf(request, prepared, formats, tokenizer)};
  if (context === null) throw new ValidationError(NO_PARSE_CONTEXT);
  const reader = new AnswerReader(
    formats,
    readParseContext(context),
    promptTail(prepared.prompt, tokenizer),
    tokenizer,
  );
  // The markers were put into the text by the server that rendered; it says so by not skipping special tokens.
  const text = reader.textParams({...prepared.resolved.text, skipSpecialTokens: true}, tokenizer);
  return {...prepared, reader, resolved: {...prepared.resolved, text}};
}

/** Constraints and budgets of thoughts hold for tokens, too, with the server's own parser (vllm/v1/structured_output). */
function guideOf(
  {parse_context: context, reasoning_ended: hasEnded}: GenerateRequest,
  {prompt}: PreparedPrompt,
  formats: AnswerFormats,
  tokenizer: Tokenizer,
): AnswerReader | null {
  if (formats.reasoning === null) return null;
  const request = {
    ...readParseContext(context ?? {}),
    tools: null,
    tool_choice: 'none' as const,
    include_reasoning: hasEnded !== true,
  };
  return new AnswerReader({...formats, tool: null}, request, promptTail(prompt, tokenizer), tokenizer);
}

const NO_PARSE_CONTEXT =
  "output_mode='derender' requires parse_context on a server with a tool or reasoning parser. Use the one returned by /render.";

function checkFitsContext(tokenIds: readonly number[], maxModelLen: number): void {
  if (tokenIds.length <= maxModelLen) return;
  throw new ValidationError(
    `The decoder prompt (length ${tokenIds.length}) is longer than the maximum model length of ${maxModelLen}. ` +
      'Make sure that `max_model_len` is no smaller than the number of text tokens.',
  );
}
