/**
 * Connects to the servers of a vLLM deployment and looks that all of them serve the model whose tokenizer is here. At
 * least one must answer now; the others are taken in when they do.
 */
import {Agent} from 'undici';
import {ModelError} from '../../../errors.ts';
import {type Logger, withFields} from '../../../util/logger.ts';
import type {ModelInfo} from '../../protocol.ts';
import type {EngineClient} from '../engine-client.ts';
import {EngineGroup} from '../engine-group.ts';
import {
  checkContext,
  checkTokenRoute,
  checkVocabulary,
  inspectServer,
  type ServerFacts,
  type TextFacts,
} from './inspect-server.ts';
import {defaultHealthTimes, type HealthTimes} from './replica-health.ts';
import {VllmApi} from './vllm-api.ts';
import {VllmEngine} from './vllm-engine.ts';

export interface VllmDeployment {
  urls: readonly string[];
  apiKey: string | null;
  /** Longest silence of a request. */
  timeoutSeconds: number;
  /** Longest sequence that we want; null = what the servers offer. */
  maxModelLen: number | null;
  text: TextFacts;
  healthTimes?: HealthTimes;
}

interface Server {
  api: VllmApi;
  /** Holds its connections. */
  agent: Agent;
  /** Null while it does not answer. */
  facts: ServerFacts | null;
}

const connectTimeoutMs = 5000;
/** Servers close connections that have been idle for 5 seconds; we are a little earlier. */
const keepAliveMs = 4000;

/** @throws ModelError when no server answers, or one of them serves something else */
export async function startVllmEngines(
  deployment: VllmDeployment,
  {logger, signal}: {logger: Logger; signal: AbortSignal},
): Promise<EngineClient> {
  const headers = requestHeaders(deployment.apiKey);
  const {answerMs} = deployment.healthTimes ?? defaultHealthTimes;
  const servers = deployment.urls.map((url) => openServer(url, headers, answerMs));
  try {
    await findServers(servers, logger, signal);
    const info = modelInfo(await checkServers(servers, deployment, signal), deployment);
    const engines: VllmEngine[] = servers.map((server, index) => {
      const log = withFields(logger, {engine: index, url: server.api.url});
      const hasOthers = () => engines.some((engine, other) => other !== index && engine.isAlive());
      return openEngine(server, {info, deployment, headers, hasOthers, logger: log});
    });
    return new EngineGroup({engines, info, retries: true, logger});
  } catch (error) {
    await Promise.all(servers.map(({agent}) => agent.destroy()));
    throw error;
  }
}

function openServer(address: string, headers: Record<string, string>, answerMs: number): Server {
  const url = address.replace(/\/+$/, '');
  const agent = openAgent();
  return {api: new VllmApi({dispatcher: agent, url, headers, answerMs}), agent, facts: null};
}

interface EngineParts {
  info: ModelInfo;
  deployment: VllmDeployment;
  headers: Record<string, string>;
  hasOthers: () => boolean;
  logger: Logger;
}

function openEngine({api, agent, facts}: Server, parts: EngineParts): VllmEngine {
  const {info, deployment, headers, hasOthers, logger} = parts;
  return new VllmEngine({
    api,
    info,
    headers,
    logger,
    dispatcher: agent,
    hasOthers,
    modelName: info.servedNames![0]!,
    timeoutMs: deployment.timeoutSeconds * 1000,
    isUp: facts !== null,
    look: (signal, isThorough) => lookAt(api, info, isThorough ? deployment : null, signal),
    healthTimes: deployment.healthTimes ?? defaultHealthTimes,
  });
}

function openAgent(): Agent {
  return new Agent({connect: {timeout: connectTimeoutMs}, keepAliveTimeout: keepAliveMs, pipelining: 1});
}

function requestHeaders(apiKey: string | null): Record<string, string> {
  return {'content-type': 'application/json', ...(apiKey !== null && {authorization: `Bearer ${apiKey}`})};
}

/** Fills the facts in of those that answer. */
async function findServers(servers: readonly Server[], logger: Logger, signal: AbortSignal): Promise<void> {
  const failures: Error[] = [];
  const look = async (server: Server) => {
    server.facts = await inspectServer(server.api, signal);
  };
  await Promise.all(servers.map((server) => look(server).catch((error: Error) => void failures.push(error))));
  if (failures.length === servers.length) throw failures[0];
  for (const {message} of failures) logger.warn({}, `Starting without one of the engines: ${message}`);
}

/** @returns what they have in common */
async function checkServers(servers: readonly Server[], deployment: VllmDeployment, signal: AbortSignal) {
  const present = servers.flatMap(({api, facts}) => (facts === null ? [] : [{api, facts}]));
  const [first, ...others] = present as [{api: VllmApi; facts: ServerFacts}, ...{api: VllmApi; facts: ServerFacts}[]];
  for (const {api, facts} of others) checkAgreement(first, api, facts);
  await Promise.all(present.map(({api, facts}) => checkModel(api, facts, deployment.text, signal)));
  return {api: first.api, facts: {...first.facts, names: commonNames(present)}};
}

/** Requests carry one name to all of them. Without one in common they may well be different models. */
function commonNames(servers: readonly {api: VllmApi; facts: ServerFacts}[]): string[] {
  return servers.reduce((names, {api, facts}) => {
    const common = names.filter((name) => facts.names.includes(name));
    if (common.length > 0) return common;
    throw new ModelError(
      `${api.url} serves ${facts.names.join(', ')}, but the servers before it ${names.join(', ')}. They may run different models; start all of them with the same --served-model-name.`,
    );
  }, servers[0]!.facts.names);
}

function checkAgreement(first: {api: VllmApi; facts: ServerFacts}, api: VllmApi, {maxModelLen}: ServerFacts): void {
  if (maxModelLen === first.facts.maxModelLen) return;
  throw new ModelError(
    `${first.api.url} serves sequences of ${first.facts.maxModelLen} tokens, ${api.url} of ${maxModelLen}. Start them with the same --max-model-len.`,
  );
}

async function checkModel(api: VllmApi, facts: ServerFacts, text: TextFacts, signal: AbortSignal): Promise<void> {
  checkContext(api, facts, text.maxPositions);
  await checkVocabulary(api, facts.names[0]!, text, signal);
  await checkTokenRoute(api, facts.names[0]!, text, signal);
}

function modelInfo({api, facts}: {api: VllmApi; facts: ServerFacts}, {maxModelLen, text}: VllmDeployment): ModelInfo {
  if (maxModelLen !== null && maxModelLen > facts.maxModelLen) {
    throw new ModelError(
      `--max-model-len ${maxModelLen} is longer than the ${facts.maxModelLen} tokens that ${api.url} serves. Give at most ${facts.maxModelLen}.`,
    );
  }
  return {
    architecture: 'unknown',
    vocabSize: text.vocabSize,
    maxModelLen: maxModelLen ?? facts.maxModelLen,
    maxNumSeqs: 0,
    maxNumBatchedTokens: 0,
    kvCacheTokens: 0,
    kvCacheBytesPerToken: 0,
    weightBytes: 0,
    device: 'remote',
    numThreads: 0,
    runtimeVersion: facts.version,
    loadMs: {build: 0, load: 0, warmUp: 0},
    builtFromCache: false,
    servedNames: facts.names,
  };
}

/** @param deployment given for a thorough look: it may be another server now, and must still serve what the others do */
async function lookAt(
  api: VllmApi,
  {maxModelLen, servedNames}: ModelInfo,
  deployment: VllmDeployment | null,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    const {status} = await api.get('/health', signal);
    if (status !== 200) return `${api.url} answered /health with status ${status}`;
    if (deployment === null) return null;
    const facts = await inspectServer(api, signal);
    const [name] = servedNames!;
    if (!facts.names.includes(name!)) return `${api.url} serves ${facts.names.join(', ')}, not ${name}`;
    if (facts.maxModelLen < maxModelLen) return `${api.url} now serves ${facts.maxModelLen} tokens only`;
    await checkModel(api, facts, deployment.text, signal);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}
