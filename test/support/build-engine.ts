/** Small engines over the fake model, and the loop that drives them in tests. */
import {EngineCore, type EngineCoreOptions, type StepResult} from '../../src/core/engine/engine-core.ts';
import type {EngineRequest, SequenceOutput} from '../../src/core/engine/protocol.ts';
import type {SamplingParams} from '../../src/core/sampling/sampling-params.ts';
import {type FakeModelOptions, FakeModelRunner} from './fake-model-runner.ts';
import {samplingParams} from './sampling-params.ts';

export function buildEngine(options: Partial<EngineCoreOptions> = {}, model: FakeModelOptions = {}) {
  const runner = new FakeModelRunner(model);
  const core = new EngineCore(runner, {
    maxModelLen: runner.rowCapacity,
    maxNumSeqs: runner.numRows,
    maxNumBatchedTokens: 32,
    kvCacheTokens: runner.numRows * runner.rowCapacity,
    schedulingPolicy: 'fcfs',
    enablePrefixCaching: true,
    seed: 0,
    logprobsMode: 'raw_logprobs',
    queueTimeoutSeconds: null,
    speculation: null,
    ...options,
  });
  return {runner, core};
}

export function engineRequest(
  requestId: string,
  promptTokenIds: number[],
  sampling: Partial<SamplingParams> = {},
  rest: Partial<EngineRequest> = {},
): EngineRequest {
  return {requestId, promptTokenIds, sampling: samplingParams(sampling), priority: 0, cacheSalt: null, ...rest};
}

/** A repeatable prompt; different seeds share no beginning. */
export function fakePrompt(length: number, seed = 1, vocabSize = 64): number[] {
  return Array.from({length}, (_, i) => Math.abs(Math.imul(i + 1, 2654435761) ^ Math.imul(seed, 40503)) % vocabSize);
}

/** Steps until nothing is left, checking all invariants after each step. */
export async function runToEnd(core: EngineCore, maxSteps = 10_000): Promise<StepResult[]> {
  const steps: StepResult[] = [];
  while (core.hasWork()) {
    if (steps.length >= maxSteps) throw new Error(`The engine did not come to an end within ${maxSteps} steps`);
    steps.push(await core.step());
    core.checkInvariants();
  }
  return steps;
}

export function outputsOf(steps: readonly StepResult[], requestId: string): SequenceOutput[] {
  return steps.flatMap(({outputs}) => outputs).filter((output) => output.requestId === requestId);
}

export function tokensOf(steps: readonly StepResult[], requestId: string): number[] {
  return outputsOf(steps, requestId).flatMap(({newTokenIds}) => newTokenIds);
}
