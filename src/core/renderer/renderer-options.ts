/** What a renderer is made with, and which fields of a request it reads. */
import type {Tokenizer} from '../model/tokenizer.ts';
import type {ChatCompletionRequest} from '../protocol/openai/chat-completion.ts';
import type {ContentFormat} from './content-parts.ts';
import type {ChatTemplates} from './find-chat-template.ts';
import type {TemplateRequest} from './template-variables.ts';

/** The fields of a chat request that decide its prompt. */
export type RenderRequest = TemplateRequest &
  Pick<
    ChatCompletionRequest,
    | 'messages'
    | 'chat_template'
    | 'continue_final_message'
    | 'add_special_tokens'
    | 'truncate_prompt_tokens'
    | 'truncation_side'
    | 'max_tokens'
    | 'max_completion_tokens'
  > & {tool_choice?: ChatCompletionRequest['tool_choice']};

export interface RendererOptions {
  tokenizer: Tokenizer;
  templates: ChatTemplates;
  /** `auto` looks at how the template uses the content of messages. */
  contentFormat: ContentFormat | 'auto';
  /** Template variables that a request may override. */
  defaultTemplateKwargs: Readonly<Record<string, unknown>>;
  /** With tool choice `none` the template does not get the tools. */
  hidesUnusedTools?: boolean;
  /** First served name; errors show it. */
  modelName: string;
  maxModelLen: number;
  /** Prompts are made by Harmony, without a template. `date` is asked at every request. */
  harmony?: {date: () => string; hasSystemInstructions: boolean} | null;
  /** Control tokens that stand in messages, tools and documents stay text. */
  escapesControlTokens?: boolean;
  /** How long one template may run; 0 = no limit, absent = 30 seconds. */
  renderTimeoutSeconds?: number;
}
