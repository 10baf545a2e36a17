/**
 * What chat and completion requests have in common once they are read: the fields that decide how tokens are made. In
 * chat's form; `completion.ts` translates.
 */
import type {ChatCompletionRequest} from './chat-completion.ts';

/** Fields that are about the conversation, its template or its answer's form. */
type ChatOnlyField =
  | 'messages'
  | 'model'
  | 'tools'
  | 'tool_choice'
  | 'parallel_tool_calls'
  | 'reasoning_effort'
  | 'include_reasoning'
  | 'add_generation_prompt'
  | 'continue_final_message'
  | 'add_special_tokens'
  | 'documents'
  | 'chat_template'
  | 'chat_template_kwargs'
  | 'media_io_kwargs'
  | 'mm_processor_kwargs'
  | 'mm_payload'
  | 'request_id'
  | 'session_id'
  | 'user'
  | 'stream_options'
  | 'stream_interval'
  | 'stop_spares_reasoning'
  | 'return_token_offsets'
  | 'return_prompt_text';

export type SamplingRequest = Omit<ChatCompletionRequest, ChatOnlyField>;
