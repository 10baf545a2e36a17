/** A process that starts an engine, reports the engine's id on its channel, and waits to be killed. */
import {fileURLToPath} from 'node:url';
import {startChildProcessEngine} from '../../src/core/engine/client/child-process-client.ts';
import {engineEntryOf} from '../../src/core/engine/client/engine-entry.ts';
import {silentLogger} from '../../src/core/util/logger.ts';
import {fakeEngineConfig} from './fake-engine-config.ts';

const entry = engineEntryOf(fileURLToPath(new URL('./fake-engine-process.ts', import.meta.url)));
let enginePid = 0;
const logger = {
  ...silentLogger,
  info: (fields: object) => {
    enginePid = (fields as {pid: number}).pid;
  },
};
await startChildProcessEngine(fakeEngineConfig('paced'), {entry, logger});
process.send?.({enginePid});
