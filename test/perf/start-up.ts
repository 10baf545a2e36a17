/**
 * Measures the start of the built command line on purpose: `npx tsx test/perf/start-up.ts [rounds]`. Prints each case as
 * milliseconds (least, median) and as a ratio to `node -e 0`, beside the ratio it may have. Exits 1 above a limit.
 */
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {connect} from 'node:net';
import {resolve} from 'node:path';
import {freePort} from '../support/free-port.ts';

const program = resolve(import.meta.dirname, '../../bin/run.js');
const rounds = Number(process.argv[2] ?? 9);

/** Name, arguments of node, largest ratio to bare node. */
const cases: [string, string[], number][] = [
  ['node -e 0', ['-e', '0'], 1],
  ['--version', [program, '--version'], 1.6],
  ['--help', [program, '--help'], 7],
  ['serve --help', [program, 'serve', '--help'], 7],
  ['serve --show-config', [program, 'serve', '--show-config'], 9],
];

const portBoundLimit = 9;

/** Milliseconds until a program has ended. */
function measure(argv: string[]): number {
  const start = performance.now();
  const {status, stderr} = spawnSync(process.execPath, argv, {encoding: 'utf8'});
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - start;
}

/** Rounds go over all cases in turn, so that a busy moment hits all of them. */
const times = cases.map(() => [] as number[]);
for (let round = 0; round < rounds; round++) {
  for (const [index, [, argv]] of cases.entries()) times[index]!.push(measure(argv));
}

/** Milliseconds until `serve` accepts connections; the model is loaded after that. */
async function measurePortBound(): Promise<number> {
  const port = await freePort();
  const start = performance.now();
  const child = spawn(process.execPath, [program, 'serve', '--port', String(port)], {stdio: 'ignore'});
  while (!(await accepts(port))) await new Promise((wake) => setTimeout(wake, 2));
  const duration = performance.now() - start;
  child.kill('SIGKILL');
  await once(child, 'exit');
  return duration;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
    socket.once('close', () => settle(false)).once('connect', () => socket.destroy());
  });
}

function report(name: string, durations: number[], limit: number): void {
  const [least = 0] = durations.toSorted((left, right) => left - right);
  const ratio = least / bareMs;
  const isSlow = ratio > limit;
  if (isSlow) process.exitCode = 1;
  const verdict = `ratio ${ratio.toFixed(2)} (limit ${limit})${isSlow ? ' TOO SLOW' : ''}`;
  console.log(
    `${name.padEnd(22)} ${least.toFixed(0).padStart(5)} / ${median(durations).toFixed(0).padStart(5)} ms  ${verdict}`,
  );
}

function median(values: number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!;
}

const portBound: number[] = [];
for (let round = 0; round < Math.min(3, rounds); round++) portBound.push(await measurePortBound());

const bareMs = Math.min(...times[0]!);
for (const [index, [name, , limit]] of cases.entries()) report(name, times[index]!, limit);
report('serve to port bound', portBound, portBoundLimit);
