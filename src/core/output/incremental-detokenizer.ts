/**
 * Token ids of one stream to text, as the tokens come. Bytes that do not yet make a character wait for the tokens that
 * complete them; bytes that never do are not given out. Primed with the prompt, because its end decides how the first
 * tokens read. Follows the behaviour of vLLM's FastIncrementalDetokenizer (`vllm/v1/engine/detokenizer.py`).
 */
import type {Tokenizer} from '../model/tokenizer.ts';

export interface DetokenizerOptions {
  skipSpecialTokens: boolean;
  /** The only special tokens that are shown, when others are not skipped anyway; null = all. */
  keptSpecialTokenIds?: ReadonlySet<number> | null;
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
  readonly #hiddenIds: ReadonlySet<number>;
  readonly #joinsSpecialTokens: boolean;
  #lastWasSpecial = false;

  constructor(tokenizer: Tokenizer, promptTokenIds: readonly number[], options: DetokenizerOptions) {
    const {skipSpecialTokens, spacesBetweenSpecialTokens} = options;
    this.#tokenizer = tokenizer;
    this.#hiddenIds = hiddenTokenIds(tokenizer, options);
    this.#reader = tokenizer.isByteLevel ? new ByteReader(tokenizer) : new WindowReader(tokenizer);
    this.#joinsSpecialTokens = !skipSpecialTokens && !spacesBetweenSpecialTokens;
    for (const tokenId of promptTokenIds.slice(-primedTokens)) this.#read(tokenId);
  }

  /** @returns the text that this token completes; often empty */
  push(tokenId: number): string {
    const text = this.#read(tokenId);
    const isSpecial = this.#tokenizer.specialTokenIds.has(tokenId);
    const followsSpecial = this.#lastWasSpecial && isSpecial;
    this.#lastWasSpecial = isSpecial;
    return this.#joinsSpecialTokens && followsSpecial ? this.#tokenizer.idToToken(tokenId)! : text;
  }

  #read(tokenId: number): string {
    return this.#hiddenIds.has(tokenId) ? '' : this.#reader.read(tokenId);
  }
}

function hiddenTokenIds(tokenizer: Tokenizer, options: DetokenizerOptions): ReadonlySet<number> {
  const {skipSpecialTokens, keptSpecialTokenIds: kept = null} = options;
  if (skipSpecialTokens) return tokenizer.specialTokenIds;
  return new Set(kept === null ? [] : [...tokenizer.specialTokenIds].filter((tokenId) => !kept.has(tokenId)));
}

/** For byte-level vocabularies: a text is the concatenation of its tokens' bytes. */
class ByteReader implements TokenReader {
  readonly #tokenizer: Tokenizer;
  /** Bytes read and not given out. */
  #pending: Uint8Array = new Uint8Array(0);

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
  }

  read(tokenId: number): string {
    const bytes = this.#tokenizer.tokenBytes(tokenId);
    if (bytes === null) return '';
    const pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    const text = decodeUtf8(pending);
    const isComplete = !text.endsWith(replacementCharacter);
    this.#pending = isComplete ? new Uint8Array(0) : pending;
    return isComplete ? text : '';
  }
}

/**
 * For all other vocabularies: decodes a window of the last tokens twice, with and without what is new, and gives out
 * the difference. `#window[0, #shownCount)` has been given out and is only there as context.
 */
class WindowReader implements TokenReader {
  readonly #tokenizer: Tokenizer;
  #window: number[] = [];
  #shownCount = 0;
  #shownText = '';

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer;
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
    return this.#tokenizer.decode(tokenIds, {skipSpecialTokens: false});
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
