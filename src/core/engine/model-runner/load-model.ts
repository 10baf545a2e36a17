/** From an engine configuration to a model that can run: finds the files, builds or reads the graph, opens the session. */
import type {EngineConfig} from '../../config/engine-config.ts';
import type {LoadStage, ModelInfo} from '../protocol.ts';
import type {ModelRunner} from './model-runner.ts';

export interface LoadedModel {
  runner: ModelRunner;
  info: ModelInfo;
}

export type ProgressListener = (progress: {stage: LoadStage; /** 0..1 */ fraction: number; detail: string}) => void;

/** @throws ModelError when the files cannot be served */
export async function loadModel(_config: EngineConfig, _onProgress: ProgressListener): Promise<LoadedModel> {
  throw new Error('not yet written');
}
