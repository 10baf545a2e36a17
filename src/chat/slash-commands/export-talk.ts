/** A talk as a Markdown document. */
import type {WireMessage} from '../conversation/messages.ts';

const headings: Readonly<Record<WireMessage['role'], string>> = {
  system: 'System',
  user: 'You',
  assistant: 'Assistant',
  tool: 'Tool result',
};

export function exportMarkdown(messages: readonly WireMessage[]): string {
  return messages.map(messageMarkdown).join('\n\n');
}

function messageMarkdown(message: WireMessage): string {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  const callLines = calls.map(({function: {name, arguments: text}}) => `- \`${name}(${text})\``);
  const content = message.role === 'tool' ? `\`\`\`\n${message.content}\n\`\`\`` : message.content;
  const parts = [`## ${headings[message.role]}`, content, callLines.join('\n')];
  return parts.filter((part) => part !== '').join('\n\n');
}
