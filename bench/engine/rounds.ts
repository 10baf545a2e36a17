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

export async function measureRounds(options: RoundsOptions): Promise<RoundsResult> {
  const result: RoundsResult = {samples: {ours: [], llama: []}, load: [], mismatches: []};
  const prompts: Partial<Record<SideName, number[]>> = {};
  for (let round = 0; round < options.workload.rounds; round++) {
    for (const name of orderOfRound(round)) {
      const measured = await measureSide(options, name, round, result.load);
      result.samples[name].push(measured.samples);
      prompts[name] = measured.numPromptTokens;
    }
  }
  return {...result, mismatches: comparePrompts(prompts.ours ?? [], prompts.llama ?? [])};
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

async function measureSide(
  {sides, parts, workload, prompts, onProgress}: RoundsOptions,
  name: SideName,
  round: number,
  load: LoadReading[],
): Promise<ServerResult> {
  const result: ServerResult = {samples: {}, numPromptTokens: []};
  for (const part of parts) {
    const label = `round ${round + 1} of ${workload.rounds}, ${name}, ${part}`;
    onProgress(label);
    const measured = await measureParts[part](sides[name], workload, prompts);
    Object.assign(result.samples, measured.samples);
    result.numPromptTokens = measured.numPromptTokens;
    load.push({label, otherCores: measured.otherCores});
  }
  return {...result, samples: {...result.samples, ...serverOfLoop(result.samples, workload)}};
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
