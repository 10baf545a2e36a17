/**
 * The tokenizer inside a GGUF file as the content of a `tokenizer.json`: byte-level BPE (model "gpt2"), or SentencePiece's
 * pieces with scores (model "llama"), whose merges follow from the scores.
 */
import {ModelError} from '../../errors.ts';
import type {GgufFile} from './gguf-file.ts';
import {knownPreTokenizers, preTokenizationOf} from './pre-tokenizers.ts';

type JsonObject = Record<string, unknown>;

/** `tokenizer.ggml.token_type` */
export const tokenKinds = {normal: 1, unknown: 2, control: 3, userDefined: 4, unused: 5, byte: 6} as const;

export interface GgufVocabulary {
  tokens: readonly string[];
  kinds: readonly number[];
}

const spaceMark = '▁';
const advice = 'Put the tokenizer.json of the model into the same folder.';

/** @throws ModelError when the lists are missing or do not fit each other */
export function readVocabulary(file: GgufFile): GgufVocabulary {
  const tokens = file.optionalTexts('tokenizer.ggml.tokens');
  if (tokens === null) throw new ModelError(`${file.path} has no tokenizer inside. ${advice}`);
  const kinds = file.optionalNumbers('tokenizer.ggml.token_type') ?? tokens.map(() => tokenKinds.normal);
  if (kinds.length !== tokens.length) {
    throw new ModelError(`${file.path} has ${tokens.length} tokens, but ${kinds.length} token types.`);
  }
  return {tokens, kinds};
}

/** @throws ModelError for a kind of tokenizer that is not known */
export function toTokenizerJson(file: GgufFile, vocabulary: GgufVocabulary): JsonObject {
  const kind = file.optionalText('tokenizer.ggml.model') ?? '';
  const parts = {gpt2: byteLevelParts, llama: pieceParts}[kind];
  if (!parts) {
    throw new ModelError(
      `The tokenizer inside ${file.path} is of kind "${kind}", which is not supported. Supported: gpt2, llama. ${advice}`,
    );
  }
  const {defaultAddsBos, ...json} = parts(file, vocabulary);
  const opening = openingTokens(file, vocabulary, defaultAddsBos);
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens(vocabulary),
    ...json,
    ...(opening.length > 0 && {post_processor: openingTemplate(opening)}),
  };
}

function addedTokens({tokens, kinds}: GgufVocabulary): JsonObject[] {
  const isAdded = (kind: number | undefined) =>
    kind === tokenKinds.control || kind === tokenKinds.userDefined || kind === tokenKinds.unknown;
  return tokens.flatMap((content, id) => {
    const kind = kinds[id];
    if (!isAdded(kind)) return [];
    const special = kind !== tokenKinds.userDefined;
    return [{id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special}];
  });
}

const noExtras = {dropout: null, continuing_subword_prefix: null, end_of_word_suffix: null};

function byteLevelParts(file: GgufFile, {tokens}: GgufVocabulary) {
  const name = file.optionalText('tokenizer.ggml.pre') ?? 'default';
  const cut = preTokenizationOf(name);
  if (!cut) {
    throw new ModelError(
      `The tokenizer inside ${file.path} cuts texts by "${name}", which is not supported. Supported: ${knownPreTokenizers.join(', ')}. ${advice}`,
    );
  }
  const byteLevel = {type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false};
  return {
    defaultAddsBos: false,
    normalizer: cut.normalizer,
    pre_tokenizer: cut.preTokenizer,
    post_processor: byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      ...noExtras,
      unk_token: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: cut.ignoresMerges,
      vocab: vocabOf(tokens),
      merges: file.optionalTexts('tokenizer.ggml.merges') ?? [],
    },
  };
}

function pieceParts(file: GgufFile, vocabulary: GgufVocabulary) {
  const prefixes = file.optionalBoolean('tokenizer.ggml.add_space_prefix') ?? true;
  const unknown = vocabulary.kinds.indexOf(tokenKinds.unknown);
  const replaced = {type: 'Replace', pattern: {String: ' '}, content: spaceMark};
  return {
    defaultAddsBos: true,
    normalizer: {
      type: 'Sequence',
      normalizers: [...(prefixes ? [{type: 'Prepend', prepend: spaceMark}] : []), replaced],
    },
    pre_tokenizer: null,
    post_processor: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        {type: 'Replace', pattern: {String: spaceMark}, content: ' '},
        {type: 'ByteFallback'},
        {type: 'Fuse'},
        ...(prefixes ? [{type: 'Strip', content: ' ', start: 1, stop: 0}] : []),
      ],
    },
    model: {
      type: 'BPE',
      ...noExtras,
      unk_token: unknown >= 0 ? vocabulary.tokens[unknown] : null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
      vocab: vocabOf(vocabulary.tokens),
      merges: mergesOf(vocabulary, file.optionalNumbers('tokenizer.ggml.scores') ?? []),
    },
  };
}

function vocabOf(tokens: readonly string[]): Record<string, number> {
  return Object.fromEntries(tokens.map((token, id) => [token, id]));
}

/** Every way to put a piece together from two others, best piece first, as SentencePiece merges them. */
function mergesOf({tokens, kinds}: GgufVocabulary, scores: readonly number[]): [string, string][] {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const merges: {pair: [string, string]; score: number; left: number; right: number}[] = [];
  for (const [id, token] of tokens.entries()) {
    if (kinds[id] !== tokenKinds.normal) continue;
    const characters = [...token];
    for (let cut = 1; cut < characters.length; cut++) {
      const pair: [string, string] = [characters.slice(0, cut).join(''), characters.slice(cut).join('')];
      const [left, right] = [ids.get(pair[0]), ids.get(pair[1])];
      if (left !== undefined && right !== undefined) merges.push({pair, score: scores[id] ?? 0, left, right});
    }
  }
  merges.sort((a, b) => b.score - a.score || a.left - b.left || a.right - b.right);
  return merges.map(({pair}) => pair);
}

/** Ids and texts that are put in front of every prompt. */
function openingTokens(file: GgufFile, {tokens}: GgufVocabulary, byDefault: boolean): {id: number; text: string}[] {
  const adds = file.optionalBoolean('tokenizer.ggml.add_bos_token') ?? byDefault;
  const id = file.optionalInteger('tokenizer.ggml.bos_token_id');
  const text = id === null ? undefined : tokens[id];
  return adds && id !== null && text !== undefined ? [{id, text}] : [];
}

function openingTemplate(opening: readonly {id: number; text: string}[]): JsonObject {
  const special = (typeId: number) => opening.map(({text}) => ({SpecialToken: {id: text, type_id: typeId}}));
  const part = (id: 'A' | 'B', typeId: number) => [...special(typeId), {Sequence: {id, type_id: typeId}}];
  return {
    type: 'TemplateProcessing',
    single: part('A', 0),
    pair: [...part('A', 0), ...part('B', 1)],
    special_tokens: Object.fromEntries(opening.map(({id, text}) => [text, {id: text, ids: [id], tokens: [text]}])),
  };
}
