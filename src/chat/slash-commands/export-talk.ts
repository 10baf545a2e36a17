/** A talk as a Markdown document. */
import type {TalkMessage, WireMessage} from '../conversation/messages.ts';

const headings: Readonly<Record<WireMessage['role'], string>> = {
  system: 'System',
  user: 'You',
  assistant: 'Assistant',
  tool: 'Tool result',
};

export function exportMarkdown(messages: readonly WireMessage[]): string {
  return messages.map(messageMarkdown).join('\n\n');
}

/** From the last question on, with the thoughts. */
export function lastTurnMarkdown(talk: readonly TalkMessage[]): string {
  return exportMarkdown(
    talk.slice(
      Math.max(
        0,
        talk.findLastIndex(({role}) => role === 'user'),
      ),
    ),
  );
}

function messageMarkdown(message: WireMessage): string {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  const callLines = calls.map(({function: {name, arguments: text}}) => `- \`${name}(${text})\``);
  const content = message.role === 'tool' ? `\`\`\`\n${message.content}\n\`\`\`` : message.content;
  const thought = message.role === 'assistant' ? (message.reasoning ?? '').trim().replace(/^(?=.)/gm, '> ') : '';
  const parts = [`## ${headings[message.role]}`, thought, content, callLines.join('\n')];
  return parts.filter((part) => part !== '').join('\n\n');
}
