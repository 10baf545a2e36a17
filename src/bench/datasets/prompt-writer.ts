/**
 * Writes texts of an exact number of tokens. Pieces are added until there are enough tokens, the ids are cut, turned
 * into text and counted again: a cut can make other tokens, so this is repeated until the count is right.
 */
import type {RandomSource} from '../load/random-source.ts';
import {charsPerToken, type PromptTokenizer} from './prompt-tokenizer.ts';
import {lines, words} from './source-text.ts';

export interface TextOrder {
  numTokens: number;
  /** Where the text begins; counts. */
  prefix?: string;
  /** What it is made of. */
  pieces?: 'words' | 'lines';
}

export interface WrittenText {
  text: string;
  numTokens: number;
}

const maxRepairs = 12;

/** The text may miss the number by a token where the vocabulary leaves no way; the count says what it has. */
export async function writeText(
  tokenizer: PromptTokenizer,
  order: TextOrder,
  random: RandomSource,
): Promise<WrittenText> {
  const nextPiece = order.pieces === 'lines' ? () => `${pick(lines, random)}\n` : () => ` ${pick(words, random)}`;
  const {encoding} = tokenizer;
  if (encoding === null) return estimatedText(order, nextPiece);
  let text = lengthened(order.prefix ?? '', order.numTokens * charsPerToken, nextPiece);
  let best: WrittenText | null = null;
  for (let attempt = 0; attempt < maxRepairs; attempt++) {
    let tokenIds = await encoding.encode(text);
    const written = {text, numTokens: tokenIds.length};
    if (written.numTokens === order.numTokens) return written;
    if (best === null || distance(written, order) < distance(best, order)) best = written;
    while (tokenIds.length < order.numTokens) {
      const missing = (order.numTokens - tokenIds.length) * charsPerToken;
      text = lengthened(text, text.length + missing, nextPiece);
      tokenIds = await encoding.encode(text);
    }
    // After some rounds the cut itself makes another token each time: cut one earlier and let a piece fill the gap.
    const end = order.numTokens - Math.min(Math.floor(attempt / 3), order.numTokens - 1);
    text = await encoding.decode(tokenIds.slice(0, attempt === 0 ? order.numTokens : end));
  }
  return best as WrittenText;
}

function distance({numTokens}: WrittenText, order: TextOrder): number {
  return Math.abs(numTokens - order.numTokens);
}

function lengthened(text: string, numChars: number, nextPiece: () => string): string {
  let longer = text;
  while (longer.length < numChars) longer += nextPiece();
  return longer;
}

function estimatedText({numTokens, prefix = ''}: TextOrder, nextPiece: () => string): WrittenText {
  const numChars = numTokens * charsPerToken;
  return {text: lengthened(prefix, numChars, nextPiece).slice(0, numChars), numTokens};
}

function pick<T>(items: readonly T[], random: RandomSource): T {
  return items[random.integer(0, items.length - 1)];
}
