/**
 * Measures the start of the built command line on purpose: `npx tsx test/perf/start-up.ts [rounds]`. Prints each case as
 * milliseconds (least, median) and as a ratio to `node -e 0`, beside the ratio it may have. Exits 1 above a limit.
 */
import {spawnSync} from 'node:child_process';
import {resolve} from 'node:path';

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

const sorted = times.map((list) => list.toSorted((left, right) => left - right));
const [bare] = sorted;
for (const [index, [name, , limit]] of cases.entries()) {
  const least = sorted[index]![0]!;
  const median = sorted[index]![Math.floor(rounds / 2)]!;
  const ratio = least / bare![0]!;
  const isSlow = ratio > limit;
  if (isSlow) process.exitCode = 1;
  const verdict = `ratio ${ratio.toFixed(2)} (limit ${limit})${isSlow ? ' TOO SLOW' : ''}`;
  console.log(`${name.padEnd(22)} ${least.toFixed(0).padStart(5)} / ${median.toFixed(0).padStart(5)} ms  ${verdict}`);
}
