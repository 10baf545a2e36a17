/** From the samples of all rounds to one result per figure: spread, CPU time, ratio, and whether the target is met. */
import type {Figure, Target} from './figures.ts';
import type {Sample, Samples} from './samples.ts';
import type {SideName} from './sides.ts';
import {median, type Spread, spread} from './statistics.ts';

/** Samples of all rounds, in the order of the rounds. */
export type SamplesBySide = Record<SideName, Samples[]>;

export interface SideResult extends Spread {
  cpuMsPerToken: number | null;
  values: number[];
}

export interface FigureResult {
  figure: Figure;
  ours: SideResult | null;
  llama: SideResult | null;
  /** How many times better ours is; null when a side is missing. */
  ratio: number | null;
  target: TargetResult | null;
}

export interface TargetResult {
  text: string;
  /** Null when it cannot be said. */
  isMet: boolean | null;
}

/** @returns the figures that at least one side has */
export function summarize(figures: readonly Figure[], samples: SamplesBySide): FigureResult[] {
  const results = figures.map((figure): FigureResult => {
    const [ours, llama] = [sideResult(figure, samples.ours), sideResult(figure, samples.llama)];
    return {figure, ours, llama, ratio: ratioOf(figure, ours, llama), target: null};
  });
  return results
    .filter(({ours, llama}) => ours !== null || llama !== null)
    .map((result) => ({...result, target: targetResult(result, results)}));
}

function sideResult({id}: Figure, rounds: readonly Samples[]): SideResult | null {
  const samples: Sample[] = rounds.flatMap((round) => round[id] ?? []);
  if (samples.length === 0) return null;
  const values = samples.map(({value}) => value);
  const cpu = samples.flatMap(({cpuMsPerToken}) => cpuMsPerToken ?? []);
  return {...spread(values), cpuMsPerToken: cpu.length > 0 ? median(cpu) : null, values};
}

function ratioOf({better}: Figure, ours: SideResult | null, llama: SideResult | null): number | null {
  if (!ours || !llama) return null;
  return better === 'higher' ? ours.median / llama.median : llama.median / ours.median;
}

function targetResult(result: FigureResult, all: readonly FigureResult[]): TargetResult | null {
  const {target} = result.figure;
  return target ? {text: targetText(target), isMet: isMet(target, result, all)} : null;
}

function targetText(target: Target): string {
  switch (target.type) {
    case 'ratio':
      return `ratio >= ${target.atLeast}`;
    case 'value':
      return target.atLeast === undefined ? `<= ${target.atMost}` : `>= ${target.atLeast}`;
    case 'other':
      return `<= ${target.text} x ${target.atMostTimes}`;
  }
}

function isMet(target: Target, {ours, ratio}: FigureResult, all: readonly FigureResult[]): boolean | null {
  switch (target.type) {
    case 'ratio':
      return ratio === null ? null : ratio >= target.atLeast;
    case 'value': {
      const {atLeast = -Infinity, atMost = Infinity} = target;
      return ours === null ? null : ours.median >= atLeast && ours.median <= atMost;
    }
    case 'other': {
      const other = all.find(({figure}) => figure.id === target.id)?.ours;
      return ours && other ? ours.median <= other.median * target.atMostTimes : null;
    }
  }
}
