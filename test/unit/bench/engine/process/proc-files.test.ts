import {describe, expect, it} from 'vitest';
import {parseMachineBusyMs, parseProcessStat, selectTree} from '../../../../../bench/engine/process/proc-files.ts';

describe('parseProcessStat', () => {
  it('finds the fields behind a command with spaces and brackets', () => {
    const text = '42 (my (odd) name) S 7 42 42 0 -1 4194304 900 0 0 0 120 30 5 6 20 0 11 0 1000 0 0';
    expect(parseProcessStat(text)).toEqual({pid: 42, parentPid: 7, cpuMs: 1610});
  });
});

describe('parseMachineBusyMs', () => {
  it('counts everything but idle time and waiting for disks', () => {
    const text = 'cpu  1 2 3 1000 2000 4 5 6 0 0\ncpu0 9 9 9 9 9 9 9 9 0 0\n';
    expect(parseMachineBusyMs(text)).toBe(210);
  });
});

describe('selectTree', () => {
  it('takes a process with its descendants and nothing else', () => {
    const process = (pid: number, parentPid: number) => ({pid, parentPid, cpuMs: 0});
    const all = [process(1, 0), process(10, 1), process(11, 10), process(12, 11), process(13, 1)];
    expect(selectTree(all, 10).map(({pid}) => pid)).toEqual([10, 11, 12]);
  });
});
