/** Text files that go with a message: their content stands below the text, under their names. */
import {readFile} from 'node:fs/promises';
import {UsageError} from '../core/errors.ts';
import {readFault} from '../core/util/file-fault.ts';

const maxFileBytes = 1024 * 1024;

/** @throws UsageError when a file cannot be read or is no text */
export async function attachFiles(text: string, paths: readonly string[]): Promise<string> {
  const parts = await Promise.all(paths.map(fileText));
  return [text, ...parts].filter((part) => part !== '').join('\n\n');
}

export async function fileText(path: string): Promise<string> {
  const content = await readTextFile(path);
  const fence = '`'.repeat(Math.max(3, longestRun(content) + 1));
  return `${path}:\n${fence}\n${content.replace(/\n$/, '')}\n${fence}`;
}

/** @throws UsageError */
export async function readTextFile(path: string): Promise<string> {
  const bytes = await readFile(path).catch((cause: Error) => {
    throw new UsageError(`${path} cannot be read: ${readFault(cause)}`, {cause});
  });
  if (bytes.length > maxFileBytes) throw new UsageError(`${path} is larger than ${maxFileBytes} bytes`);
  if (bytes.includes(0)) throw new UsageError(`${path} is no text file`);
  return bytes.toString('utf8');
}

/** Of backticks, so that the fence around the text is longer. */
function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}
