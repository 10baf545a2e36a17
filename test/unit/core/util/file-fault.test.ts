import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {readFault, writeFault} from '../../../../src/core/util/file-fault.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

const faultOf = (attempt: Promise<unknown>, words = readFault) => attempt.then(() => 'no fault', words);

describe('what the system says', () => {
  it('is told in words', async () => {
    const folder = await createTemporaryFolder({'a.txt': 'a'});
    await symlink('loop', join(folder, 'loop'));
    expect(await faultOf(readFile(join(folder, 'b.txt')))).toBe('it does not exist');
    expect(await faultOf(readFile(folder))).toBe('it is a folder');
    expect(await faultOf(readFile(join(folder, 'a.txt', 'c.txt')))).toBe('a part of its path is a file and no folder');
    expect(await faultOf(readFile(join(folder, 'loop')))).toBe('its links lead in a circle');
    expect(await faultOf(writeFile(join(folder, 'no', 'd.txt'), ''), writeFault)).toBe('its folder does not exist');
    const inFile = mkdir(join(folder, 'a.txt'), {recursive: true});
    expect(await faultOf(inFile, writeFault)).toBe('a part of its path is a file and no folder');
    expect(await faultOf(writeFile(join(folder, 'a.txt'), '', {flag: 'wx'}), writeFault)).toBe('it is there already');
  });

  it('is left as it is where it is no code of a file', () => {
    expect(readFault(new SyntaxError('Unexpected end of JSON input'))).toBe('Unexpected end of JSON input');
    expect(writeFault(Object.assign(new Error('odd'), {code: 'EODD'}))).toBe('odd');
  });
});
