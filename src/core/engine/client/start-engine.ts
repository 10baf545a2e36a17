/** Which engine the options ask for, and how it is started. What only one kind needs is loaded only for it. */
import type {DeploymentOptions} from '../../config/deployment-options.ts';
import type {EngineConfig} from '../../config/engine-config.ts';
import type {Logger} from '../../util/logger.ts';
import type {ProgressListener} from '../model-runner/load-model.ts';
import {startChildProcessEngine} from './child-process-client.ts';
import {startDataParallelEngines} from './data-parallel.ts';
import type {EngineClient} from './engine-client.ts';
import type {TextFacts} from './vllm/inspect-server.ts';

export interface StartEngineOptions {
  onProgress: ProgressListener;
  logger: Logger;
  signal: AbortSignal;
  /** Asked for by engines that are not of this machine. */
  readText: () => Promise<TextFacts>;
}

/** @throws ModelError, UnsupportedError; nothing is left running then */
export type StartEngine = (config: EngineConfig, options: StartEngineOptions) => Promise<EngineClient>;

export function engineStarter(deployment: DeploymentOptions): StartEngine {
  if (deployment.engine === 'vllm') return vllmStarter(deployment);
  const {dataParallelSize: numEngines} = deployment;
  if (numEngines === 1) return startChildProcessEngine;
  return (config, options) => startDataParallelEngines(config, {...options, numEngines});
}

function vllmStarter({engineUrl, engineApiKey, engineTimeoutSeconds}: DeploymentOptions): StartEngine {
  return async ({maxModelLen}, {logger, signal, readText}) => {
    const {startVllmEngines} = await import('./vllm/start-vllm-engines.ts');
    const text = await readText();
    const deployment = {urls: engineUrl, apiKey: engineApiKey, timeoutSeconds: engineTimeoutSeconds, maxModelLen, text};
    return startVllmEngines(deployment, {logger, signal});
  };
}
