/** Configuration of an engine over a fake model. Apart from the models, so that the child process need not load zod. */
import {type EngineConfig, engineOptionsSchema} from '../../src/core/config/engine-config.ts';
import type {FakeModelName} from './fake-models.ts';

export function fakeEngineConfig(model: FakeModelName, overrides: Partial<EngineConfig> = {}): EngineConfig {
  return {...engineOptionsSchema.parse({maxNumSeqs: 8, maxNumBatchedTokens: 64}), modelPath: model, ...overrides};
}
