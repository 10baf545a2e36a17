import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {afterAll, beforeAll, expect, it} from 'vitest';

const script = resolve(import.meta.dirname, '../../../scripts/sum-reports.mjs');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'parlance-reports-'));
});

afterAll(() => rmSync(folder, {recursive: true}));

type Counts = [passed: number, failed: number, pending: number];

function closingLine(failedSteps: number, counts: Counts[]): string {
  const paths = counts.map(([numPassedTests, numFailedTests, numPendingTests], index) => {
    const path = join(folder, `${index}.json`);
    writeFileSync(path, JSON.stringify({numPassedTests, numFailedTests, numPendingTests}));
    return path;
  });
  const {stdout, status} = spawnSync(process.execPath, [script, String(failedSteps), ...paths], {encoding: 'utf8'});
  return `${stdout.trim()} (${status})`;
}

it.each<[string, number, Counts[], string]>([
  [
    'everything passed',
    0,
    [
      [10, 0, 0],
      [5, 0, 0],
    ],
    '15 passed, 0 failed (0)',
  ],
  ['some were skipped', 0, [[10, 0, 2]], '10 passed, 0 failed, 2 skipped (0)'],
  ['tests failed, and so did their step', 1, [[10, 3, 0]], '10 passed, 3 failed (1)'],
  ['a step without tests failed', 1, [[10, 0, 0]], '10 passed, 1 failed (1)'],
  ['both', 2, [[10, 3, 0]], '10 passed, 4 failed (1)'],
  ['the build failed', 1, [], '0 passed, 1 failed (1)'],
  ['no test ran', 0, [], '0 passed, 0 failed (1)'],
])('%s', (_name, failedSteps, counts, expected) => {
  expect(closingLine(failedSteps, counts)).toBe(expected);
});

it('passes over a report that was not written', () => {
  const {stdout} = spawnSync(process.execPath, [script, '1', join(folder, 'missing.json')], {encoding: 'utf8'});
  expect(stdout.trim()).toBe('0 passed, 1 failed');
});
