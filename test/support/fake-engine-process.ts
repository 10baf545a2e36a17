/** Entry of a child process that is an engine over a fake model: everything but the model is the real thing. */
import {runEngineProcess} from '../../src/core/engine/engine-host.ts';
import {loadFakeModel} from './fake-models.ts';

runEngineProcess(loadFakeModel);
