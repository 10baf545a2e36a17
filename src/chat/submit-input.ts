/** What a person typed goes where it belongs: to a command, or with its files to the model. */
import {existsSync} from 'node:fs';
import {fileText} from './attach-files.ts';
import type {ChatController} from './chat-controller.ts';
import {runSlashCommand} from './slash-commands/commands.ts';
import {mentionedPaths, parseInput} from './slash-commands/parse-input.ts';

/** Resolves when the command or the turn has ended. */
export async function submitInput(chat: ChatController, input: string): Promise<void> {
  const parsed = parseInput(input);
  if (parsed === null) return;
  if (parsed.type === 'command') return runSlashCommand(chat, parsed.name, parsed.argument);
  try {
    await chat.send(await withFiles(chat, parsed.text));
  } catch (error) {
    chat.tell({type: 'note', text: (error as Error).message, tone: 'error'});
    chat.tell({type: 'edit', text: input});
  }
}

async function withFiles(chat: ChatController, text: string): Promise<string> {
  const paths = mentionedPaths(text).filter((path) => existsSync(path));
  const mentioned = await Promise.all(paths.map(fileText));
  const parts = [text, ...chat.attachments, ...mentioned];
  chat.attachments = [];
  return parts.join('\n\n');
}
