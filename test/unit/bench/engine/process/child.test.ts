import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {Child} from '../../../../../bench/engine/process/child.ts';

const script = (text: string) => ({command: process.execPath, args: ['-e', text]});

/** False also for a process that has ended and waits for its parent to notice. */
function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe.skipIf(process.platform !== 'linux')('Child', () => {
  it('waits for a line, and ends the process with what it started', async () => {
    const child = new Child(
      script(`
        const {spawn} = require('node:child_process');
        const grandchild = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {stdio: 'ignore'});
        console.log('grandchild ' + grandchild.pid + ' here');
        setInterval(() => {}, 1000);
      `),
    );
    const [, grandchildPid] = await child.waitForOutput(/grandchild (\d+) here/);
    expect(isAlive(Number(grandchildPid))).toBe(true);
    await child.stop();
    expect(isAlive(child.pid)).toBe(false);
    await expect.poll(() => isAlive(Number(grandchildPid)), {timeout: 5000}).toBe(false);
  });

  it('reports a process that ends too early, with its last words', async () => {
    const child = new Child(script(`console.error('no such model'); process.exit(3)`));
    await expect(child.waitForOutput(/Listening/)).rejects.toThrow(/ended[\s\S]*no such model/);
    await child.stop();
  });

  it('reports a program that does not exist', async () => {
    const child = new Child({command: '/no/such/program', args: []});
    await expect(child.waitForOutput(/Listening/)).rejects.toThrow(/ENOENT/);
    await child.stop();
  });

  it('carries messages', async () => {
    const child = new Child({...script(`process.on('message', (text) => process.send(text + '!'))`), ipc: true});
    child.process.send('hello');
    expect((await once(child.process, 'message'))[0]).toBe('hello!');
    await child.stop();
  });
});
