import {mkdir, stat, symlink} from 'node:fs/promises';
import {join} from 'node:path';
import {afterEach, describe, expect, it, vi} from 'vitest';
import {writableCacheFolder} from '../../../../src/core/model/cache-folder.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

const wanted = {chosen: null, part: 'models', hint: 'Choose another one.'};

afterEach(() => {
  vi.unstubAllEnvs();
});

/** A home whose cache cannot be written, and an empty folder for temporary files. */
async function withoutHome(): Promise<{temporary: string; own: string}> {
  const root = await createTemporaryFolder({file: ''});
  const temporary = join(root, 'tmp');
  await mkdir(temporary);
  vi.stubEnv('XDG_CACHE_HOME', join(root, 'file'));
  vi.stubEnv('TMPDIR', temporary);
  return {temporary, own: join(temporary, `parlance-cache-${process.getuid?.() ?? 'user'}`)};
}

describe.skipIf(process.platform === 'win32')('writableCacheFolder', () => {
  it('takes a folder of the user alone among the temporary files when the home cannot be written', async () => {
    const {own} = await withoutHome();
    expect(await writableCacheFolder(wanted)).toBe(own);
    expect((await stat(own)).mode & 0o777).toBe(0o700);
    expect((await stat(join(own, 'models'))).isDirectory()).toBe(true);
    expect(await writableCacheFolder(wanted)).toBe(own);
  });

  it('takes no folder that somebody else put there', async () => {
    const {temporary, own} = await withoutHome();
    await mkdir(join(temporary, 'elsewhere'));
    await symlink(join(temporary, 'elsewhere'), own);
    await expect(writableCacheFolder(wanted)).rejects.toThrow(/belongs to another user\. Choose another one\.$/);
  });

  it('takes nothing but the chosen folder', async () => {
    const {temporary} = await withoutHome();
    const chosen = join(temporary, 'chosen');
    expect(await writableCacheFolder({...wanted, chosen})).toBe(chosen);
    const impossible = join(temporary, '..', 'file', 'x');
    await expect(writableCacheFolder({...wanted, chosen: impossible})).rejects.toThrow(
      `Cannot write the model cache ${impossible}: `,
    );
  });
});
