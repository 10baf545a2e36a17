/** Text that a command was pointed at: a file, or `-` for what is piped in. */
import {readFile} from 'node:fs/promises';
import {text as readStream} from 'node:stream/consumers';
import {UsageError} from '../core/errors.ts';
import {readFault} from '../core/util/file-fault.ts';

/** @throws UsageError when the file cannot be read */
export async function readText(name: string): Promise<string> {
  if (name === '-') return readStream(process.stdin);
  try {
    return await readFile(name, 'utf8');
  } catch (cause) {
    throw new UsageError(`${name} cannot be read: ${readFault(cause)}`, {cause});
  }
}
