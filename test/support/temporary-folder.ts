/** Real files for a test: a folder that is gone when the test has ended. */
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {onTestFinished} from 'vitest';

/** @param files content by path below the folder; an object is written as JSON */
export async function createTemporaryFolder(files: Record<string, string | object> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parlance-test-'));
  onTestFinished(() => rm(folder, {recursive: true, force: true}));
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(dirname(path), {recursive: true});
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}
