import {existsSync} from 'node:fs';
import {stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {makeFolder} from '../../../../src/core/util/make-folder.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

describe('makeFolder', () => {
  it('makes the folders above, and takes one that is there', async () => {
    const folder = join(await createTemporaryFolder(), 'a/b/c');
    await Promise.all([makeFolder(folder), makeFolder(folder)]);
    await makeFolder(folder);
    expect((await stat(folder)).isDirectory()).toBe(true);
  });

  it('refuses a path with a file in it', async () => {
    const file = join(await createTemporaryFolder(), 'file');
    await writeFile(file, '');
    await expect(makeFolder(file)).rejects.toThrow('EEXIST');
    await expect(makeFolder(join(file, 'a'))).rejects.toThrow('ENOTDIR');
  });

  it.skipIf(!existsSync('/proc/self'))('gives up where the kernel makes no folders', async () => {
    await expect(makeFolder('/proc/no/such/folder')).rejects.toThrow('ENOENT');
  });
});
