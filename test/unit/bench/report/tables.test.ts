/** The tables of runs, made of outcomes as runs leave them. */
import {describe, expect, it} from 'vitest';
import {type BenchOptions, benchOptionsSchema} from '../../../../src/bench/bench-options.ts';
import {readSettings} from '../../../../src/bench/bench-settings.ts';
import {estimatingTokenizer} from '../../../../src/bench/datasets/prompt-tokenizer.ts';
import {consoleTable} from '../../../../src/bench/report/console-table.ts';
import type {FinishedRun} from '../../../../src/bench/report/result-files.ts';
import {resultObject} from '../../../../src/bench/report/result-json.ts';
import {sweepTable} from '../../../../src/bench/report/sweep-table.ts';
import type {RequestRecord} from '../../../../src/bench/request-record.ts';
import {makeOutcome, type RawOutcome} from '../../../../src/bench/run/outcome.ts';
import {answeredRecord} from '../../../support/bench-records.ts';

const target = {
  baseUrl: 'http://host:1',
  endpoint: '/v1/chat/completions',
  url: 'http://host:1/v1/chat/completions',
  model: 'm',
  modelId: 'org/m',
  listedModels: ['m'],
  maxModelLen: null,
  serverVersion: null,
};

function outcomeOf(records: RequestRecord[], options: Partial<BenchOptions> = {}, fields: Partial<RawOutcome> = {}) {
  return makeOutcome({
    settings: readSettings(benchOptionsSchema.parse(options)),
    target,
    tokenizer: estimatingTokenizer,
    point: {maxConcurrency: 8, requestRate: Number.POSITIVE_INFINITY},
    seed: 1,
    startedAt: new Date(0),
    numPrompts: records.length,
    ignoresEos: false,
    records,
    thread: {loopDelayP99Ms: 1, gcPauseMs: 1, cpuPercent: 5, runQueueWaitPercent: 1, readCostMs: 0.02},
    processTimes: {cpuMs: 50, wallMs: 1000},
    numWorkers: 1,
    serverMetrics: null,
    probe: null,
    isInterrupted: false,
    ...fields,
  });
}

const good = answeredRecord([100, 120, 140]);
const refused: RequestRecord = {
  ...answeredRecord([]),
  failure: {type: 'http_503', message: 'no place is left for this request at the moment, please come again later'},
};

describe('the table of a run', () => {
  it('has sentences that fit into the terminal and rows that never change', () => {
    const outcome = outcomeOf([good, refused]);
    const [whole, narrow] = [consoleTable(outcome, null), consoleTable(outcome, 60)];
    expect(Math.max(...narrow.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(narrow.join(' ').replace(/\s+/g, ' ')).toBe(whole.join(' ').replace(/\s+/g, ' '));
    const rows = (lines: string[]) => lines.filter((line) => /^.{40} \S+ *$/.test(line));
    expect(rows(narrow)).toEqual(rows(whole));
    expect(rows(whole).length).toBeGreaterThan(25);
  });

  it('says what to try below the messages of a failure', () => {
    const lines = consoleTable(outcomeOf([good, refused]), null);
    const place = lines.findIndex((line) => line.startsWith('http_503'));
    expect(lines[place + 1]).toMatch(/^ {2}no place is left/);
    expect(lines[place + 2]).toMatch(/^ {2}-> the server, or a proxy .*--ready-check-timeout-sec/);
  });

  it('has a step cost only where one was measured', () => {
    const health = (readCostMs: number | null) => {
      const thread = {loopDelayP99Ms: 1, gcPauseMs: 1, cpuPercent: 5, runQueueWaitPercent: 1, readCostMs};
      return consoleTable(outcomeOf([good, {...good}], {}, {thread}), null).find((line) => line.startsWith('cpu'));
    };
    expect(health(0.02)).toContain('step cost 0.04 ms');
    expect(health(null)).not.toContain('step cost');
  });

  it.each([
    ['in one piece', [good, answeredRecord([100, 100.2, 100.3]), answeredRecord([100, 100.2, 100.3])], true],
    ['one after the other', [good, good, answeredRecord([100, 100.2, 100.3])], false],
    ['short', [answeredRecord([5]), answeredRecord([5, 5.1])], false],
  ] as const)('warns of streams that are held back: %s', (_name, records, isWarned) => {
    const text = consoleTable(outcomeOf([...records]), null).join('\n');
    expect(text.includes('answers came in one piece')).toBe(isWarned);
  });
});

describe('the table of a sweep', () => {
  const runs = [1, 8, 64].map((maxConcurrency): FinishedRun => {
    const outcome = outcomeOf(
      [good],
      {maxConcurrency: '1,8,64', goodput: ['ttft:200']},
      {
        point: {maxConcurrency, requestRate: Number.POSITIVE_INFINITY},
      },
    );
    return {outcome, result: resultObject(outcome, '1.0.0')};
  });

  it('has one row for each point', () => {
    const lines = sweepTable(runs, null);
    expect(lines).toHaveLength(4);
    expect(lines.map((line) => line.trim().split(/\s+/)[0])).toEqual(['Concurrency', '1', '8', '64']);
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
  });

  it('is cut into tables that fit, each with the points', () => {
    const [title = ''] = sweepTable(runs, null);
    const lines = sweepTable(runs, 60);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    const titles = lines.filter((line) => line.startsWith('Concurrency'));
    expect(titles.length).toBeGreaterThan(1);
    const names = titles
      .join('  ')
      .split(/ {2,}/)
      .filter((name) => !['Concurrency', 'Rate'].includes(name));
    expect(['Concurrency', 'Rate', ...names]).toEqual(title.trim().split(/ {2,}/));
    expect(lines.filter((line) => line === '')).toHaveLength(titles.length - 1);
  });

  it('shows the spread of points that ran several times', () => {
    const later = {...runs[0], result: {...runs[0].result, median_ttft_ms: 300}};
    const [, row] = sweepTable([runs[0], later], null);
    expect(row).toContain('200.0±100.0');
  });
});
