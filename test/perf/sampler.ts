/**
 * Measures the sampler on purpose: `npx tsx test/perf/sampler.ts`. Rows of 49,152 logits with the shape of a language
 * model's, 32 of them, median of several rounds; prints CPU milliseconds per row. Aims: greedy 0.05, sampled 0.5.
 */
import {Random} from '../../src/core/sampling/random.ts';
import {createSamplingState, Sampler} from '../../src/core/sampling/sampler.ts';
import type {SamplingParams} from '../../src/core/sampling/sampling-params.ts';
import {samplingParams} from '../support/sampling-params.ts';

const vocabSize = 49_152;
const numRows = 32;
const numRounds = 15;

const cases: Record<string, Partial<SamplingParams>> = {
  greedy: {},
  'greedy, penalties over 500 tokens': {repetitionPenalty: 1.1, frequencyPenalty: 0.2},
  'temperature 1': {temperature: 1},
  'temperature 0.7, top-k 40': {temperature: 0.7, topK: 40},
  'temperature 1, top-k 20000': {temperature: 1, topK: 20_000},
  'temperature 1, top-p 0.95': {temperature: 1, topP: 0.95},
  'temperature 0.8, top-k 50, top-p 0.9, min-p 0.05': {temperature: 0.8, topK: 50, topP: 0.9, minP: 0.05},
};

/** Normal noise around 0 with a few likely tokens, about what a small model gives. */
function modelLikeLogits(): Float32Array {
  const random = Random.fromSeed(1n);
  const normal = () =>
    Math.sqrt(-2 * Math.log(1 - random.nextUniform())) * Math.cos(2 * Math.PI * random.nextUniform());
  return Float32Array.from({length: numRows * vocabSize}, (_, i) => normal() * 4 + (i % 5000 === 7 ? 12 : 0));
}

function measureMsPerRow(logits: Float32Array, overrides: Partial<SamplingParams>): number {
  const sampler = new Sampler(vocabSize);
  const prompt = Array.from({length: 500}, (_, i) => i * 31);
  const state = createSamplingState(samplingParams({seed: 1n, ...overrides}), prompt, 0n);
  const rounds = Array.from({length: numRounds}, () => {
    const step = logits.slice();
    const startedAt = process.cpuUsage();
    for (let row = 0; row < numRows; row++) {
      sampler.sample(step.subarray(row * vocabSize, (row + 1) * vocabSize), state, []);
    }
    return process.cpuUsage(startedAt).user / 1000 / numRows;
  });
  return rounds.sort((a, b) => a - b)[numRounds >> 1];
}

const logits = modelLikeLogits();
for (const [name, overrides] of Object.entries(cases)) {
  process.stdout.write(`${measureMsPerRow(logits, overrides).toFixed(3)} ms  ${name}\n`);
}
