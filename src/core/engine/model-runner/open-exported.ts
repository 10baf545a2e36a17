/** Opens a graph that others exported, with the runner for its kind, and says why one cannot run. */
import {ModelError} from '../../errors.ts';
import type {ModelFacts} from './builder/build-model.ts';
import type {ChosenDevice} from './device/choose-device.ts';
import {deviceKvMemory} from './device/device.ts';
import {type ExportedLayout, readLayout} from './exported-model.ts';
import {ExportedModelRunner} from './exported-model-runner.ts';
import {GrowingModelRunner} from './growing-model-runner.ts';
import {KvArena} from './kv-arena.ts';
import type {KvType} from './kv-memory.ts';
import type {KvPlan} from './kv-plan.ts';
import type {ModelRunner} from './model-runner.ts';
import type {OrtApi} from './ort/ort-api.ts';
import {OrtEnvironment} from './ort/ort-environment.ts';
import {OrtSession} from './ort/ort-session.ts';

/** Such a graph gives logits of every position, which bounds the useful length of a chunk. */
const maxChunkTokens = 64;

export interface OpenOptions {
  numThreads: number;
  device: ChosenDevice;
}

/**
 * @param planFor the cache plan for numbers of a type, which the graph says
 * @throws ModelError
 */
export async function openExported(
  api: OrtApi,
  modelPath: string,
  facts: ModelFacts,
  planFor: (cacheType: KvType) => KvPlan,
  {numThreads, device}: OpenOptions,
): Promise<{runner: ModelRunner; plan: KvPlan}> {
  const environment = new OrtEnvironment(api);
  let session: OrtSession | null = null;
  try {
    session = new OrtSession(environment, modelPath, {numThreads, provider: device.gpu?.provider ?? null});
    const layout = await readLayout(session, facts, modelPath);
    const plan = planFor(layout.cacheType);
    return {runner: runnerFor(environment, session, layout, facts, {plan, device}), plan};
  } catch (cause) {
    session?.close();
    environment.close();
    throw cause instanceof ModelError ? cause : cannotRun(modelPath, device, cause as Error);
  }
}

function runnerFor(
  environment: OrtEnvironment,
  session: OrtSession,
  layout: ExportedLayout,
  facts: ModelFacts,
  {plan: {numRows, maxModelLen}, device}: {plan: KvPlan; device: ChosenDevice},
): ModelRunner {
  const {numLayers, numKvHeads, headSize, vocabSize} = facts;
  const common = {numLayers, numKvHeads, headSize, numRows};
  if (!layout.isInPlace) {
    const options = {...common, rowCapacity: maxModelLen, vocabSize, maxLogitRows: numRows};
    return new GrowingModelRunner(environment, session, layout, options);
  }
  const kv = {...common, capacity: maxModelLen};
  const memory = device.gpu
    ? deviceKvMemory(environment, session, device.gpu, kv)
    : new KvArena(environment, kv, layout.cacheType);
  return new ExportedModelRunner(environment, session, layout, {
    kv,
    memory,
    maxChunkTokens: Math.min(maxChunkTokens, device.maxChunkTokens),
    vocabSize,
    maxLogitRows: numRows,
  });
}

/** The first run of a graph that others made shows whether the library knows all of it. @throws ModelError */
export async function tryExported(
  runner: ModelRunner,
  modelPath: string,
  device: ChosenDevice,
  warmUp: () => Promise<void>,
): Promise<void> {
  try {
    await warmUp();
  } catch (cause) {
    runner.close();
    throw cannotRun(modelPath, device, cause as Error);
  }
}

function cannotRun(modelPath: string, {gpu}: ChosenDevice, cause: Error): ModelError {
  const fault = dataFaults.find(({pattern}) => pattern.test(cause.message))?.text;
  if (fault !== undefined) {
    const message = `The weights of the graph ${modelPath} are in ${modelPath}_data beside it, and that file ${fault}. Is the download complete?`;
    return new ModelError(message, {cause});
  }
  const reason = reasons.find(({pattern}) => pattern.test(cause.message))?.text;
  return new ModelError(
    `The graph ${modelPath} cannot be run on ${gpu?.name ?? 'the CPU'}: ${reason ?? cause.message}. ` +
      'Use another graph of the folder (--dtype fp32 or q4), or the safetensors or a GGUF file of the model.',
    {cause},
  );
}

/** What the library says when it does not find the weights that a graph keeps in a file beside it. */
const dataFaults: readonly {pattern: RegExp; text: string}[] = [
  {pattern: /External data path does not exist/, text: 'does not exist'},
  {pattern: /External initializer: .* are out of bounds or can not be read in full/, text: 'is cut off'},
];

/** What the library says, in other words where its own explain little. */
const reasons: readonly {pattern: RegExp; text: string}[] = [
  {pattern: /requires f16/, text: 'it computes in float16, which this graphics processor does not know'},
  {
    pattern: /q_norm_weight/,
    text: 'its attention has the norms of queries and keys inside, as exports for GPUs have them, and that runs on GPUs only (--device webgpu or cuda)',
  },
];
