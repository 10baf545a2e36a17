import {describe, expect, it} from 'vitest';
import {embeddedTokenizer} from '../support/embedded-model.ts';
import {hasSharedData, readGoldenLines} from '../support/shared-data.ts';

interface TokenizerCase {
  text: string;
  ids: number[];
  decoded: string;
  decoded_skip: string;
}

describe.skipIf(!hasSharedData)('tokenizer-smollm2.jsonl', () => {
  it('gives the ids of every text', async () => {
    const tokenizer = await embeddedTokenizer();
    const cases = readGoldenLines<TokenizerCase>('tokenizer-smollm2.jsonl');
    const wrong: unknown[] = [];
    for (const {text, ids} of cases) {
      const actual = await tokenizer.encode(text, {addSpecialTokens: true});
      if (actual.join() !== ids.join()) wrong.push({text, ids, actual});
    }
    expect(cases.length).toBeGreaterThan(1000);
    expect(wrong).toEqual([]);
  });

  it('gives the texts of all ids, with and without special tokens', async () => {
    const tokenizer = await embeddedTokenizer();
    const wrong = readGoldenLines<TokenizerCase>('tokenizer-smollm2.jsonl').filter(
      ({ids, decoded, decoded_skip}) =>
        tokenizer.decode(ids, {skipSpecialTokens: false}) !== decoded ||
        tokenizer.decode(ids, {skipSpecialTokens: true}) !== decoded_skip,
    );
    expect(wrong).toEqual([]);
  });
});
