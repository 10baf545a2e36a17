/** The messages of a talk in the form of the API, and what is kept beside them. */

export interface ToolCall {
  id: string;
  type: 'function';
  function: {name: string; arguments: string};
}

export interface SystemMessage {
  role: 'system';
  content: string;
}

export interface UserMessage {
  role: 'user';
  content: string;
}

export interface AssistantMessage {
  role: 'assistant';
  content: string;
  /** Kept with the talk; sent back only where it helps. */
  reasoning?: string;
  tool_calls?: ToolCall[];
}

export interface ToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

export type TalkMessage = UserMessage | AssistantMessage | ToolMessage;
export type WireMessage = SystemMessage | TalkMessage;

export type KeepReasoning = 'auto' | 'always' | 'never';

/**
 * What is sent of a talk. With `auto` thoughts go back only behind the last question: models that call tools want to
 * see why they did, and templates drop older thoughts anyway.
 */
export function toWireMessages(talk: readonly TalkMessage[], keepReasoning: KeepReasoning): TalkMessage[] {
  const lastQuestion = talk.findLastIndex(({role}) => role === 'user');
  return talk.map((message, index) => {
    const keeps = keepReasoning === 'always' || (keepReasoning === 'auto' && index > lastQuestion);
    return message.role === 'assistant' && !keeps ? withoutReasoning(message) : message;
  });
}

function withoutReasoning({reasoning: _reasoning, ...message}: AssistantMessage): AssistantMessage {
  return message;
}
