/**
 * Who is measured when: the sides take turns, and each round begins with the other one, so that a slow drift of the
 * machine hits both. Every part gets processes of its own, which end with it.
 */
import {measureServer, type ServerResult} from './http/measure-server.ts';
import {measureLoop} from './loop/measure-loop.ts';
import {watchOtherLoad} from './process/other-load.ts';
import type {BenchPrompts} from './prompts.ts';
import type {SamplesBySide} from './results.ts';
import type {LoadReading, Samples} from './samples.ts';
import {type Side, type SideName, sideNames} from './sides.ts';
import {mostStreams, type Workload} from './workload.ts';

export type Part = 'loop' | 'http';

export interface RoundsOptions {
  sides: Record<SideName, Side>;
  parts: readonly Part[];
  workload: Workload;
  prompts: BenchPrompts;
  onProgress: (line: string) => void;
}

export interface RoundsResult {
  samples: SamplesBySide;
  load: LoadReading[];
  mismatches: string[];
}

export function emptyRounds(): RoundsResult {
  return {samples: {ours: [], llama: []}, load: [], mismatches: []};
}

/** @param result gets every part as soon as it is measured, so that a run that is interrupted has something to report */
export async function measureRounds(options: RoundsOptions, result: RoundsResult): Promise<void> {
  for (let round = 0; round < options.workload.rounds; round++) {
    const {ours, llama} = await measureRound(options, round, result);
    result.mismatches = comparePrompts(ours, llama);
  }
}

export function orderOfRound(round: number): SideName[] {
  return round % 2 === 0 ? [...sideNames] : sideNames.toReversed();
}

/** The second turn holds the first answer, which may differ between the sides; a few tokens are no different work. */
const promptTolerance = 24;

/** @returns sentences about prompts that one side counts differently */
export function comparePrompts(ours: readonly number[], llama: readonly number[]): string[] {
  const differing = ours.flatMap((count, index) =>
    Math.abs(count - llama[index]) > promptTolerance ? `${count}/${llama[index]}` : [],
  );
  if (differing.length === 0) return [];
  return [`the servers count the same prompts differently (tokens ours/llama.cpp: ${differing.join(', ')})`];
}

/** Both sides of a part right after one another, then the next part. @returns the numbers of prompt tokens */
async function measureRound(
  {sides, parts, workload, prompts, onProgress}: RoundsOptions,
  round: number,
  {samples, load}: RoundsResult,
): Promise<Record<SideName, number[]>> {
  const promptTokens: Record<SideName, number[]> = {ours: [], llama: []};
  for (const name of sideNames) samples[name].push({});
  for (const part of parts) {
    for (const name of orderOfRound(round)) {
      const label = `round ${round + 1} of ${workload.rounds}, ${part}, ${name}`;
      onProgress(label);
      const measured = await measureParts[part](sides[name], workload, prompts);
      Object.assign(samples[name][round], measured.samples);
      Object.assign(samples[name][round], serverOfLoop(samples[name][round], workload));
      promptTokens[name].push(...measured.numPromptTokens);
      load.push({label, otherCores: measured.otherCores});
    }
  }
  return promptTokens;
}

type MeasurePart = (
  side: Side,
  workload: Workload,
  prompts: BenchPrompts,
) => Promise<ServerResult & {otherCores: number}>;

const measureParts: Record<Part, MeasurePart> = {
  async loop(side, workload, prompts) {
    const loop = await side.startLoop();
    try {
      const otherCores = watchOtherLoad();
      const samples = await measureLoop(loop, workload, prompts);
      return {samples, numPromptTokens: [], otherCores: otherCores()};
    } finally {
      await loop.child.stop();
    }
  },
  async http(side, workload, prompts) {
    const {child, url} = await side.startServer();
    try {
      const otherCores = watchOtherLoad();
      const server = {url, pid: child.pid, chunkTokens: side.chunkTokens};
      const measured = await child.orExit(measureServer(server, workload, prompts.server));
      return {...measured, otherCores: otherCores()};
    } finally {
      await child.stop();
    }
  },
};

/** How much of the bare loop's speed comes through the whole server, on the same prompts. */
function serverOfLoop(samples: Samples, workload: Workload): Samples {
  const [http, loop] = [samples[`http-output-${mostStreams(workload)}`], samples['loop-burst']];
  return http && loop ? {'http-of-loop': {value: http.value / loop.value, cpuMsPerToken: null}} : {};
}
