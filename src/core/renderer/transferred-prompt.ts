/**
 * `kv_transfer_params.prompt_token_ids`: a chat whose prompt another server has made already, as token ids. They take
 * the place of the messages, unless these hold media or are to be echoed.
 */
import {ValidationError} from '../errors.ts';
import type {ChatCompletionRequest} from '../protocol/openai/chat-completion.ts';
import {isMediaPart} from './content-parts.ts';

/**
 * @param request its `kv_transfer_params` have been checked: the ids are a list that is not empty
 * @returns null when the messages make the prompt
 * @throws ValidationError for an id that the model does not know
 */
export function transferredPrompt(
  {kv_transfer_params: params, echo, messages}: ChatCompletionRequest,
  vocabSize: number,
): number[] | null {
  const tokenIds = (params?.prompt_token_ids ?? null) as number[] | null;
  if (tokenIds === null || echo || messages.some(hasMedia)) return null;
  const unknownId = tokenIds.find((tokenId) => tokenId >= vocabSize);
  if (unknownId === undefined) return tokenIds;
  throw new ValidationError(`Token id ${unknownId} is out of vocabulary`, {
    param: 'kv_transfer_params.prompt_token_ids',
  });
}

function hasMedia({content}: ChatCompletionRequest['messages'][number]): boolean {
  return Array.isArray(content) && content.some(isMediaPart);
}
