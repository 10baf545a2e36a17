/**
 * Texts for logprobs. A token's text is what it decodes to alone; a token that is a part of a character has none until
 * the character is complete, and the token that completes it carries the whole character. What came before a position
 * counts for every candidate of it (vllm/v1/engine/logprobs.py).
 */
import type {Tokenizer} from '../model/tokenizer.ts';
import type {DecodedLogprobs, TokenLogprobs} from '../sampling/token-logprobs.ts';

export type {DecodedLogprob, DecodedLogprobs, TokenLogprob, TokenLogprobs} from '../sampling/token-logprobs.ts';

/** Tokens before a position that may belong to the same character: it has at most four bytes. */
const maxContextTokens = 4;

const replacementCharacter = '\uFFFD';

/** Reads the positions of one output in their order. */
export class LogprobsDecoder {
  readonly #tokenizer: Tokenizer;
  #context: number[] = [];

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  decode(position: TokenLogprobs): DecodedLogprobs {
    const decoded = position.map((entry) => ({...entry, text: this.#textOf(entry.tokenId)}));
    if (position[0]) this.skip(position[0].tokenId);
    return decoded;
  }

  /** A position that stands in the text but has no logprobs. */
  skip(tokenId: number): void {
    this.#context = [...this.#context, tokenId].slice(-maxContextTokens);
  }

  #textOf(tokenId: number): string {
    const text = this.#decode([tokenId]);
    return text.endsWith(replacementCharacter) ? this.#completedText(tokenId) : text;
  }

  /** The text that a token gives together with as few as possible of those before it; empty when none helps. */
  #completedText(tokenId: number): string {
    for (let length = 1; length <= this.#context.length; length++) {
      const context = this.#context.slice(-length);
      const text = this.#decode([...context, tokenId]);
      if (!text.endsWith(replacementCharacter)) return text.slice(this.#decode(wholeTokens(context, this)).length);
    }
    return '';
  }

  /** True when a token does not end in the middle of a character. */
  isWhole(tokenId: number): boolean {
    return !this.#decode([tokenId]).endsWith(replacementCharacter);
  }

  #decode(tokenIds: readonly number[]): string {
    return this.#tokenizer.decode(tokenIds, {skipSpecialTokens: false});
  }
}

/** The tokens before those at the end that are parts of one character. */
function wholeTokens(tokenIds: readonly number[], decoder: LogprobsDecoder): number[] {
  return tokenIds.slice(0, tokenIds.findLastIndex((tokenId) => decoder.isWhole(tokenId)) + 1);
}

/** @param positions one for each token of the prompt, null where there is nothing to say */
export function decodePromptLogprobs(
  tokenizer: Tokenizer,
  promptTokenIds: readonly number[],
  positions: readonly (TokenLogprobs | null)[],
): (DecodedLogprobs | null)[] {
  const decoder = new LogprobsDecoder(tokenizer);
  return positions.map((position, index) => {
    if (position) return decoder.decode(position);
    decoder.skip(promptTokenIds[index]!);
    return null;
  });
}
