/**
 * Keeps a server busy for a while and looks whether it stays well: `npx tsx test/perf/soak.ts --minutes 20 --streams 32`.
 * Requests of every kind, some of whose clients go away or read slowly. Flat memory, every choice ends once, and in the
 * end nothing runs, nothing is held, and as many sequences as at the start can run at the same time. Exit code 1 says
 * that something was wrong. `--sources` runs the sources instead of the built program; further arguments go to the server.
 */
import {writeFileSync} from 'node:fs';
import {setTimeout as delay} from 'node:timers/promises';
import {parseArgs} from 'node:util';
import {Random} from '../../src/core/sampling/random.ts';
import {type ServeProcess, startServe} from '../support/serve-process.ts';
import {sendRequest} from './soak/client.ts';
import {drawRequest} from './soak/traffic.ts';
import {growthFault, type MemorySample, memoryNow, metricOf} from './soak/watch.ts';

const {values: options, positionals: furtherArguments} = parseArgs({
  allowPositionals: true,
  options: {
    minutes: {type: 'string', default: '20'},
    streams: {type: 'string', default: '32'},
    seed: {type: 'string', default: '1'},
    sources: {type: 'boolean', default: false},
    json: {type: 'string'},
  },
});
const durationMs = Number(options.minutes) * 60_000;
const numStreams = Number(options.streams);
const settleMs = 60_000;
const sampleMs = 2_000;
/** Small enough that sequences are preempted now and then. */
const cacheTokens = 8_192;
/** Of the embedded model. */
const cacheBytesPerToken = 46_080;
const serverArguments = [
  ...['--max-model-len', '2048', '--max-num-seqs', String(numStreams)],
  ...['--kv-cache-memory-bytes', String(cacheTokens * cacheBytesPerToken)],
  ...['--enable-auto-tool-choice', '--tool-call-parser', 'hermes', '--log-level', 'warning'],
];

const counts = new Map<string, {complete: number; left: number}>();
const faults: string[] = [];

function note(kind: string, end: 'complete' | 'left', fault: string | null): void {
  const count = counts.get(kind) ?? {complete: 0, left: 0};
  counts.set(kind, count);
  count[end]++;
  if (fault !== null) faults.push(`${kind}: ${fault}`);
}

/** One client: request after request until the time is over. */
async function stream(url: string, index: number, endMs: number): Promise<void> {
  const random = Random.fromSeed(BigInt(options.seed) * 1000n + BigInt(index));
  const next = () => random.nextUniform();
  while (performance.now() < endMs) {
    const request = drawRequest(next);
    const {end, fault} = await sendRequest(url, request, next);
    note(request.kind, end, fault);
  }
}

/** Writes the whole cache once: its memory is taken when it is first written, which is no leak. */
async function fillCache(url: string): Promise<void> {
  const random = Random.fromSeed(BigInt(options.seed));
  const length = Math.floor(cacheTokens / numStreams);
  const prompt = Array.from({length: numStreams}, () =>
    Array.from({length}, () => 1000 + Math.floor(random.nextUniform() * 40_000)),
  );
  const init = {
    method: 'POST',
    headers: {'content-type': 'application/json'},
    body: JSON.stringify({prompt, max_tokens: 1}),
  };
  const {status} = await fetch(`${url}/v1/completions`, init);
  if (status !== 200) faults.push(`filling the cache: status ${status}`);
}

async function sampleMemory({pid, enginePid}: ServeProcess, startedAtMs: number, endMs: number) {
  const samples: MemorySample[] = [];
  while (performance.now() < endMs) {
    await delay(sampleMs);
    samples.push(memoryNow(pid, enginePid, startedAtMs));
    if (samples.length % 15 === 0) report(samples.at(-1) as MemorySample);
  }
  return samples;
}

function report({atMs, serverMb, engineMb}: MemorySample): void {
  const numEnded = [...counts.values()].reduce((sum, {complete, left}) => sum + complete + left, 0);
  const memory = `server ${serverMb.toFixed(0)} MB, engine ${engineMb.toFixed(0)} MB`;
  process.stdout.write(`${(atMs / 60_000).toFixed(1)} min: ${numEnded} requests, ${memory}, ${faults.length} faults\n`);
}

/** Waits until a metric has a value. */
async function expectMetric(url: string, name: string, wanted: number): Promise<void> {
  const endMs = performance.now() + settleMs;
  let value = await metricOf(url, name);
  while (value !== wanted && performance.now() < endMs) {
    await delay(200);
    value = await metricOf(url, name);
  }
  if (value !== wanted) faults.push(`${name} is ${value}, not ${wanted}`);
}

async function expectIdle(url: string): Promise<void> {
  for (const name of ['num_requests_running', 'num_requests_waiting', 'kv_cache_usage_perc']) {
    await expectMetric(url, `vllm:${name}`, 0);
  }
}

/** All slots can be taken at once, and given back. */
async function expectAllSlots(url: string): Promise<void> {
  const leaving = new AbortController();
  const body = {messages: [{role: 'user', content: 'Count.'}], max_tokens: 200, ignore_eos: true, stream: true};
  const streams = Array.from({length: numStreams}, async () => {
    const init = {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify(body)};
    const response = await fetch(`${url}/v1/chat/completions`, {...init, signal: leaving.signal});
    await response.text();
  });
  await expectMetric(url, 'vllm:num_requests_running', numStreams);
  leaving.abort();
  await Promise.allSettled(streams);
  await expectIdle(url);
}

const server = await startServe({
  argv: [...serverArguments, ...furtherArguments],
  ...(options.sources && {program: ['--import', 'tsx', 'bin/dev.js']}),
});
try {
  await fillCache(server.url);
  const startedAtMs = performance.now();
  const endMs = startedAtMs + durationMs;
  const [samples] = await Promise.all([
    sampleMemory(server, startedAtMs, endMs),
    ...Array.from({length: numStreams}, (_, index) => stream(server.url, index, endMs)),
  ]);
  await expectIdle(server.url);
  await expectAllSlots(server.url);
  const memoryFaults = [
    growthFault(
      'the server',
      samples.map(({serverMb}) => serverMb),
    ),
    growthFault(
      'the engine',
      samples.map(({engineMb}) => engineMb),
    ),
  ];
  faults.push(...memoryFaults.filter((fault) => fault !== null));
  const numPreemptions = await metricOf(server.url, 'vllm:num_preemptions_total');
  process.stdout.write(`${numPreemptions} preemptions\n`);
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify({samples, counts: [...counts], faults}));
} finally {
  const {code, signal} = await server.stop();
  if (code !== 0) faults.push(`the server ended with code ${code}, signal ${signal}`);
}

for (const [kind, {complete, left}] of counts) {
  process.stdout.write(`${kind}: ${complete} complete, ${left} left early\n`);
}
for (const line of server.logMessages()) faults.push(`log: ${line}`);
for (const fault of [...new Set(faults)].slice(0, 30)) process.stdout.write(`FAULT ${fault}\n`);
process.stdout.write(faults.length === 0 ? 'All is well.\n' : `${faults.length} faults\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
