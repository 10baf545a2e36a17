/**
 * Prompt text to token ids, within the context length: a text that cannot fit is refused before it is tokenized, then
 * the ids are truncated when the request asks for it, then counted. Follows vLLM's `vllm/renderers/params.py`.
 */
import {ValidationError} from '../errors.ts';
import {type PromptSource, sourceText} from '../model/prompt-parts.ts';
import type {Tokenizer} from '../model/tokenizer.ts';
import {codePointLength} from '../util/python-text.ts';

export interface EncodePromptOptions {
  maxModelLen: number;
  addSpecialTokens: boolean;
  /** How many tokens to keep; null = all, which must fit. */
  keepTokens: number | null;
  /** The side that is cut off; null = left. */
  truncationSide: 'left' | 'right' | null;
}

/** @throws ValidationError when the prompt is longer than the context, or no valid Unicode */
export async function encodePrompt(
  tokenizer: Tokenizer,
  source: PromptSource,
  options: EncodePromptOptions,
): Promise<number[]> {
  const text = sourceText(source);
  const maxChars = options.maxModelLen * tokenizer.maxTokenChars;
  if (options.keepTokens === null) checkTextLength(text, maxChars, options.maxModelLen);
  const shortened = typeof source === 'string' ? shortenText(source, maxChars, options) : source;
  const tokenIds = truncate(await tokenizer.encode(shortened, options), options);
  // The reference stops tokenizing one above the limit.
  checkNumTokens(Math.min(tokenIds.length, options.maxModelLen + 1), options.maxModelLen);
  return tokenIds;
}

/**
 * The same for a prompt that is token ids already.
 * @throws ValidationError when it is longer than the context
 */
export function fitTokenIds(tokenIds: number[], options: Omit<EncodePromptOptions, 'addSpecialTokens'>): number[] {
  const kept = truncate(tokenIds, options);
  checkNumTokens(kept.length, options.maxModelLen);
  return kept;
}

/**
 * Where the tokens that `encodePrompt` returned stand in the text, `[start, end]` in code points.
 * @param options as for `encodePrompt`; `numTokens` = how many it returned
 */
export async function promptOffsets(
  tokenizer: Tokenizer,
  source: PromptSource,
  options: EncodePromptOptions & {numTokens: number},
): Promise<[number, number][]> {
  const offsets = await tokenizer.offsets(source, options);
  const cut = offsets.length - options.numTokens;
  return options.truncationSide === 'right' ? offsets.slice(0, options.numTokens) : offsets.slice(cut);
}

function checkTextLength(text: string, maxChars: number, maxModelLen: number): void {
  if (text.length <= maxChars) return;
  const numChars = codePointLength(text);
  if (numChars <= maxChars) return;
  throw new ValidationError(
    `This model's maximum context length is ${maxModelLen} tokens. However, your prompt contains ${numChars} ` +
      `characters (more than ${maxChars} characters, which is the upper bound for ${maxModelLen} input tokens). ` +
      'Please reduce the length of the input prompt.',
    {param: 'input_text', value: numChars},
  );
}

/** Cuts text that cannot end up among the kept tokens, so that a huge prompt does not cost its whole tokenization. */
function shortenText(text: string, maxChars: number, {keepTokens, truncationSide}: EncodePromptOptions): string {
  if (keepTokens === null || truncationSide === null || text.length <= maxChars) return text;
  const cut = truncationSide === 'left' ? text.slice(-maxChars) : text.slice(0, maxChars);
  return cut.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}

function truncate(
  tokenIds: number[],
  {keepTokens, truncationSide}: Pick<EncodePromptOptions, 'keepTokens' | 'truncationSide'>,
): number[] {
  if (keepTokens === null || tokenIds.length <= keepTokens) return tokenIds;
  return truncationSide === 'right' ? tokenIds.slice(0, keepTokens) : tokenIds.slice(tokenIds.length - keepTokens);
}

/** A count of exactly one above the limit may stand for any larger one. */
function checkNumTokens(numTokens: number, maxModelLen: number): void {
  if (numTokens <= maxModelLen) return;
  const count = numTokens === maxModelLen + 1 ? `at least ${numTokens}` : numTokens;
  throw new ValidationError(
    `This model's maximum context length is ${maxModelLen} tokens. However, your prompt contains ${count} input ` +
      'tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt.',
    {param: 'input_tokens', value: numTokens},
  );
}
