/** What a person and a script read when the server is ready. Pure: facts in, lines out. */
import type {ModelInfo} from '../core/engine/protocol.ts';

export interface ReadyFacts {
  url: string;
  /** The name that answers carry. */
  modelName: string;
  modelInfo: ModelInfo;
  /** Engines that were started or found. */
  numEngines: number;
  /** From the start of the process. */
  seconds: number;
  pid: number;
  asksForKey: boolean;
}

/** The one line with address, model, cache and time. */
export function readyLine({url, modelName, modelInfo, seconds}: ReadyFacts): string {
  const ready = `Ready after ${seconds.toFixed(1)} s: ${modelName} at ${url}`;
  return modelInfo.device === 'remote' ? ready : `${ready}, KV cache ${grouped(modelInfo.kvCacheTokens)} tokens`;
}

/** How the model was loaded and what it takes. */
export function loadedLine(facts: ReadyFacts): string {
  return facts.modelInfo.device === 'remote' ? remoteLine(facts) : localLine(facts);
}

function remoteLine({numEngines, modelInfo}: ReadyFacts): string {
  const {runtimeVersion, maxModelLen, vocabSize} = modelInfo;
  const servers = numEngines === 1 ? 'one server' : `${numEngines} servers`;
  return `${runtimeVersion} on ${servers}, max_model_len ${grouped(maxModelLen)}, ${grouped(vocabSize)} tokens in the vocabulary`;
}

function localLine({modelInfo, numEngines}: ReadyFacts): string {
  const {build, load, warmUp} = modelInfo.loadMs;
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);
  const cacheBytes = modelInfo.kvCacheTokens * modelInfo.kvCacheBytesPerToken;
  const times = (modelInfo.kvCacheTokens / modelInfo.maxModelLen).toFixed(1);
  return [
    `Model loaded in ${seconds(build + load + warmUp)} s`,
    ` (build ${modelInfo.builtFromCache ? 'from cache' : seconds(build)}, load ${seconds(load)}, warm-up ${seconds(warmUp)})`,
    `, weights ${megabytes(modelInfo.weightBytes)}, KV cache ${megabytes(cacheBytes)} = `,
    `${grouped(modelInfo.kvCacheTokens)} tokens = ${times} x max_model_len`,
    numEngines === 1 ? '' : `, ${numEngines} engines, each of them`,
    `, ${deviceText(modelInfo)} with ${modelInfo.numThreads} ${modelInfo.numThreads === 1 ? 'thread' : 'threads'}`,
  ].join('');
}

function deviceText({device, deviceReason}: ModelInfo): string {
  return deviceReason === undefined ? device : `${device} (${deviceReason})`;
}

/** The exact form that scripts wait for. */
export function listeningLine({url}: ReadyFacts): string {
  return `Listening on ${url}`;
}

export function readyJson({url, modelName, pid}: ReadyFacts): string {
  return JSON.stringify({event: 'ready', url, model: modelName, pid});
}

/** A request to try, as one line for a shell. */
export function curlExample({url, asksForKey}: ReadyFacts): string {
  const body = JSON.stringify({messages: [{role: 'user', content: 'What is the capital of France?'}], temperature: 0});
  const key = asksForKey ? ' -H "Authorization: Bearer $VLLM_API_KEY"' : '';
  return `curl ${curlTarget(url)}/v1/chat/completions -H 'Content-Type: application/json'${key} -d '${body}'`;
}

/** curl takes the path of a Unix socket beside a URL. */
function curlTarget(url: string): string {
  return url.startsWith('unix:') ? `--unix-socket ${url.slice('unix:'.length)} http://localhost` : url;
}

function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

function megabytes(bytes: number): string {
  return `${grouped(Math.round(bytes / 1e6))} MB`;
}
