import {describe, expect, it} from 'vitest';
import {IncrementalDetokenizer} from '../../src/core/output/incremental-detokenizer.ts';
import {embeddedTokenizer} from '../support/embedded-model.ts';
import {hasSharedData, readGoldenLines} from '../support/shared-data.ts';

interface StreamCase {
  prompt_ids: number[];
  ids: number[];
  skip_special_tokens: boolean;
  chunks: string[];
}

describe.skipIf(!hasSharedData)('detokenizer-stream-smollm2.jsonl', () => {
  it('gives the recorded text for each token of every stream', async () => {
    const tokenizer = await embeddedTokenizer();
    const cases = readGoldenLines<StreamCase>('detokenizer-stream-smollm2.jsonl');
    const wrong = cases.filter(({prompt_ids, ids, skip_special_tokens, chunks}) => {
      const options = {skipSpecialTokens: skip_special_tokens, spacesBetweenSpecialTokens: true};
      const detokenizer = new IncrementalDetokenizer(tokenizer, prompt_ids, options);
      return JSON.stringify(ids.map((id) => detokenizer.push(id))) !== JSON.stringify(chunks);
    });
    expect(cases.length).toBeGreaterThan(500);
    expect(wrong).toEqual([]);
  });
});
