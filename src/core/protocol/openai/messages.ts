/** Chat messages as they stand on the wire and as templates read them: snake_case, unknown keys possible. */

export interface TextPart {
  type: 'text';
  text: string;
}

export type ContentPart = TextPart | {type: string; [key: string]: unknown};

/** Any object with a role: the OpenAI roles and whatever role a template knows. */
export interface ChatMessage {
  role: string;
  content?: string | (ContentPart | string)[] | null | undefined;
  name?: unknown;
  tool_call_id?: unknown;
  tool_calls?: unknown;
  reasoning?: unknown;
  [key: string]: unknown;
}
