/**
 * Text to token ids and back, exactly as the model's `tokenizer.json` says. Encoding is done by the native `tokenizers`
 * binding on its own threads, so that a long prompt never holds the event loop. Decoding is ours and synchronous:
 * a byte table for byte-level vocabularies, the file's decoder steps for all others. See docs/decisions/0002.
 */
import {readFile} from 'node:fs/promises';
import {type Decoder, Tokenizer as NativeTokenizer} from 'tokenizers';
import {ModelError, ValidationError} from '../errors.ts';
import {readFault} from '../util/file-fault.ts';
import {parseJsonObject, readJsonObject} from '../util/read-json.ts';
import {byteLevelTokenBytes} from './byte-level.ts';
import {
  type AddedToken,
  type ControlToken,
  prependsToFirst,
  readControlTokens,
  withoutControlTokens,
} from './control-tokens.ts';
import {type Encoded, encodeParts} from './encode-parts.ts';
import type {PromptSource} from './prompt-parts.ts';
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

  /** Tokens that steer the model and that a text may imitate. */
  readonly controlTokens: readonly ControlToken[];

  /**
   * Special tokens written in a text become their ids, but not in `plain` parts.
   * @throws ValidationError when the text holds a lone surrogate
   */
  encode(source: PromptSource, options: {addSpecialTokens: boolean}): Promise<number[]>;
  /**
   * Where the tokens of `encode` stand in the text, `[start, end]` in code points; tokens that share a character share
   * its place.
   */
  offsets(source: PromptSource, options: {addSpecialTokens: boolean}): Promise<[number, number][]>;
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
  added_tokens?: AddedToken[];
  pre_tokenizer?: unknown;
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
  const plainNatives = new PlainTokenizers(files.tokenizerPath, json);
  return new JsonTokenizer(json, {native, plainNatives}, readSpecialTokenTexts([config, specialTokensMap]));
}

/**
 * Tokenizers that know no control tokens, made when first needed: few servers do, and each costs as much as the first.
 */
class PlainTokenizers {
  readonly #path: string;
  readonly #prependsToFirst: boolean;
  /** By whether the text stands inside a prompt, where that makes a difference. */
  readonly #made = new Map<boolean, Promise<NativeTokenizer>>();

  constructor(path: string, json: TokenizerJson) {
    this.#path = path;
    this.#prependsToFirst = prependsToFirst(json.pre_tokenizer);
  }

  /** @param isInside for text that does not open the prompt */
  get(isInside: boolean): Promise<NativeTokenizer> {
    const differs = isInside && this.#prependsToFirst;
    const made = this.#made.get(differs) ?? this.#make(differs);
    this.#made.set(differs, made);
    return made;
  }

  async #make(isInside: boolean): Promise<NativeTokenizer> {
    const json = parseTokenizerJson(await readTokenizerText(this.#path), this.#path);
    return createNativeTokenizer(JSON.stringify(withoutControlTokens(json, isInside)), this.#path);
  }
}

class JsonTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly maxTokenChars: number;
  readonly specialTokenIds: ReadonlySet<number>;
  readonly specialTokens: SpecialTokenTexts;
  readonly eosTokenId: number | null;
  readonly isByteLevel: boolean;
  readonly controlTokens: readonly ControlToken[];

  readonly #native: NativeTokenizer;
  readonly #plainNatives: PlainTokenizers;
  readonly #decoder: Decoder | null;
  /** Index = id; holes where the file has no entry. */
  readonly #tokens: string[];
  /** Filled on first use. */
  readonly #bytes: (Uint8Array | undefined)[] = [];

  constructor(
    json: TokenizerJson,
    {native, plainNatives}: {native: NativeTokenizer; plainNatives: PlainTokenizers},
    specialTokens: SpecialTokenTexts,
  ) {
    this.#native = native;
    this.#plainNatives = plainNatives;
    this.controlTokens = readControlTokens(json.added_tokens ?? []);
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

  async encode(source: PromptSource, {addSpecialTokens}: {addSpecialTokens: boolean}): Promise<number[]> {
    return (await this.#encode(source, addSpecialTokens)).ids;
  }

  async offsets(source: PromptSource, {addSpecialTokens}: {addSpecialTokens: boolean}): Promise<[number, number][]> {
    return (await this.#encode(source, addSpecialTokens)).offsets;
  }

  #encode(source: PromptSource, addSpecialTokens: boolean): Promise<Encoded> {
    if (typeof source === 'string') return encodeText(this.#native, source, addSpecialTokens);
    const encoded = encodeParts(source, {
      marked: (text) => encodeText(this.#native, text, false),
      plain: async (text, {isInside}) => encodeText(await this.#plainNatives.get(isInside), text, false),
    });
    return addSpecialTokens ? this.#withSpecialTokens(encoded) : encoded;
  }

  /** Puts the tokens around a prompt that the post-processor of the file adds to every text. */
  async #withSpecialTokens(encoded: Promise<Encoded>): Promise<Encoded> {
    const [{ids, offsets}, bare, wrapped] = await Promise.all([
      encoded,
      encodeText(this.#native, 'x', false),
      encodeText(this.#native, 'x', true),
    ]);
    const numBefore = wrapped.ids.indexOf(bare.ids[0]!);
    const before = wrapped.ids.slice(0, numBefore);
    const after = wrapped.ids.slice(numBefore + bare.ids.length);
    const nowhere = (added: number[]) => added.map((): [number, number] => [0, 0]);
    return {
      ids: [...before, ...ids, ...after],
      offsets: [...nowhere(before), ...offsets, ...nowhere(after)],
    };
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

async function encodeText(native: NativeTokenizer, text: string, addSpecialTokens: boolean): Promise<Encoded> {
  checkUnicode(text);
  if (text === '' && !addSpecialTokens) return {ids: [], offsets: []};
  const encoding = await native.encode(text, null, {addSpecialTokens});
  return {
    ids: encoding.getIds(),
    // Copied only when somebody asks.
    get offsets() {
      return encoding.getOffsets() as [number, number][];
    },
  };
}

async function readTokenizerText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ModelError(`The tokenizer ${path} cannot be read: ${readFault(error)}`, {cause: error});
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
