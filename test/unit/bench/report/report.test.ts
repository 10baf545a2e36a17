import {describe, expect, it} from 'vitest';
import {probeFigures} from '../../../../src/bench/load/probe.ts';
import {missedAssertions, parseAssertion} from '../../../../src/bench/report/assertions.ts';
import {compareResults, comparisonTable} from '../../../../src/bench/report/compare.ts';
import {linePlot} from '../../../../src/bench/report/html/svg-plot.ts';
import {csvTable} from '../../../../src/bench/report/result-files.ts';
import {parseFamilies, type ServerMetrics, speculationOf} from '../../../../src/bench/target/server-metrics.ts';
import {answeredRecord} from '../../../support/bench-records.ts';

it('assertions name the figure that misses', () => {
  const assertions = ['p99_ttft_ms<500', 'failed == 0', 'output_throughput>=1e2', 'nothing>1'].map(parseAssertion);
  const result = {p99_ttft_ms: 501, failed: 0, output_throughput: 100};
  expect(missedAssertions(assertions, result)).toEqual([
    'p99_ttft_ms<500: p99_ttft_ms is 501',
    'nothing>1: the result has no number nothing',
  ]);
});

it('comparisons are in percent, and only of figures', () => {
  const rows = compareResults(
    {completed: 10, mean_ttft_ms: 200, failed: 0, seed: 1, valid: true},
    {completed: 10, mean_ttft_ms: 150, failed: 2, seed: 2, valid: true},
  );
  expect(rows.map(({key, percent}) => [key, percent])).toEqual([
    ['completed', 0],
    ['mean_ttft_ms', -25],
    ['failed', null],
  ]);
  expect(comparisonTable(rows)[2]).toMatch(/^mean_ttft_ms +200\.00 +150\.00 +-25\.0 %$/);
});

it('a CSV has the scalars of every run, quoted where needed', () => {
  expect(
    csvTable([
      {a: 1, list: [1], text: 'x, "y"'},
      {a: null, b: true},
    ]),
  ).toBe('a,text,b\n1,"x, ""y""",\n,,true\n');
});

it('metrics are summed over their labels', () => {
  const text = '# HELP x y\nvllm:a_total{m="x"} 2\nvllm:a_total{m="y} z"} 3.5\nvllm:b 1e3 1700000000\n';
  expect([...parseFamilies(text)]).toEqual([
    ['vllm:a_total', 5.5],
    ['vllm:b', 1000],
  ]);
});

describe('speculation', () => {
  const watched = (fields: Partial<ServerMetrics>): ServerMetrics => ({
    prefix_cache_queries: null,
    prefix_cache_hits: null,
    prefix_cache_hit_rate: null,
    preemptions: null,
    max_running: 0,
    max_waiting: 0,
    spec_decode_num_drafts: null,
    spec_decode_draft_tokens: null,
    spec_decode_accepted_tokens: null,
    spec_decode_accepted_tokens_per_pos: [],
    ...fields,
  });

  it('is none without drafts', () => {
    expect(speculationOf(null)).toBeNull();
    expect(speculationOf(watched({spec_decode_draft_tokens: 0}))).toBeNull();
  });

  it('has rates over drafts and over drafted tokens', () => {
    const metrics = watched({
      spec_decode_num_drafts: 50,
      spec_decode_draft_tokens: 150,
      spec_decode_accepted_tokens: 75,
      spec_decode_accepted_tokens_per_pos: [40, 25, 10],
    });
    expect(speculationOf(metrics)).toMatchObject({
      acceptanceRate: 50,
      acceptanceLength: 2.5,
      ratesByPosition: [0.8, 0.5, 0.2],
    });
  });

  it('keeps the positions of a family apart', () => {
    const text = 'a_total{m="x",position="0"} 4\na_total{m="x",position="1"} 3\n';
    expect([...parseFamilies(text)]).toEqual([
      ['a_total', 7],
      ['a_total@0', 4],
      ['a_total@1', 3],
    ]);
  });
});

it('figures of probes leave failed ones out of the times', () => {
  const records = [
    answeredRecord([100]),
    answeredRecord([300]),
    answeredRecord([9000], {failure: {type: 'connect', message: ''}}),
  ];
  expect(probeFigures(records)).toEqual({completed: 2, failed: 1, medianMs: 200, p99Ms: 298, maxMs: 300});
});

describe('plots', () => {
  it.each([
    ['nothing', []],
    ['one point', [[1, 5]]],
    [
      'a flat line',
      [
        [0, 0],
        [1, 0],
      ],
    ],
    [
      'a usual line',
      [
        [0, 1],
        [5, 300],
      ],
    ],
  ] as [string, [number, number][]][])('are drawn for %s without a number that is none', (_what, points) => {
    const plot = linePlot({xLabel: 'x <', yLabel: 'y', series: [{name: 'a', points}]});
    expect(plot).toMatch(/^<svg .*<\/svg>$/s);
    expect(plot).not.toMatch(/NaN|Infinity|x <[^/]/);
  });
});
