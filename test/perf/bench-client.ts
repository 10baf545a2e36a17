/**
 * Measures the load generator itself: `npm run build && npx tsx test/perf/bench-client.ts [STREAMS] [STEP_MS]`. Runs the
 * built `parlance bench` against the stepping server and prints what a token costs the client, how late its loop was and
 * its own verdict. Exits with 1 when 512 streams distort the figures. Needs a machine that does nothing else.
 */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {fileURLToPath} from 'node:url';
import {runProgram} from '../support/run-program.ts';

const [numStreams = 512, stepMs = 50] = process.argv.slice(2).map(Number);
const tokensPerAnswer = 128;
const answersPerStream = 3;

interface Result {
  duration: number;
  completed: number;
  total_output_tokens: number;
  output_throughput: number;
  median_itl_ms: number;
  p99_itl_ms: number;
  client: Record<string, number> & {client_verdict: string};
}

async function startServer(): Promise<{url: string; stop: () => void}> {
  const path = fileURLToPath(new URL('./stepping-server.ts', import.meta.url));
  const argv = ['--import', 'tsx', path, '0', String(stepMs), String(tokensPerAnswer)];
  const child = spawn(process.execPath, argv, {stdio: ['ignore', 'pipe', 'inherit']});
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {url: line.toString().trim().replace('Listening on ', ''), stop: () => void child.kill()};
}

const server = await startServer();
const load = ['--concurrency', String(numStreams), '--num-prompts', String(answersPerStream * numStreams)];
const lengths = ['--input-len', '16', '--output-len', String(tokensPerAnswer), '--skip-tokenizer-init'];
const {stdout, stderr} = await runProgram([
  'bench',
  '--url',
  server.url,
  ...load,
  ...lengths,
  '--no-progress',
  '--json',
]);
server.stop();
if (stdout === '') throw new Error(stderr);
const {client, ...result} = JSON.parse(stdout) as Result;
const microsecondsPerToken = (percent: number) =>
  ((percent / 100) * result.duration * 1e6) / result.total_output_tokens;
const lines = [
  `${numStreams} streams, a step every ${stepMs} ms: ${result.completed} answers, ${result.output_throughput.toFixed(0)} tokens/s`,
  `gaps: median ${result.median_itl_ms.toFixed(2)} ms, p99 ${result.p99_itl_ms.toFixed(2)} ms`,
  `client: ${microsecondsPerToken(client.client_cpu_percent).toFixed(1)} µs CPU a token, of which the sending thread ${microsecondsPerToken(client.client_busiest_thread_percent).toFixed(1)}`,
  `loop delay p99 ${client.client_event_loop_delay_p99_ms.toFixed(1)} ms, run queue wait ${client.client_run_queue_wait_percent.toFixed(1)} %, step cost ${client.client_step_cost_ms?.toFixed(1) ?? '-'} ms: ${client.client_verdict}`,
];
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = client.client_verdict === 'distorted' ? 1 : 0;
