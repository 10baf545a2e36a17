/**
 * Text to token ids and back, exactly as the model's `tokenizer.json` says. Encoding is done by the native `tokenizers`
 * binding on its own threads, so that a long prompt never holds the event loop. Decoding is ours and synchronous:
 * a byte table for byte-level vocabularies, the file's decoder steps for all others. See docs/decisions/0002.
 */
import {readFile} from 'node:fs/promises';
import {type Decoder, Tokenizer as NativeTokenizer} from 'tokenizers';
import {ModelError, ValidationError} from '../errors.ts';
import {parseJsonObject, readJsonObject} from '../util/read-json.ts';
import {byteLevelTokenBytes} from './byte-level.ts';
import {readSpecialTokenTexts, type SpecialTokenTexts} from './tokenizer-config.ts';

export interface TokenizerFiles {
  tokenizerPath: string;
  tokenizerConfigPath: string | null;
  specialTokensMapPath: string | null;
}

export interface Tokenizer {
  /** Ids run from 0 to `vocabSize - 1`. */
  readonly vocabSize: number;
  /** Length of the longest vocabulary entry in code points: a text of n tokens cannot be longer than n times this. */
  readonly maxTokenChars: number;
  /** Ids that `skipSpecialTokens` leaves out. */
  readonly specialTokenIds: ReadonlySet<number>;
  /** Special tokens that have a name (`bos_token`, …); template variables. */
  readonly specialTokens: SpecialTokenTexts;
  /** Id of `eos_token`; null when the tokenizer has none. */
  readonly eosTokenId: number | null;

  /**
   * Special tokens written in the text become their ids.
   * @throws ValidationError when the text holds a lone surrogate
   */
  encode(text: string, options: {addSpecialTokens: boolean}): Promise<number[]>;
  /**
   * Where the tokens of `encode` stand in the text, `[start, end]` in code points; tokens that share a character share
   * its place.
   */
  offsets(text: string, options: {addSpecialTokens: boolean}): Promise<[number, number][]>;
  /** Unknown ids give nothing; bytes that are no UTF-8 give U+FFFD. */
  decode(tokenIds: readonly number[], options: {skipSpecialTokens: boolean}): string;
  /** Bytes of one token; null when the vocabulary is not byte-level or the id is unknown. */
  tokenBytes(tokenId: number): Uint8Array | null;
  /** True when a text is the concatenation of its tokens' bytes. */
  readonly isByteLevel: boolean;
  /** The vocabulary entry as it stands in the file, e.g. `Ġworld`; null for an unknown id. */
  idToToken(tokenId: number): string | null;
  tokenToId(token: string): number | null;
}

/** The parts of `tokenizer.json` that are read here. */
interface TokenizerJson {
  model: {vocab?: Record<string, number> | [string, number][]};
  added_tokens?: {id: number; content: string; special: boolean}[];
  decoder?: DecoderJson | null;
}

interface DecoderJson {
  type: string;
  decoders?: DecoderJson[];
}

/** @throws ModelError when a file is missing, damaged or of an unknown kind */
export async function loadTokenizer(files: TokenizerFiles): Promise<Tokenizer> {
  const [text, config, specialTokensMap] = await Promise.all([
    readTokenizerText(files.tokenizerPath),
    readJsonObject(files.tokenizerConfigPath),
    readJsonObject(files.specialTokensMapPath),
  ]);
  const json = parseTokenizerJson(text, files.tokenizerPath);
  const native = createNativeTokenizer(text, files.tokenizerPath);
  return new JsonTokenizer(json, native, readSpecialTokenTexts([config, specialTokensMap]));
}

class JsonTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly maxTokenChars: number;
  readonly specialTokenIds: ReadonlySet<number>;
  readonly specialTokens: SpecialTokenTexts;
  readonly eosTokenId: number | null;
  readonly isByteLevel: boolean;

  readonly #native: NativeTokenizer;
  readonly #decoder: Decoder | null;
  /** Index = id; holes where the file has no entry. */
  readonly #tokens: string[];
  /** Filled on first use. */
  readonly #bytes: (Uint8Array | undefined)[] = [];

  constructor(json: TokenizerJson, native: NativeTokenizer, specialTokens: SpecialTokenTexts) {
    this.#native = native;
    this.#decoder = native.getDecoder();
    this.#tokens = tokensById(json);
    this.vocabSize = this.#tokens.length;
    this.maxTokenChars = longestInCodePoints(this.#tokens);
    this.specialTokenIds = new Set((json.added_tokens ?? []).filter((token) => token.special).map(({id}) => id));
    this.specialTokens = specialTokens;
    const eosToken = specialTokens.get('eos_token');
    this.eosTokenId = eosToken === undefined ? null : this.tokenToId(eosToken);
    this.isByteLevel = isByteLevelDecoder(json.decoder ?? null);
  }

  async encode(text: string, {addSpecialTokens}: {addSpecialTokens: boolean}): Promise<number[]> {
    checkUnicode(text);
    if (text === '' && !addSpecialTokens) return [];
    return (await this.#native.encode(text, null, {addSpecialTokens})).getIds();
  }

  async offsets(text: string, {addSpecialTokens}: {addSpecialTokens: boolean}): Promise<[number, number][]> {
    checkUnicode(text);
    if (text === '' && !addSpecialTokens) return [];
    return (await this.#native.encode(text, null, {addSpecialTokens})).getOffsets() as [number, number][];
  }

  decode(tokenIds: readonly number[], {skipSpecialTokens}: {skipSpecialTokens: boolean}): string {
    const shownIds = skipSpecialTokens ? tokenIds.filter((id) => !this.specialTokenIds.has(id)) : tokenIds;
    return this.isByteLevel ? this.#decodeBytes(shownIds) : this.#decodeSteps(shownIds);
  }

  tokenBytes(tokenId: number): Uint8Array | null {
    const token = this.#tokens[tokenId];
    if (!this.isByteLevel || token === undefined) return null;
    return (this.#bytes[tokenId] ??= byteLevelTokenBytes(token));
  }

  idToToken(tokenId: number): string | null {
    return this.#tokens[tokenId] ?? null;
  }

  tokenToId(token: string): number | null {
    return this.#native.tokenToId(token);
  }

  #decodeBytes(tokenIds: readonly number[]): string {
    const pieces = tokenIds.map((id) => this.tokenBytes(id)).filter((bytes) => bytes !== null);
    return Buffer.concat(pieces).toString('utf8');
  }

  #decodeSteps(tokenIds: readonly number[]): string {
    const tokens = tokenIds.map((id) => this.#tokens[id]).filter((token) => token !== undefined);
    if (tokens.length === 0) return '';
    return this.#decoder ? this.#decoder.decode(tokens) : tokens.join(' ');
  }
}

async function readTokenizerText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ModelError(`The tokenizer ${path} cannot be read: ${(error as Error).message}`, {cause: error});
  }
}

function parseTokenizerJson(text: string, path: string): TokenizerJson {
  const json = parseJsonObject(text, path);
  if (typeof json.model === 'object' && json.model !== null) return json as unknown as TokenizerJson;
  throw new ModelError(`${path} is no tokenizer: it has no object "model".`);
}

function createNativeTokenizer(text: string, path: string): NativeTokenizer {
  try {
    return NativeTokenizer.fromString(text);
  } catch (error) {
    throw new ModelError(`${path} is not a tokenizer that can be used: ${(error as Error).message}`, {cause: error});
  }
}

function tokensById({model, added_tokens: addedTokens = []}: TokenizerJson): string[] {
  const tokens: string[] = [];
  const {vocab = {}} = model;
  if (Array.isArray(vocab)) for (const [id, [token]] of vocab.entries()) tokens[id] = token;
  else for (const token in vocab) tokens[vocab[token]!] = token;
  for (const {id, content} of addedTokens) tokens[id] = content;
  return tokens;
}

function longestInCodePoints(tokens: string[]): number {
  let longest = 0;
  tokens.forEach((token) => {
    if (token.length > longest) longest = Math.max(longest, [...token].length);
  });
  return longest;
}

function isByteLevelDecoder(decoder: DecoderJson | null): boolean {
  if (decoder?.type !== 'Sequence') return decoder?.type === 'ByteLevel';
  return decoder.decoders?.length === 1 && isByteLevelDecoder(decoder.decoders[0]!);
}

function checkUnicode(text: string): void {
  const position = text.search(/\p{Surrogate}/u);
  if (position < 0) return;
  const codeUnit = text.charCodeAt(position).toString(16).toUpperCase();
  throw new ValidationError(
    `The prompt is not valid Unicode: it holds the lone surrogate U+${codeUnit} at position ${position}.`,
  );
}
