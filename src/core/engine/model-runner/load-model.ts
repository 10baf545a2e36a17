/** From an engine configuration to a model that can run: builds or finds the graph, opens the session, plans the cache. */
import path from 'node:path';
import type {EngineConfig} from '../../config/engine-config.ts';
import {toSpeculation} from '../../config/speculative-config.ts';
import {ModelError, UnsupportedError} from '../../errors.ts';
import type {LoadStage, ModelInfo} from '../protocol.ts';
import {builtModel, graphInTurns, type ModelFacts} from './builder/build-model.ts';
import type {CachedModel} from './builder/model-cache.ts';
import {longModelFileName, modelFileName} from './builder/write-model.ts';
import {defaultThreads} from './default-threads.ts';
import {type ChosenDevice, cpuBecause, deviceFor} from './device/choose-device.ts';
import {deviceKvMemory, obstacleOf} from './device/device.ts';
import {isExported, isInPlace, readExportedFacts} from './exported-model.ts';
import {KvArena} from './kv-arena.ts';
import type {KvType} from './kv-memory.ts';
import {type KvPlan, type MemoryFacts, memoryFacts, planKvCache, requireRoomForWeights} from './kv-plan.ts';
import type {ModelRunner} from './model-runner.ts';
import {type DraftSession, OnnxModelRunner} from './onnx-model-runner.ts';
import {type OpenOptions, openExported, tryExported} from './open-exported.ts';
import {OrtApi} from './ort/ort-api.ts';
import {OrtEnvironment} from './ort/ort-environment.ts';
import {findOrtLibrary} from './ort/ort-library.ts';
import {OrtSession} from './ort/ort-session.ts';

export interface LoadedModel {
  runner: ModelRunner;
  info: ModelInfo;
}

export type ProgressListener = (progress: {stage: LoadStage /** 0..1 */; fraction: number; detail: string}) => void;

/**
 * @throws ModelError when the files cannot be served or the memory does not suffice
 * @throws UnsupportedError for a device that this version cannot use
 */
export async function loadModel(config: EngineConfig, onProgress: ProgressListener): Promise<LoadedModel> {
  refuseDrafts(config);
  const clock = startClock();
  const libraryPath = findOrtLibrary();
  const api = new OrtApi(libraryPath);
  const isReady = isExported(config.modelPath);
  const wanted = config.speculativeConfig
    ? cpuBecause('drafts are checked on the CPU only')
    : await deviceFor(api, libraryPath, config);
  const {built, device} = await modelFor(wanted, config, onProgress);
  const buildMs = clock();
  onProgress({stage: 'load', fraction: 0, detail: path.basename(config.modelPath)});
  const numThreads = config.threads ?? defaultThreads();
  const memory = memoryFacts();
  requireRoomForWeights(built.numBytes, memory);
  const planOf = (cacheType: KvType) => planFor({...device, type: cacheType}, config, built, memory);
  const {runner, plan} = isReady
    ? await openExported(api, config.modelPath, built.facts, planOf, {numThreads, device})
    : await openRunner(api, built, config, planOf(device.type), {numThreads, device});
  const loadMs = clock();
  onProgress({stage: 'warm-up', fraction: 0, detail: ''});
  await (isReady ? tryExported(runner, config.modelPath, device, () => warmUp(runner)) : warmUp(runner));
  return {
    runner,
    info: {
      architecture: built.facts.architecture,
      vocabSize: built.facts.vocabSize,
      maxModelLen: plan.maxModelLen,
      maxNumSeqs: plan.numRows,
      maxNumBatchedTokens: config.maxNumBatchedTokens,
      kvCacheTokens: plan.kvCacheTokens,
      kvCacheBytesPerToken: runner.bytesPerToken,
      ...(runner.maxDraftTokens > 0 && {maxDraftTokens: runner.maxDraftTokens}),
      weightBytes: built.numBytes,
      device: device.gpu?.name ?? 'cpu',
      deviceReason: device.reason,
      numThreads,
      runtimeVersion: api.version,
      loadMs: {build: buildMs, load: loadMs, warmUp: clock()},
      builtFromCache: !built.wasBuilt,
    },
  };
}

/** The model in the form that the device takes. Under `auto` a model that the device cannot compute runs on the CPU. */
async function modelFor(
  device: ChosenDevice,
  config: EngineConfig,
  onProgress: ProgressListener,
): Promise<{built: CachedModel<ModelFacts>; device: ChosenDevice}> {
  const built = isExported(config.modelPath)
    ? await exportedModel(config.modelPath)
    : await builtModel(config.modelPath, {
        weightMapping: config.weightMapping,
        activationPrecision: config.activationPrecision,
        quantization: config.quantization,
        floatType: device.type,
        isForCpu: device.gpu === null,
        cacheFolder: config.modelCacheDir,
        onProgress: (fraction, detail) => onProgress({stage: 'build', fraction, detail}),
      });
  const obstacle = device.gpu && (obstacleOf(device.gpu, built.facts) ?? (await obstacleOfGraph(config.modelPath)));
  if (obstacle === null) return {built, device};
  if (config.device !== 'auto') throw new UnsupportedError(`--device ${config.device} cannot be used: ${obstacle}.`);
  return modelFor(cpuBecause(obstacle), config, onProgress);
}

async function obstacleOfGraph(modelPath: string): Promise<string | null> {
  if (!isExported(modelPath) || (await isInPlace(modelPath))) return null;
  return `${modelPath} has no GroupQueryAttention, so its cache cannot stay on a device`;
}

/** Cache of a device when nothing is said: what is free there cannot be asked for. */
const deviceCacheBytes = 2 ** 30;

function planFor(
  {gpu, type}: Pick<ChosenDevice, 'gpu' | 'type'>,
  config: EngineConfig,
  {facts, numBytes}: CachedModel<ModelFacts>,
  memory: MemoryFacts,
): KvPlan {
  if (!gpu) return planKvCache(config, facts, numBytes, memory, {type, isTakenAtOnce: false});
  if (config.gpuMemoryUtilization !== null && config.kvCacheBytes === null) {
    throw new UnsupportedError(
      `--gpu-memory-utilization: how much memory ${gpu.name} has cannot be asked for. Give --kv-cache-memory-bytes.`,
    );
  }
  const budget = {...config, kvCacheBytes: config.kvCacheBytes ?? deviceCacheBytes};
  return planKvCache(budget, facts, numBytes, memory, {type, isTakenAtOnce: true});
}

function refuseDrafts({speculativeConfig, modelPath, device}: EngineConfig): void {
  if (speculativeConfig === null) return;
  if (device !== 'cpu' && device !== 'auto') {
    throw new UnsupportedError(`--speculative-config runs on the CPU only, not with --device ${device}.`);
  }
  if (!isExported(modelPath)) return;
  throw new UnsupportedError(
    `--speculative-config needs a GGUF file or a folder with safetensors; the graph ${modelPath} cannot check drafts.`,
  );
}

/** @returns a function that gives the milliseconds since its last call */
function startClock(): () => number {
  let last = performance.now();
  return () => {
    const elapsed = performance.now() - last;
    last += elapsed;
    return elapsed;
  };
}

async function openRunner(
  api: OrtApi,
  built: CachedModel<ModelFacts>,
  config: EngineConfig,
  plan: KvPlan,
  {numThreads, device}: OpenOptions,
): Promise<{runner: OnnxModelRunner; plan: KvPlan}> {
  const {folder, facts, wasBuilt} = built;
  const environment = new OrtEnvironment(api);
  try {
    const isLong = facts.longBeyond !== null && plan.maxModelLen > facts.longBeyond;
    const graphFile = path.join(folder, isLong ? longModelFileName : modelFileName);
    const {gpu, maxChunkTokens} = device;
    const session = new OrtSession(environment, graphFile, {numThreads, provider: gpu?.provider ?? null});
    const drafts = await openDrafts(environment, built, config, {isLong, numThreads});
    const {numLayers, numKvHeads, headSize, vocabSize} = facts;
    const kv = {numLayers, numKvHeads, headSize, numRows: plan.numRows, capacity: plan.maxModelLen};
    const memory = gpu ? deviceKvMemory(environment, session, gpu, kv) : new KvArena(environment, kv);
    const options = {kv, memory, maxChunkTokens, vocabSize, maxLogitRows: plan.numRows};
    return {runner: new OnnxModelRunner(environment, session, options, drafts), plan};
  } catch (cause) {
    environment.close();
    if (device.gpu)
      throw new ModelError(`${device.gpu.name} cannot load the model: ${(cause as Error).message}`, {cause});
    const hint = wasBuilt ? '' : ` Its cache may be damaged: without the folder ${folder} it is built again.`;
    throw new ModelError(`The built model cannot be loaded: ${(cause as Error).message}${hint}`, {cause});
  }
}

/** The graph that checks drafts, when there are to be any. Its weights are in memory a second time. */
async function openDrafts(
  environment: OrtEnvironment,
  built: CachedModel<ModelFacts>,
  config: EngineConfig,
  {isLong, numThreads}: {isLong: boolean; numThreads: number},
): Promise<DraftSession | null> {
  const speculation = toSpeculation(config.speculativeConfig);
  if (speculation === null) return null;
  const numTurns = speculation.maxDraftTokens + 1;
  const graphFile = await graphInTurns(
    config.modelPath,
    built,
    {isLong, numTurns},
    {...config, floatType: 'float32', isForCpu: true},
  );
  return {session: new OrtSession(environment, graphFile, {numThreads}), numTurns};
}

async function exportedModel(modelPath: string): Promise<CachedModel<ModelFacts>> {
  return {...(await readExportedFacts(modelPath)), folder: path.dirname(modelPath), wasBuilt: false};
}

/** First runs of each shape allocate; the first request should not pay for that. */
async function warmUp(runner: ModelRunner): Promise<void> {
  const numTokens = Math.min(32, runner.rowCapacity - 1);
  await runner.execute({
    decodes: [],
    prefills: [{row: 0, start: 0, tokenIds: new Int32Array(numTokens), numLogits: 1}],
  });
  await runner.execute({decodes: [{row: 0, start: numTokens, tokenIds: [0], numLogits: 1}], prefills: []});
}
