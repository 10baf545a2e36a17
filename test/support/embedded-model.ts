/** The model in the repository, for tests: where its files are and its tokenizer, loaded once per test file. */
import {join} from 'node:path';
import {loadTokenizer, type Tokenizer} from '../../src/core/model/tokenizer.ts';

export const embeddedModelFolder = join(import.meta.dirname, '../../models/smollm2-135m-instruct');

let tokenizer: Promise<Tokenizer> | null = null;

export function embeddedTokenizer(): Promise<Tokenizer> {
  tokenizer ??= loadTokenizer({
    tokenizerPath: join(embeddedModelFolder, 'tokenizer.json'),
    tokenizerConfigPath: join(embeddedModelFolder, 'tokenizer_config.json'),
    specialTokensMapPath: null,
  });
  return tokenizer;
}
