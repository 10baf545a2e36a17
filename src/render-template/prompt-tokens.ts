/** The tokens of a prompt as rows of a table, and how many of them each message takes. */
import type {PromptSource} from '../core/model/prompt-parts.ts';
import type {Tokenizer} from '../core/model/tokenizer.ts';
import {codePointLength} from '../core/util/python-text.ts';
import type {Span} from './render-prompt-text.ts';

export interface PromptToken {
  index: number;
  id: number;
  /** The characters, or the bytes in hexadecimal when they are no whole character. */
  text: string;
  isWhole: boolean;
  isSpecial: boolean;
  /** `[start, end]` in code points of the prompt. */
  offset: [number, number];
  /** Number of the message; null for the generation prompt. */
  message: number | null;
}

export async function tokenizePrompt(
  source: PromptSource,
  spans: readonly Span[],
  {tokenizer, text}: {tokenizer: Tokenizer; text: string},
): Promise<PromptToken[]> {
  const options = {addSpecialTokens: false};
  const [ids, offsets] = await Promise.all([tokenizer.encode(source, options), tokenizer.offsets(source, options)]);
  const borders = spans.map(({end, message}) => ({end: codePointLength(text.slice(0, end)), message}));
  return ids.map((id, index) => {
    const offset = offsets[index] ?? [0, 0];
    const message = borders.find(({end}) => offset[0] < end)?.message ?? null;
    return {index, id, ...tokenText(id, tokenizer), isSpecial: tokenizer.specialTokenIds.has(id), offset, message};
  });
}

function tokenText(id: number, tokenizer: Tokenizer): {text: string; isWhole: boolean} {
  const text = tokenizer.decode([id], {skipSpecialTokens: false});
  const bytes = tokenizer.tokenBytes(id);
  if (bytes === null || !text.includes('\ufffd')) return {text, isWhole: true};
  const hexadecimal = [...bytes].map((byte) => byte.toString(16).padStart(2, '0'));
  return {text: hexadecimal.join(' '), isWhole: false};
}

/** Tokens of each span, by its message. */
export function countTokens(tokens: readonly PromptToken[], {message}: Span): number {
  return tokens.filter((token) => token.message === message).length;
}
