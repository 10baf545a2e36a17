/**
 * The bodies of `POST /tokenize` (a text or a conversation) and `POST /detokenize`
 * (vllm/entrypoints/serve/tokenize/protocol.py).
 */
import type * as z from 'zod';
import {ValidationError} from '../../errors.ts';
import {isPlainObject} from '../../util/parse-json.ts';
import {checkPromptFlags} from './chat-before-checks.ts';
import {chatCompletionShape, DEFAULT_MAX_STOP_STRINGS} from './chat-completion.ts';
import {laxBool, laxInt, laxList, laxObject, laxString, laxUnion, orDefault, withDefault} from './lax-types.ts';
import type {ChatMessage} from './messages.ts';
import {parseWithSchema, schemaError} from './schema-errors.ts';

const chat = chatCompletionShape({maxStopStrings: DEFAULT_MAX_STOP_STRINGS});

export const tokenizePromptSchema = laxObject({
  model: chat.model,
  prompt: laxString(),
  add_special_tokens: withDefault(laxBool(), true),
  return_token_strs: orDefault(laxBool(), false),
});

export const tokenizeChatSchema = laxObject({
  model: chat.model,
  messages: chat.messages,
  add_generation_prompt: chat.add_generation_prompt,
  return_token_strs: orDefault(laxBool(), false),
  continue_final_message: chat.continue_final_message,
  add_special_tokens: chat.add_special_tokens,
  chat_template: chat.chat_template,
  chat_template_kwargs: chat.chat_template_kwargs,
  media_io_kwargs: chat.media_io_kwargs,
  mm_processor_kwargs: chat.mm_processor_kwargs,
  tools: chat.tools,
});

/** Fields that decide a chat's prompt and that this body does not have. */
const NOT_GIVEN = {
  documents: null,
  reasoning_effort: null,
  truncate_prompt_tokens: null,
  truncation_side: null,
  max_tokens: null,
  max_completion_tokens: null,
};

export type TokenizePromptRequest = {type: 'prompt'} & z.output<typeof tokenizePromptSchema>;
export type TokenizeChatRequest = {type: 'chat'} & z.output<typeof tokenizeChatSchema> & typeof NOT_GIVEN;
export type TokenizeRequest = TokenizePromptRequest | TokenizeChatRequest;

/**
 * A body with messages is a conversation, also next to a prompt.
 * @throws SchemaError with the faults of both forms, when neither fits; ValidationError
 */
export function parseTokenizeRequest(body: unknown): TokenizeRequest {
  refuseMissingBody(body);
  if (isPlainObject(body)) checkPromptFlags(body);
  const conversation = tokenizeChatSchema.safeParse(body);
  if (conversation.success) {
    const messages = conversation.data.messages.map(withoutOldReasoning);
    return {type: 'chat', ...conversation.data, messages, ...NOT_GIVEN};
  }
  const prompt = parseWithSchema(laxUnion([tokenizePromptSchema, tokenizeChatSchema]), body);
  return {type: 'prompt', ...(prompt as z.output<typeof tokenizePromptSchema>)};
}

/** This endpoint does not know the old name of `reasoning`. */
function withoutOldReasoning({reasoning_content: _reasoning, ...message}: ChatMessage): ChatMessage {
  return message;
}

function refuseMissingBody(body: unknown): void {
  if (body === null || body === undefined) throw schemaError([{type: 'missing', path: [], input: null}]);
}

export const detokenizeSchema = laxObject({model: chat.model, tokens: laxList(laxInt({ge: 0}))});

export type DetokenizeRequest = z.output<typeof detokenizeSchema>;

const MAX_TOKEN_ID = 2 ** 32 - 1;

/** @throws SchemaError, ValidationError */
export function parseDetokenizeRequest(body: unknown): DetokenizeRequest {
  refuseMissingBody(body);
  const request = parseWithSchema(detokenizeSchema, body);
  if (request.tokens.some((tokenId) => tokenId > MAX_TOKEN_ID)) {
    throw new ValidationError('number too large to fit in target type');
  }
  return request;
}
