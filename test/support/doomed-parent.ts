/**
 * A process that starts an engine over the fake model that its argument names, reports the engine's id on its channel when
 * the engine runs (one that never gets there: at once), and waits to be killed.
 */
import {fileURLToPath} from 'node:url';
import {startChildProcessEngine} from '../../src/core/engine/client/child-process-client.ts';
import {engineEntryOf} from '../../src/core/engine/client/engine-entry.ts';
import {silentLogger} from '../../src/core/util/logger.ts';
import {fakeEngineConfig} from './fake-engine-config.ts';
import type {FakeModelName} from './fake-models.ts';

const entry = engineEntryOf(fileURLToPath(new URL('./fake-engine-process.ts', import.meta.url)));
const model = process.argv[2] as FakeModelName;
let enginePid = 0;
const logger = {
  ...silentLogger,
  info: (fields: object) => {
    enginePid = (fields as {pid: number}).pid;
    if (model === 'endless') process.send?.({enginePid});
  },
};
await startChildProcessEngine(fakeEngineConfig(model), {entry, logger});
process.send?.({enginePid});
