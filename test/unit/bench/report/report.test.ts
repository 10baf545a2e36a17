import {describe, expect, it} from 'vitest';
import {missedAssertions, parseAssertion} from '../../../../src/bench/report/assertions.ts';
import {compareResults, comparisonTable} from '../../../../src/bench/report/compare.ts';
import {linePlot} from '../../../../src/bench/report/html/svg-plot.ts';
import {csvTable} from '../../../../src/bench/report/result-files.ts';
import {parseFamilies} from '../../../../src/bench/target/server-metrics.ts';

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
