/**
 * `npm run bench:engine`: our engine loop and our server side by side with llama.cpp. Progress goes to stderr, the
 * report to stdout. docs/benchmarks.md says what is measured and how, and keeps what came out (case PR-engine-04).
 */
import {spawnSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {setTimeout} from 'node:timers/promises';
import {resolveModel} from '../../src/core/model/resolve-model.ts';
import {findPackageRoot} from '../../src/core/util/package-root.ts';
import {figuresOf} from './figures.ts';
import {installLlama, llamaPackageVersion} from './llama/llama-package.ts';
import {type BenchOptions, helpText, parseOptions} from './options.ts';
import {endChildrenWithProcess} from './process/child.ts';
import {watchOtherLoad} from './process/other-load.ts';
import {createPrompts} from './prompts.ts';
import {busyCores, type RunFacts, renderReport} from './report.ts';
import {summarize} from './results.ts';
import {emptyRounds, measureRounds, type RoundsResult} from './rounds.ts';
import {createSides, type Side, type SideName} from './sides.ts';

/** How long the machine is watched before anything is measured. */
const loadWatchMs = 1000;

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (options.help) return void process.stdout.write(helpText);
  if (process.platform !== 'linux') throw new Error('The benchmark reads CPU times from /proc and runs on Linux only.');
  const {workload, parts} = options;
  const before = {startedAt: new Date().toISOString(), loadAverage: os.loadavg()};
  const {sides, prompts} = await prepare(options);
  const measured = emptyRounds();
  endChildrenWithProcess(() => report(factsOf(options, sides, measured, before, true), measured, options));
  await warnOfLoad();
  await measureRounds({sides, parts, workload, prompts, onProgress}, measured);
  report(factsOf(options, sides, measured, before, false), measured, options);
}

function report(facts: RunFacts, {samples}: RoundsResult, {workload, jsonPath}: BenchOptions): void {
  const results = summarize(figuresOf(workload), samples);
  process.stdout.write(`${renderReport(facts, results)}\n`);
  if (jsonPath !== null) writeFileSync(jsonPath, `${JSON.stringify({facts, results}, null, 2)}\n`);
}

/** llama.cpp's threads spin while they wait for one another: with others on the cores, a run may take an hour. */
async function warnOfLoad(): Promise<void> {
  const otherCores = watchOtherLoad();
  await setTimeout(loadWatchMs);
  const busy = otherCores();
  if (busy > busyCores) {
    onProgress(`other processes use ${busy.toFixed(1)} cores: this takes long, and the figures will not count`);
  }
}

/** Everything that takes time and is not measured. */
async function prepare({model, threads, workload, llamaFolder, llamaServerPath, parts, build}: BenchOptions) {
  const llamaEntry = await installLlama(llamaFolder, onProgress);
  if (build && parts.includes('http')) buildServer();
  const files = await resolveModel(model);
  const prompts = await createPrompts(files, workload);
  const sides = createSides({model, files, threads, workload, prompts, llamaEntry, llamaServerPath});
  return {sides, prompts};
}

function buildServer(): void {
  onProgress('building the server');
  const {status} = spawnSync('npm', ['run', '--silent', 'build'], {cwd: findPackageRoot(), stdio: ['ignore', 2, 2]});
  if (status !== 0) throw new Error('The server could not be built. With --no-build the last build is measured.');
}

function factsOf(
  {model, threads, workload, isQuick}: BenchOptions,
  sides: Record<SideName, Side>,
  {load, mismatches}: RoundsResult,
  before: {startedAt: string; loadAverage: number[]},
  isInterrupted: boolean,
): RunFacts {
  return {
    startedAt: before.startedAt,
    processor: `${os.cpus()[0].model.trim()}, ${os.availableParallelism()} cores`,
    nodeVersion: process.versions.node,
    threads,
    rounds: workload.rounds,
    isQuick,
    isInterrupted,
    model: model === null ? 'the embedded model' : path.basename(model),
    llamaVersion: llamaPackageVersion,
    servers: {ours: sides.ours.serverTitle, llama: sides.llama.serverTitle},
    loadAverage: {before: before.loadAverage, after: os.loadavg()},
    load,
    mismatches,
  };
}

function onProgress(line: string): void {
  process.stderr.write(`[bench:engine] ${line}\n`);
}

try {
  await main();
  process.exit();
} catch (error) {
  onProgress((error as Error).message);
  process.exit(1);
}
