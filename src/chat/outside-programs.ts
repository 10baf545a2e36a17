/**
 * The editor and the pager of the person, as the environment names them. They get the whole terminal: the caller draws
 * nothing meanwhile.
 */
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {UsageError} from '../core/errors.ts';
import type {ChatTerminal} from './chat-terminal.ts';
import {withoutControls} from './safe-text.ts';

type Programs = Pick<ChatTerminal, 'runProgram' | 'env'>;

/** @returns what the text became @throws UsageError when the editor fails */
export async function editOutside(text: string, {runProgram, env}: Programs): Promise<string> {
  const editor = env.VISUAL || env.EDITOR || 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'parlance-'));
  const path = join(folder, 'message.md');
  try {
    await writeFile(path, text, {mode: 0o600});
    const code = runProgram(`${editor} "$1"`, [path], null);
    if (code !== 0) {
      throw new UsageError(`${editor} ended with ${code}; the text is as it was. EDITOR names another editor.`);
    }
    return (await readFile(path, 'utf8')).replace(/\n$/, '');
  } finally {
    await rm(folder, {recursive: true, force: true});
  }
}

/** @throws UsageError when the pager fails */
export function showInPager(text: string, {runProgram, env}: Programs): void {
  const pager = env.PAGER || 'less -R';
  const code = runProgram(pager, [], withoutControls(text));
  if (code !== 0) throw new UsageError(`${pager} ended with ${code}. PAGER names another pager.`);
}
