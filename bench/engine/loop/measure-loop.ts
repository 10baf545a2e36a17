/** Everything that is measured on a bare loop. */
import {type BenchPrompts, promptCutter} from '../prompts.ts';
import {medianSample, type Sample, type Samples} from '../samples.ts';
import type {Workload} from '../workload.ts';
import type {LoopChild} from './loop-child.ts';
import {burstSpeed, decodeSpeed, prefillSpeed} from './token-marks.ts';

type PromptCutter = ReturnType<typeof promptCutter>;

const warmUpTask = {promptTokens: 32, outputTokens: 4};

export async function measureLoop(loop: LoopChild, workload: Workload, prompts: BenchPrompts): Promise<Samples> {
  const samples: Samples = {};
  const cut = promptCutter(prompts.textTokenIds);
  await warmUp(loop, workload, cut);
  for (const length of workload.prefillLengths) {
    samples[`loop-prefill-${length}`] = await measurePrefill(loop, length, workload.prefillRepeats, cut);
  }
  for (const streams of workload.streams) {
    const tokens = cut(streams, workload.decodePromptTokens);
    const marks = await loop.run({prompts: tokens, numTokens: workload.decodeTokens});
    samples[`loop-decode-${streams}`] = decodeSpeed(marks);
  }
  const burst = await loop.run({prompts: prompts.burstTokenIds, numTokens: workload.httpOutputTokens});
  samples['loop-burst'] = burstSpeed(burst);
  return samples;
}

/** First runs of each batch size allocate. */
async function warmUp(loop: LoopChild, workload: Workload, cut: PromptCutter): Promise<void> {
  for (const streams of workload.streams) {
    const tokens = cut(streams, warmUpTask.promptTokens);
    await loop.run({prompts: tokens, numTokens: warmUpTask.outputTokens});
  }
}

async function measurePrefill(loop: LoopChild, length: number, repeats: number, cut: PromptCutter): Promise<Sample> {
  const runs: Sample[] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const marks = await loop.run({prompts: cut(1, length), numTokens: 1});
    runs.push(prefillSpeed(marks, length));
  }
  return medianSample(runs);
}
