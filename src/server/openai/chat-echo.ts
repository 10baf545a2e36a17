/** `echo`: the content of the last message stands before the answer when both have the same role. */
import type {ChatMessage} from '../../core/protocol/openai/messages.ts';

interface EchoFields {
  echo: boolean;
  messages: readonly ChatMessage[];
}

/** @returns the text to put before each choice; empty when there is none */
export function echoedText({echo, messages}: EchoFields, role: string): string {
  const last = messages.at(-1);
  return echo && last?.role === role ? textOf(last.content) : '';
}

function textOf(content: ChatMessage['content']): string {
  if (!Array.isArray(content)) return content ?? '';
  return content
    .map(partText)
    .filter((text) => text !== '')
    .join('\n');
}

function partText(part: Extract<ChatMessage['content'], unknown[]>[number]): string {
  if (typeof part === 'string') return part;
  const text: unknown = part.text ?? (part as {refusal?: unknown}).refusal;
  return typeof text === 'string' ? text : '';
}
