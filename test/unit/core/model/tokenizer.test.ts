import {join} from 'node:path';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {Tokenizer as NativeTokenizer} from 'tokenizers';
import {describe, expect, it} from 'vitest';
import {loadTokenizer, type Tokenizer} from '../../../../src/core/model/tokenizer.ts';
import {IncrementalDetokenizer} from '../../../../src/core/output/incremental-detokenizer.ts';
import {Random} from '../../../../src/core/sampling/random.ts';
import {embeddedTokenizer} from '../../../support/embedded-model.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

/** A vocabulary as SentencePiece models have it: words open with `▁`, unknown characters fall back to bytes. */
const sentencePieceJson = {
  version: '1.0',
  added_tokens: [
    {id: 0, content: '<unk>', special: true, single_word: false, lstrip: false, rstrip: false, normalized: false},
    {id: 1, content: '<s>', special: true, single_word: false, lstrip: false, rstrip: false, normalized: false},
    {id: 2, content: '</s>', special: true, single_word: false, lstrip: false, rstrip: false, normalized: false},
  ],
  normalizer: {
    type: 'Sequence',
    normalizers: [
      {type: 'Prepend', prepend: '▁'},
      {type: 'Replace', pattern: {String: ' '}, content: '▁'},
    ],
  },
  decoder: {
    type: 'Sequence',
    decoders: [
      {type: 'Replace', pattern: {String: '▁'}, content: ' '},
      {type: 'ByteFallback'},
      {type: 'Fuse'},
      {type: 'Strip', content: ' ', start: 1, stop: 0},
    ],
  },
  model: {
    type: 'BPE',
    unk_token: '<unk>',
    byte_fallback: true,
    fuse_unk: true,
    vocab: Object.fromEntries(
      [
        '<unk>',
        '<s>',
        '</s>',
        ...Array.from({length: 256}, (_, byte) => byteToken(byte)),
        '▁',
        'a',
        'b',
        '▁a',
        '▁b',
      ].map((token, id) => [token, id]),
    ),
    merges: [
      ['▁', 'a'],
      ['▁', 'b'],
    ],
  },
};

function byteToken(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
}

async function loadFrom(files: Record<string, string | object>): Promise<Tokenizer> {
  const folder = await createTemporaryFolder(files);
  return loadTokenizer({
    tokenizerPath: join(folder, 'tokenizer.json'),
    tokenizerConfigPath: join(folder, 'tokenizer_config.json'),
    specialTokensMapPath: join(folder, 'special_tokens_map.json'),
  });
}

describe('the embedded tokenizer', () => {
  it('knows its size, its longest entry and its special tokens', async () => {
    const tokenizer = await embeddedTokenizer();
    expect(tokenizer.vocabSize).toBe(49152);
    expect(tokenizer.maxTokenChars).toBe(81);
    expect(tokenizer.eosTokenId).toBe(2);
    expect(Object.fromEntries(tokenizer.specialTokens)).toEqual({
      bos_token: '<|im_start|>',
      eos_token: '<|im_end|>',
      unk_token: '<|endoftext|>',
      pad_token: '<|im_end|>',
    });
    expect(tokenizer.specialTokenIds.size).toBe(17);
  });

  it('turns special tokens in a text into their ids', async () => {
    const tokenizer = await embeddedTokenizer();
    expect(await tokenizer.encode('hi<|im_end|>', {addSpecialTokens: false})).toEqual([6004, 2]);
  });

  it('gives nothing for nothing and for unknown ids', async () => {
    const tokenizer = await embeddedTokenizer();
    expect(await tokenizer.encode('', {addSpecialTokens: false})).toEqual([]);
    expect(tokenizer.decode([], {skipSpecialTokens: true})).toBe('');
    expect(tokenizer.decode([49152, 1_000_000], {skipSpecialTokens: false})).toBe('');
    expect(tokenizer.idToToken(49152)).toBeNull();
    expect(tokenizer.tokenBytes(49152)).toBeNull();
  });

  it('refuses a lone surrogate and says where it is', async () => {
    const tokenizer = await embeddedTokenizer();
    await expect(tokenizer.encode('a\ud800b', {addSpecialTokens: false})).rejects.toMatchObject({
      name: 'ValidationError',
      message: expect.stringContaining('U+D800 at position 1'),
    });
  });

  it('PR-engine-02: keeps a bounded number of the words that it saw', async () => {
    const tokenizer = await embeddedTokenizer();
    setFlagsFromString('--expose_gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const random = Random.fromSeed(1n);
    const word = () => Array.from({length: 120}, () => String.fromCharCode(97 + (random.nextUint32() % 26))).join('');
    const bytesAfter = async (numWords: number) => {
      for (let count = 0; count < numWords; count += 100) {
        await Promise.all(Array.from({length: 100}, () => tokenizer.encode(word(), {addSpecialTokens: false})));
      }
      collectGarbage();
      return process.memoryUsage().rss;
    };
    // A word takes about 10 kB, so 10,000 of them that were kept would show.
    const full = await bytesAfter(10_000);
    expect((await bytesAfter(10_000)) - full).toBeLessThan(70_000_000);
  }, 120_000);

  it('keeps the event loop free while it encodes a long text', async () => {
    const tokenizer = await embeddedTokenizer();
    const encoding = tokenizer.encode('a'.repeat(200_000), {addSpecialTokens: false}).then(() => 'encoded');
    const timer = new Promise((resolve) => setImmediate(resolve, 'free'));
    expect(await Promise.race([encoding, timer])).toBe('free');
    await encoding;
  });

  it.each([
    ['one word', 'a'],
    ['underscores', '_'],
    ['spaces', ' '],
    ['digits', '7'],
  ])('takes linear time for %s', async (_what, character) => {
    const tokenizer = await embeddedTokenizer();
    const time = async (length: number) => {
      const start = performance.now();
      await tokenizer.encode(character.repeat(length), {addSpecialTokens: false});
      return performance.now() - start;
    };
    await time(20_000);
    const ratio = (await time(160_000)) / Math.min(await time(20_000), await time(20_000), await time(20_000));
    expect(ratio).toBeLessThan(8 * 4);
  });

  it('decodes as the native library does', async () => {
    const tokenizer = await embeddedTokenizer();
    const native = NativeTokenizer.fromFile(
      join(import.meta.dirname, '../../../../models/smollm2-135m-instruct/tokenizer.json'),
    );
    for (let start = 0; start < 49152; start += 4096) {
      const ids = Array.from({length: 200}, (_, index) => (start + index * 37) % 49152);
      expect(tokenizer.decode(ids, {skipSpecialTokens: false})).toBe(await native.decode(ids, false));
      expect(tokenizer.decode(ids, {skipSpecialTokens: true})).toBe(await native.decode(ids, true));
    }
  });
});

describe('a tokenizer with other decoder steps', () => {
  const load = () =>
    loadFrom({'tokenizer.json': sentencePieceJson, 'tokenizer_config.json': {eos_token: {content: '</s>'}}});

  it('encodes and decodes', async () => {
    const tokenizer = await load();
    const ids = await tokenizer.encode('a b🌍 a', {addSpecialTokens: false});
    expect(tokenizer.isByteLevel).toBe(false);
    expect(tokenizer.eosTokenId).toBe(2);
    expect(tokenizer.tokenBytes(260)).toBeNull();
    expect(tokenizer.decode(ids, {skipSpecialTokens: true})).toBe('a b🌍 a');
    expect(tokenizer.decode([1, ...ids, 2], {skipSpecialTokens: true})).toBe('a b🌍 a');
    expect(tokenizer.decode([], {skipSpecialTokens: true})).toBe('');
  });

  it('streams the same text, with the leading space that the prompt decides', async () => {
    const tokenizer = await load();
    const ids = await tokenizer.encode('a b🌍 a', {addSpecialTokens: false});
    const options = {skipSpecialTokens: true, spacesBetweenSpecialTokens: true};
    const alone = new IncrementalDetokenizer(tokenizer, [], options);
    expect(ids.map((id) => alone.push(id))).toEqual(['a', ' b', '', '', '', '🌍', ' a']);
    const afterPrompt = new IncrementalDetokenizer(tokenizer, ids, options);
    expect(ids.map((id) => afterPrompt.push(id)).join('')).toBe(' a b🌍 a');
  });
});

describe('a tokenizer without decoder steps', () => {
  it('writes a space between tokens, and none between special tokens when told so', async () => {
    const tokenizer = await loadFrom({'tokenizer.json': {...sentencePieceJson, decoder: null}});
    const stream = (spacesBetweenSpecialTokens: boolean) => {
      const detokenizer = new IncrementalDetokenizer(tokenizer, [], {
        skipSpecialTokens: false,
        spacesBetweenSpecialTokens,
      });
      return [260, 1, 2, 260].map((id) => detokenizer.push(id)).join('');
    };
    expect(stream(true)).toBe('a <s> </s> a');
    expect(stream(false)).toBe('a <s></s> a');
  });
});

describe('loadTokenizer', () => {
  it('reads special tokens of the older file where the newer one is silent', async () => {
    const tokenizer = await loadFrom({
      'tokenizer.json': sentencePieceJson,
      'tokenizer_config.json': {bos_token: '<s>', eos_token: null},
      'special_tokens_map.json': {bos_token: '<unk>', eos_token: '</s>'},
    });
    expect(Object.fromEntries(tokenizer.specialTokens)).toEqual({bos_token: '<s>', eos_token: '</s>'});
  });

  it.each([
    ['an HTML page', '<html>'],
    ['half a file', '{"model": {"vocab": {'],
    ['another JSON file', '{"a": 1}'],
    ['an unknown model type', '{"model": {"type": "Magic", "vocab": {}}}'],
  ])('PR-engine-10: names the file when it is %s', async (_what, text) => {
    await expect(loadFrom({'tokenizer.json': text})).rejects.toMatchObject({
      name: 'ModelError',
      message: expect.stringContaining('tokenizer.json'),
    });
  });

  it('names the file when it is missing', async () => {
    await expect(loadFrom({})).rejects.toMatchObject({
      name: 'ModelError',
      message: expect.stringContaining('tokenizer.json'),
    });
  });
});
