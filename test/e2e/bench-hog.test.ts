/**
 * A load generator that has to wait for a processor measures itself, and must say so: with two busy processes beside it for
 * each core the run is not valid, without them it is.
 */
import {spawn} from 'node:child_process';
import {readFile} from 'node:fs/promises';
import {availableParallelism} from 'node:os';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {describe, expect, it} from 'vitest';
import {ThreadMeter} from '../../src/bench/load/thread-meter.ts';
import {runProgram} from '../support/run-program.ts';
import {withScriptedServer} from '../support/scripted-server/start.ts';
import {createTemporaryFolder} from '../support/temporary-folder.ts';

/** Enough streams that the client has something to read at any time. */
const streams = ['--concurrency', '64', '--num-prompts', '128'];
const answer = {kind: 'answer', ttftMs: 100, gapMs: 20, numTokens: 40} as const;

interface Result {
  valid: boolean;
  client: {client_verdict: string};
}

async function measure(): Promise<{table: string; page: string; result: Result}> {
  const folder = await createTemporaryFolder();
  const page = join(folder, 'page.html');
  const output = ['--save-result', '--result-dir', folder, '--result-filename', 'result.json', '--html', page];
  const usual = ['--input-len', '8', '--output-len', '40', '--skip-tokenizer-init', '--no-progress'];
  const {code, stdout, stderr} = await withScriptedServer({behaviours: [answer]}, ({url}) =>
    runProgram(['bench', '--url', url, ...streams, ...usual, ...output], {niceness}),
  );
  expect(code, stderr).toBe(0);
  const result = JSON.parse(await readFile(join(folder, 'result.json'), 'utf8')) as Result;
  return {table: stdout, page: await readFile(page, 'utf8'), result};
}

const hogsPerCore = 2;
/** Systems favour whoever sleeps most, and so the client; less than its fair share brings it behind the hogs anywhere. */
const niceness = 5;

async function withHogs<T>(use: () => Promise<T>): Promise<T> {
  const length = hogsPerCore * availableParallelism();
  const hogs = Array.from({length}, () => spawn(process.execPath, ['-e', 'for (;;);']));
  try {
    return await use();
  } finally {
    for (const hog of hogs) hog.kill('SIGKILL');
  }
}

/** Whether something else already makes threads wait here. */
async function isBusy(): Promise<boolean> {
  const meter = new ThreadMeter();
  for (let times = 0; times < 300; times++) await delay(1);
  const {loopDelayP99Ms, runQueueWaitPercent} = meter.finish();
  return loopDelayP99Ms > 3 || (runQueueWaitPercent ?? 0) > 5;
}

// Nobody promises how a system shares its processors, and somebody else may want them for a while.
describe('a CPU hog beside the client', {retry: 2}, () => {
  it('makes the run invalid, with a box above the numbers', async () => {
    const {table, page, result} = await withHogs(measure);
    expect(result).toMatchObject({valid: false, client: {client_verdict: 'distorted'}});
    expect(table).toMatch(/^\+-+\+\n\| THIS RUN IS NOT VALID: .*\n(\|.*\n)+\+-+\+\n=+ Serving Benchmark Result =+$/m);
    expect(table).toMatch(/^Verdict: +distorted *$/m);
    expect(page).toContain('This run is not valid');
  });

  it('is what makes it so: without one the run is valid', async ({skip}) => {
    if (await isBusy()) skip('something else keeps this machine busy');
    const {table, page, result} = await measure();
    expect(result.client.client_verdict).not.toBe('distorted');
    expect(result.valid).toBe(true);
    expect(table).not.toContain('NOT VALID');
    expect(page).not.toContain('This run is not valid');
  });
});
