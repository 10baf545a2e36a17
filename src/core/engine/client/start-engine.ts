/** Which engine the options ask for, and how it is started. */
import type {DeploymentOptions} from '../../config/deployment-options.ts';
import type {EngineConfig} from '../../config/engine-config.ts';
import type {Logger} from '../../util/logger.ts';
import type {ProgressListener} from '../model-runner/load-model.ts';
import {startChildProcessEngine} from './child-process-client.ts';
import {startDataParallelEngines} from './data-parallel.ts';
import type {EngineClient} from './engine-client.ts';

export interface StartEngineOptions {
  onProgress: ProgressListener;
  logger: Logger;
  signal: AbortSignal;
}

/** @throws ModelError, UnsupportedError; nothing is left running then */
export type StartEngine = (config: EngineConfig, options: StartEngineOptions) => Promise<EngineClient>;

export function engineStarter({dataParallelSize: numEngines}: DeploymentOptions): StartEngine {
  if (numEngines === 1) return startChildProcessEngine;
  return (config, options) => startDataParallelEngines(config, {...options, numEngines});
}
