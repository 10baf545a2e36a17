/**
 * A prompt of a completion request to what the model gets: no template, only tokens within the context length. Token ids
 * are taken as they are.
 */
import type {Tokenizer} from '../model/tokenizer.ts';
import type {CompletionPrompt, CompletionRequest} from '../protocol/openai/completion.ts';
import {encodePrompt, fitTokenIds} from './encode-prompt.ts';
import {type RenderedPrompt, tokensToKeep} from './render-chat.ts';

export type PromptRequest = Pick<
  CompletionRequest,
  'add_special_tokens' | 'truncate_prompt_tokens' | 'truncation_side'
> & {max_tokens: number | null};

/**
 * A text prompt keeps its text when it is truncated; the text of token ids is that of the ids that are left.
 * @throws ValidationError when the prompt is longer than the context
 */
export async function renderPrompt(
  prompt: CompletionPrompt,
  request: PromptRequest,
  {tokenizer, maxModelLen}: {tokenizer: Tokenizer; maxModelLen: number},
): Promise<RenderedPrompt> {
  const options = {
    maxModelLen,
    addSpecialTokens: request.add_special_tokens,
    keepTokens: tokensToKeep({...request, max_completion_tokens: null}, maxModelLen),
    truncationSide: request.truncation_side,
  };
  if (typeof prompt === 'string') return {text: prompt, tokenIds: await encodePrompt(tokenizer, prompt, options)};
  const tokenIds = fitTokenIds(prompt, options);
  return {text: tokenizer.decode(tokenIds, {skipSpecialTokens: false}), tokenIds};
}
