/**
 * Every figure of `parlance bench` against servers of known timing, over the shapes of streams and of loads. The truth
 * is computed here from the times at which the server really wrote, by its own clock, with statistics of its own.
 */
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, it, type TestContext} from 'vitest';
import {runProgram} from '../support/run-program.ts';
import type {Answer, Behaviour, Fault, ServedRequest} from '../support/scripted-server/behaviour.ts';
import {withScriptedServer} from '../support/scripted-server/start.ts';
import {createTemporaryFolder} from '../support/temporary-folder.ts';

type Result = Record<string, unknown> & {
  completed: number;
  duration: number;
  start_times: number[];
  requests: {index: number; request_id: string}[];
  failures: Record<string, {count: number}>;
  client: {client_verdict: string};
};

const base = {kind: 'answer', ttftMs: 150, gapMs: 30, numTokens: 12} as const;

/** Each is a way in which real servers stream. */
const shapes: Record<string, Answer> = {
  plain: base,
  'role first': {...base, isRoleFirst: true, ttftMs: 250},
  'several tokens an event': {...base, tokensPerEvent: 3, numTokens: 24, gapMs: 45},
  bursts: {...base, eventsPerBurst: 4, numTokens: 16, gapMs: 90},
  reasoning: {...base, isRoleFirst: true, numReasoning: 5},
  'a tool call': {...base, isToolCall: true, numTokens: 8},
  'a late usage': {...base, usageDelayMs: 200},
  'one token': {...base, numTokens: 1},
};
const faults: Fault[] = [
  {kind: 'cut', numTokens: 3},
  {kind: 'error-event', numTokens: 2},
  {kind: 'stall', numTokens: 2},
  {kind: 'status', status: 503},
];
const answers = Object.values(shapes);

interface Truth {
  plan: Answer;
  sentMs: number;
  served: ServedRequest;
}

const mostTries = 3;

/** A client that had to wait for a processor says so, and its figures are not meant to be exact: then it is tried again. */
async function benchResults({skip}: TestContext, behaviours: readonly Behaviour[], flags: readonly string[]) {
  for (let tries = 0; tries < mostTries; tries++) {
    const outcome = await benchOnce(behaviours, flags);
    if (outcome.results.every(({client}) => client.client_verdict === 'ok')) return outcome;
  }
  return skip('this machine is too busy to measure anything');
}

async function benchOnce(behaviours: readonly Behaviour[], flags: readonly string[]) {
  return withScriptedServer({behaviours: [...behaviours]}, async (server) => {
    const usual = ['--input-len', '8', '--skip-tokenizer-init', '--num-warmups', '8', '--idle-timeout', '1'];
    const output = [
      '--no-progress',
      '--json',
      '--save-detailed',
      '--percentile-metrics',
      'ttfc,ttft,ttfo,tpot,itl,icl,e2el',
    ];
    const {stdout, stderr} = await runProgram(['bench', '--url', server.url, ...usual, ...output, ...flags]);
    expect(stdout, stderr).not.toBe('');
    const document = JSON.parse(stdout) as Result | Result[];
    const served = new Map((await server.served()).map((request) => [request.id, request]));
    return {results: Array.isArray(document) ? document : [document], served};
  });
}

/** The answered requests of a run, as the server saw them. */
function truthsOf(
  result: Result,
  served: ReadonlyMap<string, ServedRequest>,
  behaviours: readonly Behaviour[],
): Truth[] {
  return result.requests.flatMap(({index, request_id: id}, place) => {
    const plan = behaviours[index % behaviours.length];
    const request = served.get(id);
    if (plan.kind !== 'answer' || request === undefined) return [];
    return [{plan, served: request, sentMs: result.start_times[place] * 1000}];
  });
}

const last = <T>(items: readonly T[]): T => items[items.length - 1];
const eventGaps = ({served: {outputMs}}: Truth) => outputMs.slice(1).map((time, index) => time - outputMs[index]);
const tokensOf = ({plan}: Truth) => plan.tokensPerEvent ?? 1;
const latency = ({served: {outputMs}, sentMs}: Truth) => last(outputMs) - sentMs;
const firstToken = ({served: {outputMs}, sentMs}: Truth) => outputMs[0] - sentMs;

const truthOf: Record<string, (truth: Truth) => number[]> = {
  ttft: (truth) => [firstToken(truth)],
  e2el: (truth) => [latency(truth)],
  tpot: (truth) =>
    truth.plan.numTokens > 1 ? [(latency(truth) - firstToken(truth)) / (truth.plan.numTokens - 1)] : [],
  icl: eventGaps,
  itl: (truth) => [
    ...new Array<number>(tokensOf(truth) - 1).fill(0),
    ...eventGaps(truth).flatMap((gap) => new Array<number>(tokensOf(truth)).fill(gap / tokensOf(truth))),
  ],
  ttfo: ({plan, served, sentMs}) =>
    plan.numReasoning === undefined ? [] : [served.outputMs[plan.numReasoning] - sentMs],
};

function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = (percent / 100) * (sorted.length - 1);
  const [low, high] = [Math.floor(rank), Math.ceil(rank)];
  return sorted[low] + (sorted[high] - sorted[low]) * (rank - low);
}
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const statistics: Record<string, (values: readonly number[]) => number> = {
  mean,
  median: (values) => percentile(values, 50),
  std: (values) => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2))),
  p90: (values) => percentile(values, 90),
  p99: (values) => percentile(values, 99),
};

/** A single late read on a busy machine moves a tail, so tails may be off by more. */
const toleranceMs: Record<string, number> = {mean: 1, median: 1, std: 3, p90: 3, p99: 10};

function expectTrueFigures(result: Result, truths: readonly Truth[]): void {
  expect(result.completed).toBe(truths.length);
  for (const [metric, samplesOf] of Object.entries(truthOf)) {
    const samples = truths.flatMap(samplesOf);
    if (samples.length === 0) continue;
    for (const [name, statistic] of Object.entries(statistics)) {
      const [seen, wanted] = [result[`${name}_${metric}_ms`] as number, statistic(samples)];
      const tolerance = Math.max(toleranceMs[name], 0.02 * wanted);
      expect(Math.abs(seen - wanted), `${name} ${metric}: ${seen} is not ${wanted}`).toBeLessThanOrEqual(tolerance);
    }
  }
  const tokens = truths.reduce((sum, {plan}) => sum + plan.numTokens, 0);
  expect(result.total_output_tokens).toBe(tokens);
  expect(result.output_throughput).toBeCloseTo(tokens / result.duration, 6);
  expect(result.request_throughput).toBeCloseTo(truths.length / result.duration, 6);
}

const many = ['--num-prompts', '48'];
const loads: Record<string, string[]> = {
  'closed loop': ['--concurrency', '8', ...many],
  'Poisson arrivals': ['--request-rate', '25', ...many],
  'bursts of arrivals': ['--request-rate', '25', '--burstiness', '0.3', ...many],
  'a rate with few places': ['--request-rate', '40', '--max-concurrency', '6', ...many],
  'a ramp': ['--ramp-up-strategy', 'linear', '--ramp-up-start-rps', '5', '--ramp-up-end-rps', '40', ...many],
  'a sweep': ['--concurrency', '2,6', '--num-prompts', '16'],
  conversations: ['--multi-turn', '3', '--concurrency', '4', '--num-prompts', '12'],
};

describe('figures are those of the server', {retry: 2}, () => {
  it.for(Object.entries(loads))('with %s', async ([_name, flags], context) => {
    const {results, served} = await benchResults(context, answers, flags);
    for (const result of results) expectTrueFigures(result, truthsOf(result, served, answers));
  });

  it('with a trace', async (context) => {
    const path = join(await createTemporaryFolder(), 'trace.jsonl');
    const entry = (index: number) => JSON.stringify({timestamp: index * 70, input_length: 8, output_length: 8});
    await writeFile(path, Array.from({length: 32}, (_, index) => entry(index)).join('\n'));
    const trace = ['--dataset-name', 'timed_trace', '--dataset-path', path, '--timed-trace-sec-multiplier', '0.001'];
    const {results, served} = await benchResults(context, answers, trace);
    expectTrueFigures(results[0], truthsOf(results[0], served, answers));
    const sends = results[0].start_times.map((time) => (time - results[0].start_times[0]) * 1000);
    for (const [index, send] of sends.entries()) expect(Math.abs(send - index * 70)).toBeLessThan(15);
  });

  it('also between answers that break', async (context) => {
    const behaviours: Behaviour[] = answers.flatMap((answer, index) => [answer, faults[index % faults.length]]);
    const {results, served} = await benchResults(context, behaviours, ['--concurrency', '8', '--num-prompts', '64']);
    expectTrueFigures(results[0], truthsOf(results[0], served, behaviours));
    const counts = Object.entries(results[0].failures).map(([type, {count}]) => [type, count]);
    expect(Object.fromEntries(counts)).toEqual({truncated: 8, error_event: 8, timeout_idle: 8, http_503: 8});
  });

  it.for(Object.entries(shapes))('for each shape alone: %s', async ([_name, shape], context) => {
    const {results, served} = await benchResults(context, [shape], ['--concurrency', '4', '--num-prompts', '16']);
    expectTrueFigures(results[0], truthsOf(results[0], served, [shape]));
  });
});

describe('probes', {retry: 2}, () => {
  it('measure beside the load, outside of its places', async (context) => {
    const flags = ['--concurrency', '1', '--num-prompts', '2', '--probe-request-rate', '10'];
    const {results} = await benchResults(context, [{...base, ttftMs: 800}], flags);
    const [result] = results;
    expect(result).toMatchObject({completed: 2, failed: 0, probe_failed: 0, max_in_flight: 1});
    expect(Math.abs((result.probe_completed as number) - result.duration * 10)).toBeLessThanOrEqual(2);
    expect(result.probe_median_e2el_ms).toBeLessThan(100);
  });
});
