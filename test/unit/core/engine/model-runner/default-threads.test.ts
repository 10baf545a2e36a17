import {expect, test} from 'vitest';
import {defaultThreads} from '../../../../../src/core/engine/model-runner/default-threads.ts';

const siblings = (cpu: number) => `/sys/devices/system/cpu/cpu${cpu}/topology/thread_siblings_list`;
const reader = (files: Record<string, string>) => (path: string) => files[path] ?? null;
const twoCoresOfTwoThreads = {
  '/proc/self/status': 'Name:\tnode\nCpus_allowed_list:\t0-3\n',
  [siblings(0)]: '0,2\n',
  [siblings(1)]: '1,3\n',
  [siblings(2)]: '0,2\n',
  [siblings(3)]: '1,3\n',
};

test.each([
  ['physical cores, not threads', twoCoresOfTwoThreads, 4, 2],
  ['only cores that are allowed', {...twoCoresOfTwoThreads, '/proc/self/status': 'Cpus_allowed_list:\t1,3\n'}, 2, 1],
  ['no more than the quota, rounded up', {'/sys/fs/cgroup/cpu.max': '150000 100000\n'}, 8, 2],
  [
    'the quota in the older form',
    {'/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '300000', '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000'},
    8,
    3,
  ],
  ['at least one', {'/sys/fs/cgroup/cpu.max': '10000 100000\n'}, 8, 1],
  ['no limit', {...twoCoresOfTwoThreads, '/sys/fs/cgroup/cpu.max': 'max 100000\n'}, 4, 2],
  [
    'no limit in the older form',
    {'/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1', '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000'},
    8,
    8,
  ],
  ['a system that does not tell', {}, 6, 6],
])('PR-engine-08: %s', (_name, files, numAllowed, expected) => {
  expect(defaultThreads(reader(files), numAllowed)).toBe(expected);
});
