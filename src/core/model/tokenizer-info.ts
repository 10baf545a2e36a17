/** What a client may know of the tokenizer: its configuration file, with a class and the chat template in force. */
import {readJsonObject} from '../util/read-json.ts';
import type {TokenizerFiles} from './tokenizer.ts';

/** The class of transformers that reads any `tokenizer.json`. */
const GENERAL_CLASS = 'PreTrainedTokenizerFast';

/**
 * @param chatTemplate null = there is none
 * @throws ModelError when the configuration file is damaged
 */
export async function readTokenizerInfo(
  files: Pick<TokenizerFiles, 'tokenizerConfigPath'>,
  chatTemplate: string | null,
): Promise<Record<string, unknown>> {
  const config = (await readJsonObject(files.tokenizerConfigPath)) ?? {};
  return {tokenizer_class: GENERAL_CLASS, ...config, ...(chatTemplate !== null && {chat_template: chatTemplate})};
}
