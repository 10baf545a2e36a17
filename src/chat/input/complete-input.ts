/** What Tab does: slash commands at the beginning, paths behind an `@`. */
import {type Dirent, readdirSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {sessionFolder} from '../sessions/session-store.ts';
import {slashCommandNames} from '../slash-commands/commands.ts';
import type {Editor} from './editor.ts';

/** What may follow a command. */
const argumentsOf: Readonly<Record<string, () => string[]>> = {
  think: () => ['on', 'off', 'show', 'fold', 'hide'],
  tools: () => ['on', 'off'],
  raw: () => ['on', 'off'],
  copy: () => ['code', 'all'],
  load: storedTalks,
};

function storedTalks(): string[] {
  const files = namesIn(sessionFolder()).filter(({name}) => name.endsWith('.jsonl'));
  return files.map(({name}) => name.slice(0, -'.jsonl'.length));
}

export function completeInput(editor: Editor): Editor {
  const before = editor.text.slice(0, editor.cursor);
  const command = /^\/([a-z]*)$/.exec(before);
  if (command) return completed(editor, command[1]!, slashCommandNames, ' ');
  const word = /^\/([a-z]+)\s+(\S*)$/.exec(before);
  const words = word ? (argumentsOf[word[1]!]?.() ?? []) : [];
  if (words.length > 0) return completed(editor, word![2]!, words, ' ');
  const path = /(?:^|\s)@(\S*)$/.exec(before) ?? /^\/(?:file|export)\s+(\S*)$/.exec(before);
  return path ? completed(editor, path[1]!, pathsWith(path[1]!), '') : editor;
}

/** As far as all candidates agree. */
function completed(editor: Editor, typed: string, names: readonly string[], end: string): Editor {
  const fitting = names.filter((name) => name.startsWith(typed));
  if (fitting.length === 0) return editor;
  const common = fitting.length === 1 ? fitting[0]! + end : commonBeginning(fitting);
  const added = common.slice(typed.length);
  const text = editor.text.slice(0, editor.cursor) + added + editor.text.slice(editor.cursor);
  return {text, cursor: editor.cursor + added.length};
}

function commonBeginning(names: readonly string[]): string {
  let common = names[0]!;
  for (const name of names) while (!name.startsWith(common)) common = common.slice(0, -1);
  return common;
}

function pathsWith(typed: string): string[] {
  const folder = typed.endsWith('/') ? typed : dirname(typed || '.');
  const start = typed.endsWith('/') ? '' : basename(typed);
  const prefix = typed.includes('/') ? folder : '';
  const entries = namesIn(folder).filter(({name}) => name.startsWith(start));
  return entries.map((entry) => join(prefix, entry.name) + (entry.isDirectory() ? '/' : ''));
}

/** A folder that cannot be read has none. */
function namesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, {withFileTypes: true});
  } catch {
    return [];
  }
}
