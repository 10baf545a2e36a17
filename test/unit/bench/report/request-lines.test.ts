import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, it} from 'vitest';
import {openRequestLines} from '../../../../src/bench/report/request-lines.ts';
import {answeredRecord} from '../../../support/bench-records.ts';
import {createTemporaryFolder} from '../../../support/temporary-folder.ts';

const unexpected = (fault: string) => {
  throw new Error(fault);
};

it('has a line for each request as soon as it has ended', async () => {
  const path = join(await createTemporaryFolder(), 'requests.jsonl');
  const lines = openRequestLines(path, unexpected);
  lines.write(answeredRecord([100, 120, 140]));
  lines.write({...answeredRecord([]), failure: {type: 'truncated', message: 'cut'}});
  const written = (await readFile(path, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  lines.close();
  expect(written).toMatchObject([
    {ttft_ms: 100, e2el_ms: 140, tpot_ms: 20, gaps_ms: [20, 20], error_type: null},
    {ttft_ms: null, e2el_ms: null, error_type: 'truncated', error: 'cut'},
  ]);
});

it.skipIf(!existsSync('/dev/full'))('ends early when the disk is full, once, and the run goes on', () => {
  const faults: string[] = [];
  const lines = openRequestLines('/dev/full', (fault) => faults.push(fault));
  for (let times = 0; times < 3; times++) lines.write(answeredRecord([100]));
  lines.close();
  expect(faults).toEqual(['--save-requests /dev/full ends early: no space is left on the disk']);
});
