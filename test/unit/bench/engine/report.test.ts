import {describe, expect, it} from 'vitest';
import {figuresOf} from '../../../../bench/engine/figures.ts';
import {numberText, type RunFacts, renderReport, warnings} from '../../../../bench/engine/report.ts';
import {summarize} from '../../../../bench/engine/results.ts';
import {fullWorkload} from '../../../../bench/engine/workload.ts';

const facts: RunFacts = {
  startedAt: '2026-01-31T12:00:00.000Z',
  processor: 'A processor, 2 cores',
  nodeVersion: '20.20.2',
  threads: 2,
  rounds: 3,
  isQuick: false,
  isInterrupted: false,
  model: 'the embedded model',
  llamaVersion: '3.22.1',
  servers: {ours: 'our server', llama: 'a small server'},
  loadAverage: {before: [0.1, 0.2, 0.3], after: [2, 1, 0.5]},
  load: [],
  mismatches: [],
};

describe('renderReport', () => {
  const rounds = (value: number) => [{'loop-decode-1': {value, cpuMsPerToken: 1000 / value}}];
  const report = (ours: number, llama: number) =>
    renderReport(facts, summarize(figuresOf(fullWorkload), {ours: rounds(ours), llama: rounds(llama)}));

  it('draws one row per figure, with ratio, CPU time and target', () => {
    const cells = report(112.4, 100)
      .split('\n')
      .find((line) => line.includes('decode, 1 stream'))!
      .split('|');
    expect(cells.map((cell) => cell.trim()).filter((cell) => cell !== '')).toEqual([
      'loop: decode, 1 stream',
      'tokens/s',
      '112',
      '100',
      '1.12',
      '8.90',
      '10.0',
      'ratio >= 1',
      'yes',
    ]);
  });

  it('says loudly where a target is missed', () => {
    expect(report(90, 100)).toMatch(/ratio >= 1 +\| NO /);
  });

  it('is a Markdown table: every line of it has the same cells and width', () => {
    const lines = report(1, 2)
      .split('\n')
      .filter((line) => line.startsWith('|'));
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
    expect(new Set(lines.map((line) => line.split('|').length)).size).toBe(1);
  });

  it('says what the servers are', () => {
    expect(report(1, 2)).toContain("ours is our server; llama.cpp's is a small server");
  });
});

describe('warnings', () => {
  it('has none for a quiet full run', () => {
    expect(warnings({...facts, load: [{label: 'round 1', otherCores: 0.2}]})).toEqual([]);
  });

  it('names the parts during which the machine was busy', () => {
    const load = [
      {label: 'round 1', otherCores: 0.2},
      {label: 'round 2', otherCores: 1.26},
    ];
    expect(warnings({...facts, load})).toEqual([expect.stringMatching(/busy.*round 2 1\.3$/)]);
  });

  it('says that a run was cut off', () => {
    expect(warnings({...facts, isInterrupted: true})).toEqual([expect.stringContaining('interrupted')]);
  });

  it('says that a quick run does not count', () => {
    expect(warnings({...facts, isQuick: true})).toEqual([expect.stringContaining('quick run')]);
  });
});

it.each([
  [1234.5, '1235'],
  [99.96, '100'],
  [12.345, '12.3'],
  [1.2345, '1.23'],
  [null, ''],
])('numberText(%d) is "%s"', (value, text) => {
  expect(numberText(value)).toBe(text);
});

it('every figure has an id of its own, and every target that names a figure finds it', () => {
  const figures = figuresOf(fullWorkload);
  const ids = figures.map(({id}) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const {target} of figures) if (target?.type === 'other') expect(ids).toContain(target.id);
});
