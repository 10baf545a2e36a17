/** Our engine without server and process border: EngineCore over the real model runner, with the server's defaults. */
import {type EngineConfig, engineOptionsSchema} from '../../../src/core/config/engine-config.ts';
import {EngineCore, engineCoreOptions} from '../../../src/core/engine/engine-core.ts';
import {loadModel} from '../../../src/core/engine/model-runner/load-model.ts';
import type {EngineRequest} from '../../../src/core/engine/protocol.ts';
import {samplingParams} from '../../../test/support/sampling-params.ts';
import type {BareLoop, LoopSettings} from './loop-protocol.ts';
import {serveLoop} from './serve-loop.ts';

async function openLoop({modelPath, threads}: LoopSettings): Promise<BareLoop> {
  const config: EngineConfig = {...engineOptionsSchema.parse({threads}), modelPath};
  const {runner, info} = await loadModel(config, () => {});
  const core = new EngineCore(runner, engineCoreOptions(info, config));
  return {
    async run({prompts, numTokens}, onToken) {
      core.addRequests(prompts.map((prompt, stream) => requestOf(prompt, stream, numTokens)));
      while (core.hasWork()) {
        const {outputs} = await core.step();
        for (const {requestId, newTokenIds} of outputs) {
          for (const _ of newTokenIds) onToken(Number(requestId));
        }
      }
    },
  };
}

function requestOf(promptTokenIds: number[], stream: number, maxTokens: number): EngineRequest {
  const sampling = samplingParams({maxTokens, ignoreEos: true});
  return {requestId: `${stream}`, promptTokenIds, sampling, priority: 0, cacheSalt: null};
}

await serveLoop(openLoop);
