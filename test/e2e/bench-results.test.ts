/** What `parlance bench` leaves: tables, result files with the keys of vLLM, sweeps, and the exit code of its limits. */
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {answer, type BenchResult, bench} from '../support/bench-run.ts';
import {runProgram} from '../support/run-program.ts';
import {startScriptedServer, withScriptedServer} from '../support/scripted-server/start.ts';
import {createTemporaryFolder} from '../support/temporary-folder.ts';

describe('results', () => {
  it('show percentiles and the maximum beside each mean by default (PR-bench-06)', async () => {
    const script = {behaviours: [answer({ttftMs: 20, gapMs: 5}), answer({ttftMs: 300, gapMs: 5})]};
    const {stdout} = await withScriptedServer(script, ({url}) =>
      runProgram(['bench', '--url', url, '--num-prompts', '20', '--input-len', '8', '--no-progress']),
    );
    const figureOf = (label: string) => {
      const line = stdout.split('\n').find((candidate) => candidate.startsWith(`${label} (ms):`));
      return Number(line?.slice(41));
    };
    for (const metric of ['TTFT', 'TPOT', 'ITL', 'E2EL']) {
      const values = ['Median', 'P90', 'P99', 'Max'].map((name) => figureOf(`${name} ${metric}`));
      expect(values, stdout).toEqual([...values].sort((a, b) => a - b));
      expect(values[0]).toBeGreaterThan(0);
      expect(figureOf(`Mean ${metric}`)).toBeLessThanOrEqual(figureOf(`Max ${metric}`));
    }
    expect(figureOf('Max TTFT')).toBeGreaterThanOrEqual(299);
    expect(figureOf('P90 TTFT')).toBeGreaterThanOrEqual(299);
  });

  it('have the keys of vLLM, in order, and lead back to the data set (PR-bench-10)', async () => {
    const folder = await createTemporaryFolder();
    const path = join(folder, 'data.jsonl');
    const entries = [1, 2, 3].map((id) => ({
      id: `case-${id}`,
      messages: [
        {role: 'system', content: 'Be brief.'},
        {role: 'user', content: `Say ${id}`},
      ],
    }));
    await writeFile(path, entries.map((entry) => JSON.stringify(entry)).join('\n'));
    const server = await startScriptedServer({behaviours: [answer({gapMs: 2})]});
    const requestsPath = join(folder, 'requests.jsonl');
    const argv = [
      'bench',
      '--url',
      server.url,
      '--dataset-name',
      'custom',
      '--dataset-path',
      path,
      '--num-prompts',
      '3',
      '--disable-shuffle',
      '--concurrency',
      '2',
      '--metadata',
      'build=7',
      '--api-key',
      'secret-key',
      '--result-filename',
      'out.json',
      '--result-dir',
      folder,
      '--save-result',
      '--save-detailed',
      '--save-requests',
      requestsPath,
      '--html',
      join(folder, 'out.html'),
      '--csv',
      join(folder, 'out.csv'),
    ];
    const {code, stdout} = await runProgram(argv).finally(server.stop);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^============ Serving Benchmark Result ============\nSuccessful requests: {21}3 {9}\nFailed requests: {25}0/m,
    );
    for (const label of ['Mean TTFT (ms):', 'P99 ITL (ms):', 'Max E2EL (ms):', 'P90 TPOT (ms):'])
      expect(stdout).toContain(label);
    const text = await readFile(join(folder, 'out.json'), 'utf8');
    expect(text).not.toContain('secret-key');
    const result = JSON.parse(text) as BenchResult & {requests: {id: string}[]};
    expect(Object.keys(result).slice(0, contractKeys.length)).toEqual(contractKeys);
    expect(result.requests.map(({id}) => id)).toEqual(['case-1', 'case-2', 'case-3']);
    const lines = (await readFile(requestsPath, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as {id: string; ttft_ms: number});
    expect(lines.map(({id}) => id).sort()).toEqual(['case-1', 'case-2', 'case-3']);
    const page = await readFile(join(folder, 'out.html'), 'utf8');
    expect(page.match(/<svg /g)?.length).toBeGreaterThanOrEqual(5);
    expect(page).not.toMatch(/https?:\/\/(?!127\.0\.0\.1)|NaN/);
    expect((await readFile(join(folder, 'out.csv'), 'utf8')).trim().split('\n')).toHaveLength(2);
  });

  it('of a sweep lie in the folders that vLLM plots', async () => {
    const folder = await createTemporaryFolder();
    const server = await startScriptedServer({behaviours: [answer({ttftMs: 5, gapMs: 2})]});
    const argv = [
      'bench',
      '--url',
      server.url,
      '--input-len',
      '8',
      '--output-len',
      '8',
      '--num-prompts',
      '4',
      '--concurrency',
      '1,2',
      '--result-dir',
      folder,
      '--save-result',
      '--label',
      'sweep',
      '--no-progress',
    ];
    const {code, stdout, stderr} = await runProgram(argv).finally(server.stop);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Concurrency +Rate +Done/);
    const written = [...stderr.matchAll(/^Wrote (.*)$/gm)].map(([, path]) => path.replace(/sweep-[\d-]+/, 'sweep'));
    expect(written.map((path) => path.slice(folder.length + 1))).toEqual([
      'sweep/BENCH-max_concurrency=1/run=0.json',
      'sweep/BENCH-max_concurrency=1/summary.json',
      'sweep/BENCH-max_concurrency=2/run=0.json',
      'sweep/BENCH-max_concurrency=2/summary.json',
      'sweep/summary.csv',
    ]);
  });

  it('of a search that finds no rate say so below the table', async () => {
    const script = {behaviours: [answer({ttftMs: 30, gapMs: 1, numTokens: 2})]};
    const flags = ['--duration', '1', '--input-len', '8', '--no-progress', '--find-max-rate', '--goodput', 'ttft:1'];
    const {code, stdout} = await withScriptedServer(script, ({url}) => runProgram(['bench', '--url', url, ...flags]));
    expect(code).toBe(3);
    expect(stdout).toMatch(/^Concurrency +Rate +Done.*\n(?: .*\n)+No rate meets the limits\.\n$/m);
  });

  it('are judged by limits: exit code 3', async () => {
    const script = {behaviours: [answer({ttftMs: 50})]};
    const missed = await bench(script, ['--num-prompts', '4', '--assert', 'median_ttft_ms<1']);
    expect(missed.code).toBe(3);
    expect(missed.stderr).toMatch(/^Missed: median_ttft_ms<1: median_ttft_ms is \d/m);
    const good = await bench(script, [
      '--num-prompts',
      '4',
      '--goodput',
      'ttft:5',
      'e2el:9000',
      '--goodput-min',
      '0.5',
    ]);
    expect(good.code).toBe(3);
    expect(good.result).toMatchObject({request_goodput: 0, slo_attainment: 0});
  });
});

const contractKeys = [
  'date',
  'endpoint_type',
  'backend',
  'label',
  'model_id',
  'tokenizer_id',
  'num_prompts',
  'build',
  'request_rate',
  'burstiness',
  'max_concurrency',
  'duration',
  'completed',
  'failed',
  'total_input_tokens',
  'total_output_tokens',
  'request_throughput',
  'request_goodput',
  'output_throughput',
  'total_token_throughput',
  'input_lens',
  'output_lens',
  'ttfts',
  'itls',
  'latencies',
  'start_times',
  'queue_times',
  'generated_texts',
  'errors',
  'max_output_tokens_per_s',
  'max_concurrent_requests',
  'rtfx',
  ...['ttft', 'tpot', 'itl', 'e2el'].flatMap((metric) => [
    `mean_${metric}_ms`,
    `median_${metric}_ms`,
    `std_${metric}_ms`,
    `p99_${metric}_ms`,
  ]),
];
