/**
 * Token ids of one stream to text, as the tokens come. Bytes that do not yet make a character wait for the tokens that
 * complete them; bytes that never do are not given out. Primed with the prompt, because its end decides how the first
 * tokens read. Follows the behaviour of vLLM's FastIncrementalDetokenizer (`vllm/v1/engine/detokenizer.py`).
 */
import type {Tokenizer} from '../model/tokenizer.ts';

export interface DetokenizerOptions {
  skipSpecialTokens: boolean;
  /** False: of several special tokens in a row, those after the first are written as in the vocabulary file. */
  spacesBetweenSpecialTokens: boolean;
}

/** How one token becomes text; keeps what is not complete. */
interface TokenReader {
  read(tokenId: number): string;
}

/** How many of the prompt's last tokens are looked at. A character is at most 4 tokens; the rest is for good measure. */
const primedTokens = 24;

const replacementCharacter = '\uFFFD';

export class IncrementalDetokenizer {
  readonly #tokenizer: Tokenizer;
  readonly #reader: TokenReader;
  readonly #joinsSpecialTokens: boolean;
  #lastWasSpecial = false;

  constructor(tokenizer: Tokenizer, promptTokenIds: readonly number[], options: DetokenizerOptions) {
    const {skipSpecialTokens, spacesBetweenSpecialTokens} = options;
    this.#tokenizer = tokenizer;
    this.#reader = createReader(tokenizer, skipSpecialTokens);
    this.#joinsSpecialTokens = !skipSpecialTokens && !spacesBetweenSpecialTokens;
    for (const tokenId of promptTokenIds.slice(-primedTokens)) this.#reader.read(tokenId);
  }

  /** @returns the text that this token completes; often empty */
  push(tokenId: number): string {
    const text = this.#reader.read(tokenId);
    const isSpecial = this.#tokenizer.specialTokenIds.has(tokenId);
    const followsSpecial = this.#lastWasSpecial && isSpecial;
    this.#lastWasSpecial = isSpecial;
    return this.#joinsSpecialTokens && followsSpecial ? this.#tokenizer.idToToken(tokenId)! : text;
  }
}

function createReader(tokenizer: Tokenizer, skipSpecialTokens: boolean): TokenReader {
  return tokenizer.isByteLevel
    ? new ByteReader(tokenizer, skipSpecialTokens)
    : new WindowReader(tokenizer, skipSpecialTokens);
}

/** For byte-level vocabularies: a text is the concatenation of its tokens' bytes. */
class ByteReader implements TokenReader {
  readonly #tokenizer: Tokenizer;
  readonly #skipSpecialTokens: boolean;
  /** Bytes read and not given out. */
  #pending: Uint8Array = new Uint8Array(0);

  constructor(tokenizer: Tokenizer, skipSpecialTokens: boolean) {
    this.#tokenizer = tokenizer;
    this.#skipSpecialTokens = skipSpecialTokens;
  }

  read(tokenId: number): string {
    const bytes = this.#bytesOf(tokenId);
    if (bytes === null) return '';
    const pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    const text = decodeUtf8(pending);
    const isComplete = !text.endsWith(replacementCharacter);
    this.#pending = isComplete ? new Uint8Array(0) : pending;
    return isComplete ? text : '';
  }

  #bytesOf(tokenId: number): Uint8Array | null {
    if (this.#skipSpecialTokens && this.#tokenizer.specialTokenIds.has(tokenId)) return null;
    return this.#tokenizer.tokenBytes(tokenId);
  }
}

/**
 * For all other vocabularies: decodes a window of the last tokens twice, with and without what is new, and gives out
 * the difference. `#window[0, #shownCount)` has been given out and is only there as context.
 */
class WindowReader implements TokenReader {
  readonly #tokenizer: Tokenizer;
  readonly #skipSpecialTokens: boolean;
  #window: number[] = [];
  #shownCount = 0;
  #shownText = '';

  constructor(tokenizer: Tokenizer, skipSpecialTokens: boolean) {
    this.#tokenizer = tokenizer;
    this.#skipSpecialTokens = skipSpecialTokens;
  }

  read(tokenId: number): string {
    this.#window.push(tokenId);
    const text = this.#decode(this.#window);
    if (text.length <= this.#shownText.length || text.endsWith(replacementCharacter)) return '';
    const newText = text.slice(this.#shownText.length);
    this.#window = this.#window.slice(this.#shownCount);
    this.#shownCount = this.#window.length;
    this.#shownText = this.#decode(this.#window);
    return newText;
  }

  #decode(tokenIds: number[]): string {
    return this.#tokenizer.decode(tokenIds, {skipSpecialTokens: this.#skipSpecialTokens});
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
