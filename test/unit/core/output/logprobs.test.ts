import {describe, expect, it} from 'vitest';
import {decodePromptLogprobs, LogprobsDecoder} from '../../../../src/core/output/logprobs.ts';
import type {TokenLogprobs} from '../../../../src/core/sampling/token-logprobs.ts';
import {embeddedTokenizer} from '../../../support/embedded-model.ts';

const tokenizer = await embeddedTokenizer();
const encode = (text: string) => tokenizer.encode(text, {addSpecialTokens: false});
const position = (...tokenIds: number[]): TokenLogprobs =>
  tokenIds.map((tokenId, index) => ({tokenId, logprob: -index, rank: index + 1}));

async function textsOf(text: string): Promise<string[]> {
  const decoder = new LogprobsDecoder(tokenizer);
  return (await encode(text)).map((tokenId) => decoder.decode(position(tokenId))[0]!.text);
}

describe('texts of tokens', () => {
  it('are what each decodes to alone', async () => {
    expect(await textsOf('Hello there.')).toEqual(['Hello', ' there', '.']);
  });

  it.each(['é', '😀', '🏳️‍🌈', 'a😀b', '你好', '\u{10FFFF}'])(
    'of %j carry each character once, at its end',
    async (text) => {
      const texts = await textsOf(text);
      expect(texts.join('')).toBe(text);
      expect(texts.join('')).not.toContain('\uFFFD');
    },
  );

  it('are empty for a character that is not complete', async () => {
    const texts = await textsOf('😀');
    expect(texts.length).toBeGreaterThan(1);
    expect(texts.slice(0, -1).every((text) => text === '')).toBe(true);
  });

  it('show special tokens', () => {
    expect(new LogprobsDecoder(tokenizer).decode(position(2, 1)).map(({text}) => text)).toEqual([
      '<|im_end|>',
      '<|im_start|>',
    ]);
  });

  it('of candidates are read behind the tokens that stand before them', async () => {
    const emoji = await encode('😀');
    const decoder = new LogprobsDecoder(tokenizer);
    for (const tokenId of emoji.slice(0, -1)) decoder.skip(tokenId);
    const [hello] = await encode('Hello');
    expect(decoder.decode(position(hello!, emoji.at(-1)!)).map(({text}) => text)).toEqual(['Hello', '😀']);
    expect(decoder.decode(position(emoji.at(-1)!)).map(({text}) => text)).toEqual(['']);
  });
});

describe('logprobs of a prompt', () => {
  it('stand at their tokens, the first of which has none', async () => {
    const ids = await encode('😀 Hello');
    const positions = ids.map((tokenId, index) => (index === 0 ? null : position(tokenId)));
    const decoded = decodePromptLogprobs(tokenizer, ids, positions);
    expect(decoded[0]).toBeNull();
    expect(
      decoded
        .slice(1)
        .map((entries) => entries![0]!.text)
        .join(''),
    ).toBe('😀 Hello');
  });
});
