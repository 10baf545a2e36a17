/** Writes a file under another name and renames it, so that readers see the old content or the new one, never a part. */
import {randomBytes} from 'node:crypto';
import {rename, rm, writeFile} from 'node:fs/promises';

export async function writeFileAtomically(file: string, content: string | Uint8Array): Promise<void> {
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(draft, content);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, {force: true});
    throw error;
  }
}
