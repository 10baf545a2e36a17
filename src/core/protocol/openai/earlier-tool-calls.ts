/** Tool calls that already stand in a conversation; parsers whose ids carry a number count on from them. */
import {isPlainObject} from '../../util/parse-json.ts';
import type {ChatMessage} from './messages.ts';

/** Calls in the assistant's messages. */
export function countToolCalls(messages: readonly Pick<ChatMessage, 'role' | 'tool_calls'>[]): number {
  const calls = messages.filter(({role}) => role === 'assistant').map(({tool_calls}) => tool_calls);
  return calls.reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.filter(isPlainObject).length : 0), 0);
}
