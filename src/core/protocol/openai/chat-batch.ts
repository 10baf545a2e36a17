/**
 * The body of `POST /v1/chat/completions/batch`: several conversations with the same parameters
 * (vllm/entrypoints/openai/chat_completion/protocol.py, BatchChatCompletionRequest). It becomes one chat request for each
 * conversation, so that everything else is chat's.
 */
import {ValidationError} from '../../errors.ts';
import {isPlainObject} from '../../util/parse-json.ts';
import {isTruthy, numberOf} from './chat-before-checks.ts';
import {
  type ChatCompletionRequest,
  type ChatSchemaLimits,
  chatCompletionShape,
  createChatRequestReader,
} from './chat-completion.ts';
import {chatMessageSchema} from './chat-message-schema.ts';
import {laxList, laxObject} from './lax-types.ts';
import {parseWithSchema, schemaError} from './schema-errors.ts';

type Body = Record<string, unknown>;

/** At least one; they differ in their messages only. */
export type ChatBatchRequest = [ChatCompletionRequest, ...ChatCompletionRequest[]];

/** Fields of chat that a batch ignores. */
const NOT_IN_BATCH = [
  'echo',
  'parallel_tool_calls',
  'return_weight_versions',
  'stream',
  'stream_options',
  'tool_choice',
  'tools',
] as const;

function chatBatchSchema(limits: ChatSchemaLimits) {
  const fields = {
    ...chatCompletionShape(limits),
    messages: laxList(laxList(chatMessageSchema, {min: 1}), {min: 1}),
  };
  return laxObject(withoutIgnored(fields) as Omit<typeof fields, (typeof NOT_IN_BATCH)[number]>);
}

function withoutIgnored<T extends object>(fields: T): Partial<T> {
  const ignored: readonly string[] = NOT_IN_BATCH;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !ignored.includes(name))) as Partial<T>;
}

/** Reads an unknown JSON value as a batch. */
export type ChatBatchReader = (body: unknown) => ChatBatchRequest;

/**
 * Builds the schema once; the reader then throws ValidationError when fields contradict each other (first fault only)
 * and SchemaError when types do not fit (all faults together).
 */
export function createChatBatchReader(limits: ChatSchemaLimits): ChatBatchReader {
  const schema = chatBatchSchema(limits);
  const readChat = createChatRequestReader(limits);
  return (body) => {
    if (body === null || body === undefined) throw schemaError([{type: 'missing', path: [], input: null}]);
    if (isPlainObject(body)) refuseChoices(body);
    const {messages} = parseWithSchema(schema, body);
    const shared = withoutIgnored(body as Body);
    // A list with at least one conversation, as the schema says.
    return messages.map((conversation) => readChat({...shared, messages: conversation})) as ChatBatchRequest;
  };
}

function refuseChoices(body: Body): void {
  const n = numberOf(body.n);
  if (n !== null && n > 1) {
    throw new ValidationError('Batch chat completions do not support `n > 1`. Please set `n` to 1.', {
      param: 'n',
      value: body.n,
    });
  }
  if (isTruthy(body.use_beam_search)) {
    throw new ValidationError(
      'Batch chat completions do not support beam search. Please set `use_beam_search` to False.',
      {param: 'use_beam_search'},
    );
  }
}
